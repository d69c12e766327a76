"""Questions back and their answers, from real clients through a real server."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from wire_fixtures import BACK, CURSORS, NAMES, WAIT, expected, psql, refusal

from engine.values.messages import AnswerRequest, Asker, AskRequest, NoneRequest

ASKER = Asker("analyst", "wire")
WAY = "Answer with NL ANSWER n OF 'q7', or in your own words with NL ANSWER $$text$$ OF 'q7'."
OPTIONS = ("1. the artist's own name: Zoë", "2. the stage name: Zed", "3. something else")


@pytest.fixture(params=CURSORS)
def connection(request: pytest.FixtureRequest, gateway: Any) -> Any:
    """A connection whose question was asked back, in each protocol."""
    factory = CURSORS[request.param]
    with psycopg.connect(gateway.dsn(), autocommit=True, cursor_factory=factory) as made:
        made.execute("NL: which name")
        yield made


def test_options_are_rows(connection: Any, gateway: Any) -> None:
    cursor = connection.execute("NL: which name")
    rows = cursor.fetchall()
    assert rows == expected(gateway, "which name")
    assert [column.name for column in cursor.description] == NAMES
    assert [(row[1], row[5]) for row in rows] == [("option", None)] * 3
    assert rows[2][6] == "NL ANSWER $$in your own words$$"


@pytest.mark.parametrize(
    ("statement", "request_", "answered"),
    [
        ("NL ANSWER 2", AnswerRequest(ASKER, "q7", n=2), "second option 2"),
        ("NL ANSWER 1 OF 'q7'", AnswerRequest(ASKER, "q7", n=1), "second option 1"),
        ("NL ANSWER $$it's Zoë; 100%$$", AnswerRequest(ASKER, "q7", text="it's Zoë; 100%"), None),
        ("NL NONE", NoneRequest(ASKER, "q7"), "second after none"),
        ("NL NONE 'all wrong' OF 'q1'", NoneRequest(ASKER, "q1", "all wrong"), "which"),
    ],
)
def test_a_turn(connection: Any, gateway: Any, statement: str, request_: Any, answered: str | None) -> None:
    rows = connection.execute(statement).fetchall()
    assert gateway.engine.others[-1] == request_
    assert rows == expected(gateway, answered or "second it's Zoë; 100%")
    connection.execute("NL WHY")
    assert gateway.engine.others[-1].qid == rows[0][-1]


def test_an_answer_can_be_chosen_from(connection: Any) -> None:
    connection.execute("NL ANSWER 2")
    assert connection.execute("NL CHOOSE 1").fetchall() == [(1, "1"), (2, "2"), (3, "3")]


def test_what_the_engine_refuses(connection: Any) -> None:
    for statement, sqlstate in (
        ("NL ANSWER 9", "22023"),
        ("NL ANSWER 1 OF 'gone'", "NL004"),
        ("NL ANSWER", "42601"),
        ("NL CHOOSE 1", "NL001"),
        ("NL PLAN 1", "NL001"),
        ("SELECT * FROM nl.run('q7', 1)", "NL001"),
    ):
        error = refusal(connection, statement)
        assert error.sqlstate == sqlstate
        if sqlstate == "NL001":
            assert error.diag.message_hint == "NL ANSWER n"


def test_a_question_back_is_not_run(connection: Any, gateway: Any) -> None:
    assert connection.execute("NL RUN $$which name$$").fetchall() == expected(gateway, "which name")
    connection.execute("SET nl.mode = run")
    assert connection.execute("NL: which name").fetchall() == expected(gateway, "which name")


def test_whether_to_be_asked_is_a_setting(connection: Any, gateway: Any) -> None:
    connection.execute("SET nl.ask = off; SET nl.context = off")
    assert connection.execute("SHOW nl.ask").fetchall() == [("off",)]
    connection.execute("NL: x")
    assert gateway.engine.asked[-1] == AskRequest(ASKER, "x", ask=False)
    connection.execute("SELECT * FROM nl.ask('y')")
    assert gateway.engine.asked[-1] == AskRequest(ASKER, "y", ask=False)
    connection.execute("NL (ask on): z")
    assert gateway.engine.asked[-1] == AskRequest(ASKER, "z")
    connection.execute("SET nl.ask = maybe")
    assert refusal(connection, "NL: x").sqlstate == "22023"


def test_options_by_notices(connection: Any, gateway: Any) -> None:
    heard: list[tuple[str | None, str | None]] = []
    connection.add_notice_handler(lambda n: heard.append((n.message_primary, n.message_hint)))
    connection.execute("SET nl.output = notices")
    assert connection.execute("NL: which name").fetchall() == []
    hints = [f"NL ANSWER {step}" for step in (1, 2, "$$in your own words$$")]
    assert heard == [(BACK, None), *zip(OPTIONS, hints, strict=True), (WAY, None)]
    connection.execute("SET nl.output = 'both'")
    assert connection.execute("NL NONE 'why'").fetchall() == expected(gateway, "which")
    assert len(heard) == 10


def test_a_question_back_as_an_error_inside_of_a_transaction(connection: Any, gateway: Any) -> None:
    connection.execute("SET nl.on_abstain = error")
    connection.execute("BEGIN")
    connection.execute("CREATE TEMP TABLE undone (a int)")
    diag = refusal(connection, "NL: which name").diag
    assert connection.info.transaction_status.name == "INERROR"
    connection.execute("ROLLBACK")
    assert (diag.sqlstate, diag.message_primary) == ("NL001", "the question waits for an answer")
    assert diag.message_detail == "\n".join((BACK, *OPTIONS))
    assert diag.message_hint == f"This transaction has failed: ROLLBACK, or ROLLBACK TO a savepoint. {WAY}"
    assert connection.execute("SELECT to_regclass('undone')").fetchall() == [(None,)]
    assert connection.execute("NL ANSWER 1").fetchall() == expected(gateway, "second option 1")


def test_a_savepoint_keeps_the_transaction(connection: Any, gateway: Any) -> None:
    connection.execute("SET nl.on_abstain = error")
    with connection.transaction():
        connection.execute("CREATE TEMP TABLE kept (a int) ON COMMIT DROP")
        with pytest.raises(psycopg.Error) as error, connection.transaction():
            connection.execute("NL: which name")
        assert error.value.sqlstate == "NL001"
        assert connection.execute("NL ANSWER 2").fetchall() == expected(gateway, "second option 2")
        assert connection.execute("SELECT count(*) FROM kept").fetchall() == [(0,)]


def test_a_failed_transaction_asks_nobody(connection: Any, gateway: Any) -> None:
    asked = len(gateway.engine.others)
    connection.execute("BEGIN")
    refused = [refusal(connection, each).sqlstate for each in ("SELECT 1/0", "NL ANSWER 1", "NL NONE")]
    assert refused == ["22012", "25P02", "25P02"]
    connection.execute("ROLLBACK")
    assert len(gateway.engine.others) == asked


def test_an_answer_that_takes_too_long(connection: Any, gateway: Any) -> None:
    connection.execute("SET nl.timeout = '200ms'")
    with pytest.raises(psycopg.errors.QueryCanceled):
        connection.execute(f"NL ANSWER $${WAIT}$$")
    assert gateway.engine.aborted.wait(5)
    assert connection.execute("NL ANSWER 1").fetchall() == expected(gateway, "second option 1")


def test_psql_shows_a_question_back_that_is_an_error(gateway: Any) -> None:
    script = (
        "SET nl.on_abstain = error;\nBEGIN;\nNL: which name;\nNL ANSWER 2;\nROLLBACK;\nNL ANSWER 2;\n"
        "\\set ON_ERROR_ROLLBACK on\nBEGIN;\nNL: which name;\nNL ANSWER 1;\nCOMMIT;\n"
    )
    done = psql(gateway.dsn(), script=script)
    assert f"ERROR:  the question waits for an answer\nDETAIL:  {BACK}\n1. the artist's" in done.stderr
    assert f"HINT:  This transaction has failed: ROLLBACK, or ROLLBACK TO a savepoint. {WAY}" in done.stderr
    assert done.stderr.count("current transaction is aborted") == 1
    assert "|second option 2|" in done.stdout
    assert "|second option 1|" in done.stdout
