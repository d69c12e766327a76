"""`pgparley check gateway` says where the audit log cannot be written, before the gateway fails to start."""

from __future__ import annotations

import socket
from dataclasses import replace
from pathlib import Path

import pytest

from pgparley.check.finding import Finding
from pgparley.check.gateway import check_gateway
from pgparley.config import load


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
