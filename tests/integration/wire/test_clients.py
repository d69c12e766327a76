"""Real clients ask in every way that they have."""

from __future__ import annotations

from typing import Any

import asyncpg
import psycopg
import pytest
from psycopg.rows import dict_row
from wire_fixtures import NAMES, expected, psql

from engine.values.messages import Asker, AskRequest

ASKER = Asker("analyst", "wire")


# -- psycopg


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("prepare", [False, True])
def test_psycopg_asks_in_extended_protocol(gateway: Any, *, binary: bool, prepare: bool) -> None:
    with psycopg.connect(gateway.dsn()) as connection:
        for question in ("how many", "wie viele Sänger?"):
            cursor = connection.execute(f"NL: {question}", prepare=prepare, binary=binary)
            assert [column.name for column in cursor.description or ()] == NAMES
            assert cursor.fetchall() == expected(gateway, question)
    assert gateway.engine.asked[-1] == AskRequest(ASKER, "wie viele Sänger?", after="q1")


@pytest.mark.parametrize("binary", [False, True])
def test_psycopg_binds_the_question(gateway: Any, *, binary: bool) -> None:
    query = "SELECT t.*, %s::int AS five FROM nl.ask(%s) AS t WHERE n < %s ORDER BY n DESC"
    with psycopg.connect(gateway.dsn(), row_factory=dict_row) as connection:
        for question in ("what's up; DROP TABLE x", "2nd"):
            for _ in range(7):
                rows = connection.execute(query, (5, question, 3), binary=binary).fetchall()
                assert [row["n"] for row in rows] == [2, 1]
                assert {row["explanation"] for row in rows} == {question}
                assert rows[0]["five"] == 5


def test_psycopg_pipeline_error_aborts_what_follows(gateway: Any) -> None:
    with psycopg.connect(gateway.dsn(), autocommit=True) as connection:
        with connection.pipeline():
            before = connection.execute("SELECT 1")
            connection.execute("NL: no route")
            after = connection.execute("SELECT 2")
            with pytest.raises(psycopg.Error) as error:
                after.fetchall()
            assert error.value.sqlstate in ("NL003", None)
            assert before.fetchall() == [(1,)]
        assert connection.execute("SELECT 3").fetchall() == [(3,)]


# -- transactions


def test_error_fails_the_transaction_and_then_the_server_says_so(gateway: Any) -> None:
    with psycopg.connect(gateway.dsn()) as connection:
        connection.execute("SELECT 1")
        with pytest.raises(psycopg.Error) as first:
            connection.execute("NL: no route here")
        assert first.value.sqlstate == "NL003"
        assert connection.info.transaction_status.name == "INERROR"
        asked = len(gateway.engine.asked)
        for query in ("NL: x", "SELECT * FROM nl.ask('x')", "NL CHOOSE 1 OF 'q1'", "NL:"):
            with pytest.raises(psycopg.errors.InFailedSqlTransaction):
                connection.execute(query)
        assert len(gateway.engine.asked) == asked
        connection.rollback()
        assert len(connection.execute("NL: x").fetchall()) == 2


def test_settings_reach_the_engine_and_the_server(gateway: Any) -> None:
    with psycopg.connect(gateway.dsn(options="'-c nl.db=sales'"), autocommit=True) as connection:
        connection.execute("SET nl.k = 4")
        assert connection.execute("SHOW nl.k").fetchall() == [("4",)]
        connection.execute("NL: x")
        assert gateway.engine.asked[-1] == AskRequest(ASKER, "x", k=4, db="sales")
        connection.execute("DISCARD ALL")
        connection.execute("NL: x")
        assert gateway.engine.asked[-1] == AskRequest(ASKER, "x", db="sales")


# -- errors


@pytest.mark.parametrize("prepare", [False, True])
@pytest.mark.parametrize("factory", [psycopg.Cursor, psycopg.ClientCursor])
def test_errors_are_clean(gateway: Any, factory: type[psycopg.Cursor[Any]], *, prepare: bool) -> None:
    with psycopg.connect(gateway.dsn(), autocommit=True, cursor_factory=factory) as connection:
        for query, sqlstate in {
            "NL: no route to this": "NL003",
            "NL: broken": "XX000",
            "NL:": "42601",
            "NL DANCE": "42601",
            "EXPLAIN NL: x": "0A000",
            "NL CHOOSE 1 OF 'zz'": "NL004",
            "NL (on_abstain error): unknown": "NL002",
            "SELECT * FROM nl.ask('no route')": "NL003",
        }.items():
            with pytest.raises(psycopg.Error) as error:
                connection.execute(query, prepare=prepare)
            diagnosis = error.value.diag
            assert diagnosis.sqlstate == sqlstate
            assert diagnosis.severity == "ERROR"
            assert diagnosis.context is None
            assert diagnosis.source_function is None
            assert "pgparley_error" not in str(error.value)
            assert connection.execute("SELECT 1").fetchall() == [(1,)]
        with pytest.raises(psycopg.Error) as error:
            connection.execute("NL: no route")
        assert error.value.diag.message_detail == "None matched."
        assert error.value.diag.message_hint == "Try another."


