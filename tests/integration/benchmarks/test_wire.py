"""The benchmark of the wire: its step without rounds runs, and what was measured is kept before the next round."""

from __future__ import annotations

import json
import os
import sys
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest

from benchmarks.wire import __main__ as wire
from benchmarks.wire import extras
from benchmarks.wire.cells import Sample
from benchmarks.wire.systems import DATABASE, USER, Server, System, gateway
from pgparley.cluster import Cluster
from tests.conftest import Postgres


def test_a_question_beside_the_statement_in_its_place(tmp_path: Path, postgres: Postgres) -> None:
    with postgres("wire") as cluster, extras.fake_engine(tmp_path / "engine.sock") as engine:
        address = f"host={cluster.socket_dir} port={cluster.port} user={USER}"
        with psycopg.connect(f"{address} dbname=postgres", autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {DATABASE}")
        with gateway(Server(cluster, cluster.port), engine, 1) as system:
            found = extras.overhead(system)
    assert (found.n, found.nl_ms > found.select_ms) == (400, True)


@dataclass
class Breaking:
    """A measurement that ends with an error when it is made for the third time."""

    name: str = "select"
    made: list[str] = field(default_factory=list)

    def run(self, _server: Server, system: System, _seconds: float) -> Sample:
        self.made.append(system.name)
        if len(self.made) == 3:
            raise RuntimeError("the server is gone")
        return Sample(speed=1.0, proxy_cpu=0.0)


def test_a_run_that_breaks_off_keeps_what_it_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "postmaster.pid").write_text(str(os.getpid()))
    server = Server(Cluster(tmp_path, tmp_path, tmp_path, 1), 1)
    monkeypatch.setattr(wire, "postgres", lambda _folder: nullcontext(server))
    monkeypatch.setattr(extras, "fake_engine", nullcontext)
    monkeypatch.setattr(wire, "_systems", lambda *_: ([System(wire.DIRECT, 1), System(wire.ONE, 1)], {}))
    cell = Breaking()
    monkeypatch.setattr(wire.cells, "all_cells", lambda: [cell])
    results = tmp_path / "wire.json"
    monkeypatch.setattr(sys, "argv", ["wire", "--json", str(results), "--noise", "100"])
    with pytest.raises(RuntimeError, match="gone"):
        wire.main()
    kept = json.loads(results.read_text())["parts"]["wire"]
    assert kept["n"] == 1
    assert {row["system"] for row in kept["tables"]["cells"]} == set(cell.made)
