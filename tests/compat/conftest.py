"""The matrix: which client passed which case. `pytest tests/compat --matrix docs/compatibility.md` writes it down."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from clients import Ends
from matrix import table
from middle import Middle
from wire_fixtures import Gateway, LoopThread, gateway, loop_thread, start_gateway, wire_cluster

__all__ = ["gateway", "loop_thread", "start_gateway", "wire_cluster"]

_OUTCOMES: dict[tuple[str, str], tuple[str, str]] = {}
"""(client, case) → (outcome, why)."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--matrix", type=Path, default=None, help="the page that the matrix is written into")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    cell = dict(report.user_properties).get("cell")
    if cell is None or (report.when != "call" and report.passed):
        return
    why = report.longrepr[2] if report.skipped and isinstance(report.longrepr, tuple) else ""
    _OUTCOMES[tuple(cell)] = (report.outcome, why)  # type: ignore[index] - a pair


def pytest_sessionfinish(session: pytest.Session) -> None:
    page: Path | None = session.config.getoption("--matrix")
    if page is not None and _OUTCOMES:
        table.write(page, _OUTCOMES)


@pytest.fixture(scope="session")
def ends(gateway: Gateway, loop_thread: LoopThread) -> Iterator[Ends]:
    """The gateway's address, and one that leads directly to the same server."""
    socket = Path(gateway.cluster.socket_dir) / f".s.PGSQL.{gateway.cluster.port}"
    direct = Middle(str(socket))
    loop_thread.run(direct.start())
    yield Ends(gateway.port, direct.port, gateway.cluster.bin_dir)
    loop_thread.run(direct.stop())


@pytest.fixture(autouse=True)
def cell(request: pytest.FixtureRequest) -> None:
    """Notes which cell of the matrix a test is."""
    parameters: dict[str, Any] = getattr(getattr(request.node, "callspec", None), "params", {})
    if "client" in parameters:
        request.node.user_properties.append(("cell", (parameters["client"], parameters["case"])))
