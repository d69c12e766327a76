"""The audit log of a running gateway: one line for each NL statement, none for plain SQL, and rotation."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from proxy.settings import AuditRedaction
from tests.wire_fixtures import WAIT, Gateway


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("audit") / "audit.log"


@pytest.fixture(scope="module")
def logging_gateway(start_gateway: Callable[..., Gateway], file: Path) -> Gateway:
    return start_gateway(audit_log=str(file), audit_redact=AuditRedaction.NONE)


@pytest.fixture
def session(logging_gateway: Gateway, file: Path) -> Iterator[psycopg.Connection[Any]]:
    file.write_bytes(b"")
    with psycopg.connect(logging_gateway.dsn(), autocommit=True) as connection:
        yield connection


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_who_asked_what_and_what_was_shown(session: psycopg.Connection[Any], file: Path) -> None:
    session.execute("NL: $$how many?$$").fetchall()
    (line,) = lines(file)
    assert (line["role"], line["database"], line["verb"], line["question"]) == (
        "analyst",
        "wire",
        "ask",
        "how many?",
    )
    assert (line["outcome"], line["qid"], line["rows"], line["source"]) == ("answered", "q1", 2, "sales")
    assert len(line["statements"]) == 2
    assert line["session"] // 10_000_000 > 0
    assert file.stat().st_mode & 0o777 == 0o600


def test_what_ran_and_where(session: psycopg.Connection[Any], file: Path) -> None:
    session.execute("NL: $$how many?$$").fetchall()
    session.execute("NL CHOOSE 1").fetchall()
    session.execute("NL CHOOSE 2").fetchall()
    _, here, elsewhere = lines(file)
    assert (here["verb"], here["outcome"], here["rows"], here["n"]) == ("choose", "in_session", None, 1)
    assert here["statements"] == ["SELECT g AS a, g::text AS b FROM generate_series(1, 3) g;"]
    assert (elsewhere["outcome"], elsewhere["source"], elsewhere["rows"]) == ("ran", "elsewhere", 2)


def test_a_refusal_by_the_engine_is_one_line(session: psycopg.Connection[Any], file: Path) -> None:
    with pytest.raises(psycopg.Error):
        session.execute("NL: $$no route$$")
    (line,) = lines(file)
    assert (line["question"], line["outcome"], line["sqlstate"]) == ("no route", "refused", "NL003")


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
    assert [line["outcome"] for line in lines(file)] == ["cancelled", "answered"]


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
    gateway = start_gateway(audit_log=str(folder / "audit.log"))
    with psycopg.connect(gateway.dsn(), autocommit=True) as session:
        folder.rename(tmp_path / "gone")
        assert len(session.execute("NL: $$how many?$$").fetchall()) == 2
    lost = gateway.worker.context.metrics.audit_lost.collect()
    assert next(sample.value for family in lost for sample in family.samples) == 1


def test_syslog_gets_the_lines(start_gateway: Callable[..., Gateway], tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as syslog:
        syslog.bind(str(tmp_path / "log"))
        syslog.settimeout(30)
        gateway = start_gateway(audit_log=f"syslog:{tmp_path / 'log'}")
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
        start_gateway(audit_log=str(tmp_path / "nowhere" / "audit.log"))
