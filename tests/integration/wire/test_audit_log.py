"""The audit log of a running gateway: one line for each NL statement, none for plain SQL, and rotation."""

from __future__ import annotations

import json
import select
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from proxy.settings import AuditRedaction, AuditSettings
from tests.wire_fixtures import CURSORS, WAIT, Gateway


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("audit") / "audit.log"


@pytest.fixture(scope="module")
def logging_gateway(start_gateway: Callable[..., Gateway], file: Path) -> Gateway:
    return start_gateway(audit=AuditSettings(str(file), AuditRedaction.NONE))


@pytest.fixture
def session(logging_gateway: Gateway, file: Path) -> Iterator[psycopg.Connection[Any]]:
    file.write_bytes(b"")
    dsn = logging_gateway.dsn(application_name="'tests of the log'")
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


def lines(file: Path, event: str | None = None) -> list[dict[str, Any]]:
    """Those of `event`; None: of all but outcomes."""
    found = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    return [each for each in found if (each["event"] == event if event else each["event"] != "outcome")]


def outcomes(file: Path, session: psycopg.Connection[Any], count: int) -> list[dict[str, Any]]:
    """So many: the last one is written behind the answer, and so before the answer to another statement."""
    session.execute("SELECT 1").fetchall()
    found = lines(file, "outcome")
    assert len(found) == count
    return found


def test_who_asked_what_and_what_was_shown(session: psycopg.Connection[Any], file: Path) -> None:
    session.execute("NL: $$how many?$$").fetchall()
    (line,) = lines(file)
    assert (line["role"], line["database"], line["verb"], line["question"]) == (
        "analyst",
        "wire",
        "ask",
        "how many?",
    )
    assert (line["event"], line["reply"], line["qid"], line["source"]) == (
        "intent",
        "answered",
        "q1",
        "sales",
    )
    assert len(line["statements"]) == 2
    assert line["session"] // 10_000_000 > 0
    assert (line["address"], line["application_name"]) == ("127.0.0.1", "tests of the log")
    assert file.stat().st_mode & 0o777 == 0o600
    (outcome,) = outcomes(file, session, 1)
    assert (outcome["id"], outcome["rows"], outcome["sqlstate"]) == (line["id"], 2, None)
    assert outcome["bytes"] > 100


def test_what_ran_and_where(session: psycopg.Connection[Any], file: Path) -> None:
    session.execute("NL: $$how many?$$").fetchall()
    session.execute("NL CHOOSE 1").fetchall()
    session.execute("NL CHOOSE 2").fetchall()
    _, here, elsewhere = lines(file)
    assert (here["verb"], here["reply"], here["n"]) == ("choose", "in_session", 1)
    assert here["statements"] == ["SELECT g AS a, g::text AS b FROM generate_series(1, 3) g;"]
    assert (elsewhere["reply"], elsewhere["source"]) == ("ran", "elsewhere")
    assert [each["rows"] for each in outcomes(file, session, 3)] == [2, 3, 2]


@pytest.mark.parametrize("protocol", ["simple", "extended"])
def test_what_left_is_counted_in_each_protocol(logging_gateway: Gateway, file: Path, protocol: str) -> None:
    logging_gateway.engine.statement = "SELECT repeat('x', 1000) AS a FROM generate_series(1, 500)"
    with psycopg.connect(logging_gateway.dsn(), autocommit=True, cursor_factory=CURSORS[protocol]) as session:
        file.write_bytes(b"")
        session.execute("NL: $$how many?$$").fetchall()
        assert len(session.execute("NL CHOOSE 1").fetchall()) == 500
        assert len(session.execute("SELECT repeat('y', 1000) FROM generate_series(1, 900)").fetchall()) == 900
        _, run = outcomes(file, session, 2)
    assert run["rows"] == 500
    assert 500_000 < run["bytes"] < 520_000
    logging_gateway.engine.statement = None


def test_what_is_pipelined_is_counted_by_itself(logging_gateway: Gateway, file: Path) -> None:
    """Plain SQL before, between and behind, each with a Sync, all sent before the first answer is read."""
    logging_gateway.engine.statement = "SELECT g FROM generate_series(1, 300) g"
    statements = (
        b"SELECT g FROM generate_series(1, 20) g",
        b"NL CHOOSE 1",
        b"SELECT g FROM generate_series(1, 40) g",
        b"SELECT * FROM nl.run('q1', 1) AS t LIMIT 7",
        b"SELECT g FROM generate_series(1, 60) g",
    )
    with psycopg.connect(logging_gateway.dsn(), autocommit=True) as session:
        session.execute("NL: $$how many?$$").fetchall()
        outcomes(file, session, len(lines(file, "intent")))
        file.write_bytes(b"")
        session.pgconn.enter_pipeline_mode()
        for statement in statements:
            session.pgconn.send_query_params(statement, None)
            session.pgconn.pipeline_sync()
        session.pgconn.flush()
        rows = []
        synced = 0
        while synced < len(statements):
            while session.pgconn.is_busy():
                # The engine runs in this process: it goes on while the driver waits.
                select.select([session.pgconn.socket], [], [], 10)
                session.pgconn.consume_input()
            result = session.pgconn.get_result()
            synced += result is not None and result.status == psycopg.pq.ExecStatus.PIPELINE_SYNC
            rows += [result.ntuples] if result is not None and result.ntuples else []
        session.pgconn.exit_pipeline_mode()
        left = outcomes(file, session, 2)
    logging_gateway.engine.statement = None
    assert rows == [20, 300, 40, 7, 60]
    assert [each["id"] for each in left] == [each["id"] for each in lines(file)]
    assert [each["rows"] for each in left] == [300, 7]


