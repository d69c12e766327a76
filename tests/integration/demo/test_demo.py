"""What the demo shows beside answers: its sessions in 100 columns, its page's login, and why it cannot go on."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from pgparley import cluster
from pgparley.demo import asking, run
from pgparley.demo.loading import SampleError
from pgparley.demo.prepare import DBA, let_dba_sign_in
from pgparley.demo.questions import Question
from pgparley.demo.serving import serving
from pgparley.demo.site import Site
from tests.conftest import Postgres
from tests.support.statements import connected
from tests.wire_fixtures import Gateway, loop_thread, start_gateway, wire_cluster

__all__ = ["loop_thread", "start_gateway", "wire_cluster"]


@pytest.fixture
def taken() -> Any:
    """A port on which somebody listens."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


def test_a_port_that_is_taken_is_named_and_another_one_used(
    taken: int, capsys: pytest.CaptureFixture[str]
) -> None:
    found = run._free_port(taken, Console(soft_wrap=True))
    assert found != taken
    assert f"Port {taken} is taken" in capsys.readouterr().out


async def test_a_service_that_cannot_listen_says_which_port(tmp_path: Path, taken: int) -> None:
    no_server: Any = None
    site = Site(tmp_path, no_server, taken)
    site.config.write_text(
        f'[gateway]\nupstream_host = "{tmp_path}"\nlisten_port = {taken}\n[engine]\nsocket = "{tmp_path}/e"\n',
        encoding="utf-8",
    )
    with pytest.raises(RuntimeError, match=rf"ended at once: .*{taken}"):
        async with serving(site, Console(quiet=True), keep=True):
            pass


async def test_what_fails_leaves_no_server_behind(
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    started: list[cluster.Cluster] = []
    start = cluster.start

    def remembered(folder: Path) -> cluster.Cluster:
        started.append(start(folder))
        return started[-1]

    async def failing(*_: object) -> Any:
        raise SampleError("no such data")

    class NoModel:
        def fetch(self, folder: Path) -> Path:
            return folder / "model"

    monkeypatch.setattr(run.postgres, "start", remembered)
    monkeypatch.setattr(run, "prepare", failing)
    monkeypatch.setattr(run, "embedded_model", NoModel)
    assert await run.run(tmp_path_factory.mktemp("d"), keep=True) == 1
    said = capsys.readouterr().out
    assert "pgparley demo: no such data" in said
    assert "Traceback" not in said
    assert not (started[0].data_dir / "postmaster.pid").exists()


async def test_the_dba_signs_in_with_the_password_that_is_printed(postgres: Postgres) -> None:
    with postgres("dba") as running:
        async with connected(running.dsn()) as admin:
            await admin.execute("CREATE ROLE nl_admin; CREATE ROLE analyst LOGIN")
        first = await let_dba_sign_in(running)
        password = await let_dba_sign_in(running)
        assert password != first
        login = running.dsn(user=DBA).replace(f"{DBA}@", f"{DBA}:{password}@")
        async with connected(login) as dba:
            assert await dba.fetchval("SELECT system_user") == f"scram-sha-256:{DBA}"
            await dba.execute("SET ROLE analyst")
        assert (running.data_dir / "pg_hba.conf").read_text("utf-8").count(DBA) == 1


async def test_a_session_fits_100_columns(tmp_path: Path, start_gateway: Callable[..., Gateway]) -> None:
    gateway = start_gateway()
    site = Site(tmp_path, gateway.cluster, gateway.port)
    run.configure(site)
    question = Question("wire", "how many " + "very " * 40 + "long words", ())
    script = asking._script(question, tmp_path / "answer", tmp_path / "rows")
    shown = (await asking._psql(site, script)).splitlines()
    told = [line for line in shown if not line.startswith("NL: ")]
    assert max(map(len, told)) <= 100
    assert any("RECORD 2" in line for line in shown)
    assert any(line.startswith(" a │ b") for line in shown), "rows stand in a table"
    assert not any("Output format" in line or "Expanded display" in line for line in shown)
    assert (tmp_path / "answer").exists()


async def test_what_a_session_shows_as_records_is_read_back(
    tmp_path: Path, start_gateway: Callable[..., Gateway], monkeypatch: pytest.MonkeyPatch
) -> None:
    gateway = start_gateway()
    site = Site(tmp_path, gateway.cluster, gateway.port)
    run.configure(site)
    read = asking._read
    kept: list[dict[str, str]] = []

    def remembered(file: Path) -> list[dict[str, str]]:
        kept.extend(read(file))
        return read(file)

    monkeypatch.setattr(asking, "_read", remembered)
    assert not await asking.talk(site, Console(quiet=True)), "this engine has other answers"
    assert kept
    assert all(row["kind"] for row in kept)
