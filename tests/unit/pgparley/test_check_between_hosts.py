"""`pgparley check` tells of what travels between gateway and engines in the clear."""

from __future__ import annotations

from typing import Any

import pytest

from proxy.net.access import in_the_clear
from proxy.settings import GatewaySettings


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, []),
        ({"engine": "/run/pgparley/engine.sock, http://127.0.0.1:6434, http://localhost:6434"}, []),
        ({"engine": "https://engine:6434", "lend_addr": "127.0.0.1"}, []),
        ({"engine": "https://engine:6434", "lend_addr": "10.0.0.5", "engine_tls_cert_file": "file"}, []),
        ({"engine": "/run/a.sock, http://engine:6434"}, ["http://engine:6434"]),
        ({"lend_addr": "10.0.0.5"}, ["lend_addr = 10.0.0.5"]),
        ({"lend_addr": "fd00::5", "engine": "http://[::1]:6434"}, ["lend_addr = fd00::5"]),
    ],
)
def test_what_goes_to_another_host_without_tls(settings: dict[str, Any], told: list[str]) -> None:
    assert in_the_clear(GatewaySettings("db", **settings)) == told
