"""A real Prometheus scrapes a gateway and its engine, and runs every query of the dashboards and alerts."""

from __future__ import annotations

import json
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgparley.metrics import MetricsPage
from proxy.net.worker.worker_ipc import WorkerAnswer, WorkerChannel, WorkerRequest
from tests.conftest import free_port
from tests.integration.lending.conftest import House
from tests.support.monitoring import Query, alert_queries, panel_queries, program, sample_names, types

UNCALIBRATED = {
    "answers: Coverage promised and observed",
    "answers: Right of all questions",
    "answers: Size of the set",
    "answers: Points",
}
"""Panels of which some figures are not known before questions with known answers were asked."""

UNCHANGED = {"engine: Changes of schemas"}
"""Panels of what has not happened here."""


@dataclass(frozen=True, slots=True)
class Prometheus:
    """A running one."""

    port: int

    def ask(self, expression: str) -> list[dict[str, Any]]:
        """The result of an instant query; raises where it is refused."""
        url = f"http://127.0.0.1:{self.port}/api/v1/query?query={urllib.parse.quote(expression)}"
        with urllib.request.urlopen(url, timeout=10) as reply:
            answer = json.load(reply)
        assert answer["status"] == "success", answer
        found: list[dict[str, Any]] = answer["data"]["result"]
        return found


@pytest.fixture(scope="module")
def page(house: House) -> Iterator[int]:
    """The port of the page, as `pgparley serve` gives it."""
    settings = house.gateway.worker.context.settings
    port = free_port()

    async def nothing(_: WorkerRequest) -> WorkerAnswer:
        return WorkerAnswer()

    control = WorkerChannel(Path(settings.runtime_dir), "supervisor.sock", nothing)
    shown = MetricsPage(replace(settings, prometheus_listen=f"127.0.0.1:{port}"), control)
    loop = house.gateway.loop
    loop.run(control.open())
    loop.run(shown.open())
    yield port
    loop.run(shown.close())
    loop.run(control.close())


@pytest.fixture(scope="module")
def prometheus(page: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    folder = tmp_path_factory.mktemp("prometheus")
    (folder / "prometheus.yml").write_text(
        f"""scrape_configs:
  - job_name: pgparley
    scrape_interval: 1s
    static_configs: [{{targets: ["127.0.0.1:{page}"]}}]
""",
        encoding="utf-8",
    )
    port = free_port()
    command = [
        str(program("prometheus")),
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
    ]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)  # noqa: S603
    yield Prometheus(port)
    process.terminate()
    process.wait(30)


def use(house: House) -> None:
    """A question, its answer chosen, and a statement that fails."""
    with house.connect() as ana:
        ana.execute("NL: $$name of each singer$$").fetchall()
        ana.execute("NL CHOOSE 1").fetchall()
        with pytest.raises(psycopg.Error):
            ana.execute("NL (db nowhere): $$name of each singer$$")


def missing(prometheus: Prometheus, query: Query) -> str | None:
    """Why a query shows nothing; None where it shows what its legend names."""
    try:
        found = prometheus.ask(query.expression)
    except OSError as problem:
        return str(problem)
    if query.where in UNCHANGED:
        return None
    if not found:
        return None if query.where in UNCALIBRATED else "no value"
    return None if query.shown <= set(found[0]["metric"]) else f"no label of {sorted(query.shown)}"


def test_every_panel_shows_something(house: House, prometheus: Prometheus) -> None:
    queries = panel_queries("30s")
    deadline = time.monotonic() + 90
    while True:
        use(house)
        problems = {query.where: why for query in queries if (why := missing(prometheus, query)) is not None}
        if not problems:
            break
        assert time.monotonic() < deadline, problems


def test_every_alert_can_be_asked(prometheus: Prometheus) -> None:
    for query in alert_queries():
        prometheus.ask(query.expression)


def test_the_page_has_every_metric_that_is_asked_for(page: int) -> None:
    with urllib.request.urlopen(f"http://127.0.0.1:{page}/metrics", timeout=10) as reply:
        text = reply.read().decode()
    exposed = sample_names(types(text))
    for query in (*panel_queries(), *alert_queries()):
        assert query.metrics <= exposed, query.where
    done = subprocess.run(  # noqa: S603
        [program("promtool"), "check", "metrics"], input=text, capture_output=True, text=True, check=False
    )
    assert "error" not in done.stderr, done.stderr