def test_engine_that_is_down(start_gateway: Any) -> None:
    gateway = start_gateway(engine="/nonexistent/engine")
    with psycopg.connect(gateway.dsn(), autocommit=True) as connection:
        with pytest.raises(psycopg.errors.SystemError) as error:
            connection.execute("NL: x")
        assert error.value.sqlstate == "58000"
        assert "operator" in str(error.value.diag.message_hint)
        assert connection.execute("SELECT 1").fetchall() == [(1,)]


def test_question_times_out(gateway: Any) -> None:
    with psycopg.connect(gateway.dsn(), autocommit=True) as connection:
        with pytest.raises(psycopg.errors.QueryCanceled) as error:
            connection.execute("NL (timeout 50ms): wait for ever")
        assert "timed out" in str(error.value)
        assert gateway.engine.aborted.wait(10)


# -- choosing


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("prepare", [False, True])
def test_choose(gateway: Any, *, binary: bool, prepare: bool) -> None:
    with psycopg.connect(gateway.dsn(), autocommit=True) as connection:
        connection.execute("NL: x")
        rows = connection.execute("NL CHOOSE 1", prepare=prepare, binary=binary).fetchall()
        assert rows == [(1, "1"), (2, "2"), (3, "3")]
        cursor = connection.execute("NL CHOOSE 2 OF q2", prepare=prepare, binary=binary)
        first, second = cursor.fetchall()
        assert [column.name for column in cursor.description or ()] == ['na"me', "born", "data"]
        assert (first[0], first[1].isoformat(), first[2]) == ("Zoë", "1980-02-03", {"a": [1]})
        assert second == (None, None, None)
        notices: list[str | None] = []
        connection.add_notice_handler(lambda notice: notices.append(notice.message_primary))
        connection.execute("NL CHOOSE 3 OF q2", prepare=prepare, binary=binary)
        assert notices == ["the result was cut after 2 rows"]
        with connection.transaction():
            assert connection.execute("NL CHOOSE 2 OF q2", prepare=prepare).fetchall() == [first, second]
        assert notices[1:] == [
            'these rows of database "elsewhere" were read there, outside of this transaction'
        ]


def test_show_and_help(gateway: Any) -> None:
    with psycopg.connect(gateway.dsn(), autocommit=True) as connection:
        assert connection.execute("NL SHOW 1 OF 'q1'").fetchall() == expected(gateway, "shown")
        assert gateway.engine.shown[-1].n == 1
        commands = [row[0] for row in connection.execute("NL HELP").fetchall()]
        assert "NL CHOOSE n [OF 'qid'] [ANYWAY]" in commands


# -- asyncpg


async def test_asyncpg_prepares_a_stale_choice_again(gateway: Any) -> None:
    connection = await asyncpg.connect(
        host="127.0.0.1", port=gateway.port, user="analyst", database="wire", ssl=False
    )
    try:
        for question, qid in (("x", "q1"), ("second", "q2")):
            await connection.fetch(f"NL: {question}")
            assert [row["a"] for row in await connection.fetch("NL CHOOSE 1")] == [1, 2, 3]
            assert (gateway.engine.chosen[-1].qid, gateway.engine.chosen[-1].n) == (qid, 1)
    finally:
        await connection.close()


# -- psql


def test_psql_asks_in_a_script(gateway: Any) -> None:
    script = """\\set ON_ERROR_STOP 1
BEGIN;
NL: how many singers;  -- ask
NL: $$what's up; then$$;
COMMIT;
SELECT 'done';
"""
    run = psql(gateway.dsn(), script=script)
    assert (run.returncode, run.stderr) == (0, "")
    lines = run.stdout.splitlines()
    assert (lines[0], lines[5], lines[6]) == ("BEGIN", "COMMIT", "done")
    assert lines[1].startswith("1|candidate|sales|0.75|how many singers|SELECT '1''\\ ü' AS \"x\"|")
    assert "|what's up; then|" in lines[3]


def test_psql_odd_apostrophe_loses_nothing_silently(gateway: Any) -> None:
    run = psql(gateway.dsn(), script="NL: what's up;\nSELECT 'it';\n")
    assert "HINT:  Write the question between double dollar signs" in run.stderr


def test_psql_describes_without_asking(gateway: Any) -> None:
    asked = len(gateway.engine.asked)
    run = psql(gateway.dsn(), script="NL: x \\gdesc\n")
    assert run.stdout.splitlines()[0] == "n|integer"
    assert len(run.stdout.splitlines()) == len(NAMES)
    assert len(gateway.engine.asked) == asked


def test_psql_several_statements_in_one_message(gateway: Any) -> None:
    run = psql(gateway.dsn(), "-c", "BEGIN; NL: x; SELECT 5; COMMIT")
    assert run.stdout.splitlines()[-2:] == ["5", "COMMIT"]
    run = psql(gateway.dsn(), "-c", "CREATE TABLE gone (a int); NL: no route", "-c", "TABLE gone")
    assert 'relation "gone" does not exist' in run.stderr
