"""Every NL statement, in both protocols, through a real server; deploy/stubs.sql tells who goes past the gateway."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import psycopg
import pytest
from wire_fixtures import CURSORS, IN_LINE, NAMES, TOLD, expected, refusal

from engine.values.messages import (
    TOPIC_COLUMNS,
    Asker,
    CorrectRequest,
    MoreRequest,
    PlanRequest,
    Topic,
    TopicRequest,
)

ASKER = Asker("analyst", "wire")


@pytest.fixture(params=CURSORS)
def connection(request: pytest.FixtureRequest, gateway: Any) -> Any:
    """A connection that has asked a question, in each protocol."""
    factory = CURSORS[request.param]
    with psycopg.connect(gateway.dsn(), autocommit=True, cursor_factory=factory) as made:
        made.execute("NL: how many")
        yield made


@pytest.mark.parametrize(
    ("query", "request_"),
    [
        ("NL EXPLAIN 1", TopicRequest(ASKER, Topic.EXPLAIN, "q1", 1)),
        ("NL WHY", TopicRequest(ASKER, Topic.WHY, "q1")),
        ("NL SHOWPROMPT OF 'q7'", TopicRequest(ASKER, Topic.PROMPT, "q7")),
        ("NL HISTORY 5", TopicRequest(ASKER, Topic.HISTORY, None, 5)),
        ("NL FORGET ALL", TopicRequest(ASKER, Topic.FORGET)),
        ("NL FORGET", TopicRequest(ASKER, Topic.FORGET, "q1")),
    ],
)
def test_tables(connection: Any, gateway: Any, query: str, request_: TopicRequest) -> None:
    cursor = connection.execute(query)
    assert gateway.engine.others[-1] == request_
    assert [column.name for column in cursor.description] == [n for n, _ in TOPIC_COLUMNS[request_.topic]]
    rows = cursor.fetchall()
    if request_.topic is Topic.HISTORY:
        assert rows == [(dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC), "q1", "how many", 2, 1, None)]
    else:
        assert rows == list(TOLD[request_.topic])


def test_forgotten_answer_is_not_the_last_any_more(connection: Any) -> None:
    connection.execute("NL FORGET OF 'q1'")
    assert refusal(connection, "NL WHY").sqlstate == "NL004"


def test_more_is_the_answer_that_follows(connection: Any, gateway: Any) -> None:
    connection.execute("SET nl.timeout = '9s'")
    assert connection.execute("NL MORE").fetchall() == expected(gateway, "second more")
    assert gateway.engine.others[-1] == MoreRequest(ASKER, "q1", 9.0)
    connection.execute("NL WHY")
    assert gateway.engine.others[-1].qid == "q2"


def test_correct(connection: Any, gateway: Any) -> None:
    connection.execute("SET nl.db = 'sales'")
    rows = connection.execute("NL CORRECT $$SELECT 'it''s'$$").fetchall()
    assert rows == [(3, "verified", "sales", None, "as told", "SELECT 'it''s'", None, "q1")]
    assert gateway.engine.others[-1] == CorrectRequest(ASKER, "q1", "SELECT 'it''s'", "sales")
    assert refusal(connection, "NL CORRECT 'DROP TABLE x' OF 'q1'").sqlstate == "NL005"


def test_plan(connection: Any, gateway: Any) -> None:
    rows = connection.execute("NL PLAN 1").fetchall()
    assert rows[0][0].startswith("Result")
    assert gateway.engine.others[-1] == PlanRequest(ASKER, "q1", 1)
    with connection.transaction():
        assert connection.execute("NL PLAN 2 OF 'q1'").fetchall() == [("Result",)]


def test_run_of_a_single_candidate_runs_it(connection: Any, gateway: Any) -> None:
    cursor = connection.execute("NL RUN $$single one$$")
    assert [column.name for column in cursor.description] == ["a", "b"]
    assert cursor.fetchall() == [(1, "1"), (2, "2"), (3, "3")]
    assert gateway.engine.asked[-1].run is True
    assert gateway.engine.chosen[-1].learn is False


def test_run_of_several_candidates_shows_them(connection: Any, gateway: Any) -> None:
    assert connection.execute("NL RUN: several").fetchall() == expected(gateway, "several")
    assert connection.execute("NL RUN 'unknown thing'").fetchall() == expected(gateway, "unknown thing")


def test_run_elsewhere(connection: Any) -> None:
    heard: list[str | None] = []
    connection.add_notice_handler(lambda notice: heard.append(notice.message_primary))
    assert connection.execute("NL RUN $$far away$$").fetchall()[1] == (None, None, None)
    with connection.transaction():
        assert connection.execute("NL RUN $$far away$$").fetchall()[1] == (None, None, None)
        assert connection.execute("SELECT count(*) FROM nl.run('q1', 2) AS t").fetchall() == [(2,)]
        assert connection.execute("SELECT 1").fetchall() == [(1,)]
    assert heard == ['these rows of database "elsewhere" were read there, outside of this transaction'] * 2


def test_run_mode(connection: Any) -> None:
    connection.execute("SET nl.mode = run")
    assert connection.execute("NL: single").fetchall() == [(1, "1"), (2, "2"), (3, "3")]
    assert len(connection.execute("NL (mode ask): single").fetchall()[0]) == len(NAMES)
    connection.execute("SET nl.mode = walk")
    assert refusal(connection, "NL: single").sqlstate == "22023"


def test_run_call_composes(connection: Any) -> None:
    query = "SELECT t.b, count(*) OVER () AS n FROM nl.run('q1', 1) AS t WHERE t.a > 1 ORDER BY 1"
    assert connection.execute(query).fetchall() == [("2", 2), ("3", 2)]
    query = "SELECT x.a, run.a FROM nl.run('q1', 1) x JOIN nl.run('q2', 1) ON x.a = run.a + 1"
    assert sorted(connection.execute(query).fetchall()) == [(2, 1), (3, 2)]
    assert connection.execute("SELECT data FROM nl.run('q1', 2) WHERE data IS NOT NULL").fetchall() == [
        ({"a": [1]},)
    ]
    connection.execute("CREATE TEMP VIEW kept AS SELECT * FROM nl.run('q1', 1)")
    assert connection.execute("SELECT sum(a) FROM kept").fetchall() == [(6,)]
    assert refusal(connection, "SELECT * FROM nl.run('other', 1)").sqlstate == "NL004"


def test_run_call_takes_parameters_around_it(gateway: Any) -> None:
    with psycopg.connect(gateway.dsn(), autocommit=True) as connection:
        query = "SELECT a FROM nl.run('q1', 1) WHERE a >= %s"
        for _ in range(7):
            assert connection.execute(query, (3,)).fetchall() == [(3,)]


def test_output_by_notices(connection: Any, gateway: Any) -> None:
    heard: list[tuple[str, str | None, str | None]] = []
    connection.add_notice_handler(lambda n: heard.append((n.severity, n.message_primary, n.message_hint)))
    connection.execute("SET nl.output = notices")
    cursor = connection.execute("NL: x")
    assert cursor.fetchall() == []
    assert [column.name for column in cursor.description] == NAMES
    sql = "SELECT '1''\\ ü' AS \"x\""
    assert heard[0] == ("NOTICE", f"1. [sales 0.750] {sql}", "NL CHOOSE 1")
    assert len(heard) == 2
    assert connection.execute("NL (output both): x").fetchall() == expected(gateway, "x")
    assert len(heard) == 4
    assert len(connection.execute("SELECT n FROM nl.ask('x')").fetchall()) == 2
    assert len(heard) == 4


def test_progress_is_told_while_the_engine_works(start_gateway: Any) -> None:
    impatient = start_gateway(nl_progress=0.02, nl_timeout=0.5)
    for factory in CURSORS.values():
        with psycopg.connect(impatient.dsn(), autocommit=True, cursor_factory=factory) as connection:
            heard: list[str | None] = []
            connection.add_notice_handler(lambda n, heard=heard: heard.append(n.message_primary))
            with pytest.raises(psycopg.errors.QueryCanceled):
                connection.execute("NL: wait for ever")
            assert 3 <= len(heard) <= 7
            assert heard[0] is not None
            assert heard[0].startswith("the question is being answered: 0 seconds")
            assert connection.execute("SELECT 1").fetchall() == [(1,)]


def test_a_question_in_line_is_told_its_place(gateway: Any) -> None:
    for factory in CURSORS.values():
        with psycopg.connect(gateway.dsn(), autocommit=True, cursor_factory=factory) as connection:
            heard: list[str | None] = []
            connection.add_notice_handler(lambda n, heard=heard: heard.append(n.message_primary))
            assert connection.execute(f"NL: {IN_LINE}").fetchall() == expected(gateway, IN_LINE)
            assert heard == ["the question waits for its turn: 2 before yours, 0 seconds so far"]


def test_progress_inside_a_pipeline(start_gateway: Any) -> None:
    impatient = start_gateway(nl_progress=0.02, nl_timeout=0.3)
    with psycopg.connect(impatient.dsn(), autocommit=True) as connection:
        heard: list[str | None] = []
        connection.add_notice_handler(lambda n: heard.append(n.message_primary))
        with connection.pipeline() as pipeline:
            before = connection.execute("SELECT repeat('x', 100000)")
            pipeline.sync()
            after = connection.execute("NL: wait for ever")
            with pytest.raises(psycopg.errors.QueryCanceled):
                after.fetchall()
            assert len(before.fetchall()[0][0]) == 100_000
        assert len(heard) >= 2


STUBS = Path(__file__).parents[3] / "deploy" / "stubs.sql"


def test_stubs(gateway: Any) -> None:
    with psycopg.connect(gateway.direct(), autocommit=True) as direct:
        for _ in range(2):
            direct.execute(STUBS.read_text("utf-8"))
        for call in ("nl.ask('x')", "nl.run('q1', 1) AS t (a int)"):
            with pytest.raises(psycopg.errors.FeatureNotSupported, match="bypasses") as error:
                direct.execute(f"SELECT * FROM {call}")
            assert "gateway" in str(error.value.diag.message_hint)
        with psycopg.connect(gateway.dsn(), autocommit=True) as through:
            assert len(through.execute("SELECT * FROM nl.ask('x')").fetchall()) == 2
            assert len(through.execute("SELECT * FROM nl.run('q1', 1) AS t").fetchall()) == 3
            functions = "SELECT proname::text FROM pg_proc WHERE pronamespace = 'nl'::regnamespace ORDER BY 1"
            assert through.execute(functions).fetchall() == [("ask",), ("run",)]
        direct.execute("DROP SCHEMA nl CASCADE")
