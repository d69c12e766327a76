"""Which addresses are of this machine."""

from __future__ import annotations

import pytest

from proxy.net.peers import is_loopback


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
def test_loopback(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host", ["localhost", "10.0.0.1", "192.0.2.1", "::", "fe80::1%eth0", "::ffff:10.0.0.1", ""]
)
def test_not_loopback(host: str) -> None:
    assert not is_loopback(host)
