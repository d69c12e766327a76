"""`pgparley check` tells of what travels in the clear, and where the audit log cannot be written."""

from __future__ import annotations

import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pgparley.check.finding import Finding
from pgparley.check.gateway import check_gateway
from pgparley.config import load
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


async def found(target: str, tmp_path: Path) -> list[Finding]:
    (tmp_path / "empty.toml").touch()
    config = load(tmp_path / "empty.toml", {"XDG_RUNTIME_DIR": str(tmp_path)})
    # Nothing listens there.
    gateway = replace(config.gateway, upstream_host=str(tmp_path))
    config = replace(config, gateway=gateway, audit=replace(config.audit, log=target))
    return [each async for each in check_gateway(config) if each.check == "audit log"]


async def test_none_is_wanted(tmp_path: Path) -> None:
    assert await found("", tmp_path) == []


@pytest.mark.parametrize("target", ["audit.log", "nowhere/audit.log", "syslog:log", "syslog:nowhere"])
async def test_a_place_that_cannot_be_written_is_a_problem(target: str, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as syslog:
        syslog.bind(str(tmp_path / "log"))
        kind, _, path = target.rpartition(":")
        place = f"{kind}:{tmp_path / path}" if kind else str(tmp_path / path)
        (finding,) = await found(place, tmp_path)
    assert (finding.outcome == "ok") is ("nowhere" not in target)
    assert (finding.action is None or finding.action == "") is ("nowhere" not in target)
    assert not (tmp_path / "audit.log").exists()