def test_what_the_server_refuses_stands_in_the_outcome(
    logging_gateway: Gateway, session: psycopg.Connection[Any], file: Path
) -> None:
    logging_gateway.engine.statement = "SELECT 1 / 0 AS a"
    session.execute("NL: $$how many?$$").fetchall()
    with pytest.raises(psycopg.errors.DivisionByZero):
        session.execute("NL CHOOSE 1")
    logging_gateway.engine.statement = None
    _, run = outcomes(file, session, 2)
    assert (run["rows"], run["sqlstate"]) == (None, "22012")


def test_an_error_made_of_an_answer_is_its_outcome(session: psycopg.Connection[Any], file: Path) -> None:
    session.execute("SET nl.on_abstain = error")
    with pytest.raises(psycopg.Error):
        session.execute("NL: $$unknown$$")
    (line,) = lines(file)
    (outcome,) = outcomes(file, session, 1)
    assert (line["reply"], outcome["id"], outcome["sqlstate"]) == ("abstained", line["id"], "NL002")


def test_without_a_line_there_is_no_answer_and_plain_sql_goes_on(
    start_gateway: Callable[..., Gateway], tmp_path: Path
) -> None:
    folder = tmp_path / "there"
    folder.mkdir()
    gateway = start_gateway(audit=AuditSettings(str(folder / "audit.log"), before=True))
    with psycopg.connect(gateway.dsn(), autocommit=True) as session:
        assert len(session.execute("NL: $$how many?$$").fetchall()) == 2
        folder.rename(tmp_path / "gone")
        for statement in ("NL: $$how many?$$", "NL CHOOSE 1 OF 'q1'", "SELECT * FROM nl.ask('how many?')"):
            with pytest.raises(psycopg.Error) as refused:
                session.execute(statement)
            diagnosis = refused.value.diag
            assert (diagnosis.sqlstate, diagnosis.message_primary) == (
                "58030",
                "the audit log cannot be written",
            )
            assert diagnosis.message_detail == "The answer was dropped."
            assert "Nothing is answered without it" in (diagnosis.message_hint or "")
        assert session.execute("SELECT 1").fetchall() == [(1,)]
        (tmp_path / "gone").rename(folder)
        assert len(session.execute("NL: $$how many?$$").fetchall()) == 2


def test_a_refusal_by_the_engine_is_one_line(session: psycopg.Connection[Any], file: Path) -> None:
    with pytest.raises(psycopg.Error):
        session.execute("NL: $$no route$$")
    (line,) = lines(file)
    assert (line["question"], line["reply"], line["sqlstate"]) == ("no route", "refused", "NL003")
    assert line["event"] == "refusal"
    outcomes(file, session, 0)


def test_a_client_that_goes_leaves_one_line(logging_gateway: Gateway, file: Path) -> None:
    file.write_bytes(b"")
    gone = psycopg.connect(logging_gateway.dsn(), autocommit=True)
    gone.pgconn.send_query(f"NL: $${WAIT}$$".encode())
    gone.pgconn.flush()
    assert logging_gateway.engine.waiting.wait(30)
    gone.close()
    assert logging_gateway.engine.aborted.wait(30)
    with psycopg.connect(logging_gateway.dsn(), autocommit=True) as other:
        other.execute("NL HISTORY").fetchall()
    assert [line["reply"] for line in lines(file)] == ["cancelled", "answered"]


def test_plain_sql_is_not_logged(session: psycopg.Connection[Any], file: Path) -> None:
    session.execute("SELECT 'NL: how many?'").fetchall()
    with pytest.raises(psycopg.Error):
        session.execute("SELECT nowhere")
    assert lines(file) == []


def test_a_rotated_file_is_left_alone(session: psycopg.Connection[Any], file: Path) -> None:
    session.execute("NL: $$before$$").fetchall()
    rotated = file.rename(file.with_suffix(".1"))
    session.execute("NL: $$after$$").fetchall()
    assert [line["question"] for line in lines(rotated)] == ["before"]
    assert [line["question"] for line in lines(file)] == ["after"]


def test_a_line_that_cannot_be_written_is_counted_and_the_question_answered(
    start_gateway: Callable[..., Gateway], tmp_path: Path
) -> None:
    folder = tmp_path / "there"
    folder.mkdir()
    gateway = start_gateway(audit=AuditSettings(str(folder / "audit.log")))
    with psycopg.connect(gateway.dsn(), autocommit=True) as session:
        folder.rename(tmp_path / "gone")
        assert len(session.execute("NL: $$how many?$$").fetchall()) == 2
    lost = gateway.worker.context.metrics.audit_lost.collect()
    assert next(sample.value for family in lost for sample in family.samples) == 1


def test_syslog_gets_the_lines(start_gateway: Callable[..., Gateway], tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as syslog:
        syslog.bind(str(tmp_path / "log"))
        syslog.settimeout(30)
        gateway = start_gateway(audit=AuditSettings(f"syslog:{tmp_path / 'log'}"))
        with psycopg.connect(gateway.dsn(), autocommit=True) as session:
            session.execute("NL: $$how many?$$").fetchall()
        text = syslog.recv(1 << 16).rstrip(b"\0").decode()
    priority, _, line = text.partition("pgparley: ")
    assert priority == "<86>"
    assert json.loads(line)["question"] == "how many?"


def test_a_file_that_cannot_be_opened_keeps_the_gateway_from_starting(
    start_gateway: Callable[..., Gateway], tmp_path: Path
) -> None:
    with pytest.raises(FileNotFoundError):
        start_gateway(audit=AuditSettings(str(tmp_path / "nowhere" / "audit.log")))
