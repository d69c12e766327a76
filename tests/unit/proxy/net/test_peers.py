"""Which addresses are of this machine."""

from __future__ import annotations

import pytest

from proxy.net.peers import is_loopback

HERE = ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"]
ELSEWHERE = ["localhost", "10.0.0.1", "192.0.2.1", "::", "fe80::1%eth0", "::ffff:10.0.0.1", ""]


@pytest.mark.parametrize("host", HERE + ELSEWHERE)
def test_loopback(host: str) -> None:
    assert is_loopback(host) is (host in HERE)
