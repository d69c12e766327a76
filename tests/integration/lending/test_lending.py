"""Statements of a question run in the session of whoever asks it, which is afterwards as it was."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import asyncpg
import psycopg
import pytest
import trustme

from engine.values.deadline import Deadline
from tests.wire_fixtures import Gateway, refusal

from .conftest import House

ASK = "NL: $$name of each singer$$"
NAMES = [("Joe",), ("Ann",)]


def sql_of(rows: list[Any]) -> list[str]:
    return [row[5] for row in rows]


def chosen(connection: psycopg.Connection[Any]) -> list[Any]:
    return connection.execute("NL CHOOSE 1").fetchall()


def test_question_is_answered_without_any_login(house: House) -> None:
    with house.connect() as ana:
        rows = ana.execute(ASK).fetchall()
        assert "SELECT name FROM singer" in sql_of(rows)
        assert chosen(ana) == NAMES
        assert ana.info.transaction_status == psycopg.pq.TransactionStatus.IDLE


def test_rights_are_those_of_the_session(house: House) -> None:
    house.model.lines[:] = ["SELECT word FROM secret"]
    with house.connect("bob") as bob:
        assert sql_of(bob.execute("NL: $$word of the secret$$").fetchall()) == ["SELECT word FROM secret"]
        assert chosen(bob) == [("the word of bob",)]
    with house.connect("ana") as ana:
        rows = ana.execute("NL: $$word of the secret$$").fetchall()
        assert "secret" not in str(sql_of(rows))


def test_open_transaction_goes_on_and_is_seen(house: House) -> None:
    """What the asker has not committed yet is what the candidates meet, and it is still there afterwards."""
    with house.admin() as admin:
        admin.execute("GRANT INSERT ON singer TO ana")
    with house.connect(autocommit=False) as ana:
        ana.execute("INSERT INTO singer VALUES (3, 'Zoe', 'Z', 20)")
        ana.execute("SET LOCAL work_mem = '5MB'")
        ana.execute(ASK).fetchall()
        assert chosen(ana) == [*NAMES, ("Zoe",)]
        assert ana.execute("SHOW work_mem").fetchone() == ("5MB",)
        assert ana.execute("SHOW transaction_read_only").fetchone() == ("off",)
        assert ana.execute("SHOW search_path").fetchone() == ('"$user", public',)
        assert ana.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS
        ana.rollback()
        assert ana.execute("SELECT count(*) FROM singer").fetchone() == (2,)


def test_candidates_that_fail_leave_the_transaction_as_it_was(house: House) -> None:
    house.model.lines[:] = ["SELECT nam FROM singer", "SELECT pg_sleep(1)", "SELECT age / 0 FROM singer"]
    with house.connect(autocommit=False) as ana:
        assert ana.execute("SELECT 1").fetchone() == (1,)
        ana.execute(ASK).fetchall()
        assert ana.execute("SELECT 2").fetchone() == (2,)


def test_set_role_of_the_asker_counts(house: House) -> None:
    with house.admin() as admin:
        admin.execute("CREATE ROLE nobody_reads; GRANT nobody_reads TO bob")
    with house.connect("bob") as bob:
        bob.execute("SET ROLE nobody_reads")
        rows = bob.execute(ASK).fetchall()
        assert [row[1] for row in rows] == ["abstain"]
        assert bob.execute("SELECT current_user").fetchone() == ("nobody_reads",)


def test_plan_and_composition_run_in_the_session_itself(house: House) -> None:
    with house.connect() as ana:
        (qid,) = {row[7] for row in ana.execute(ASK).fetchall()}
        (plan,) = ana.execute("NL PLAN 1").fetchall()
        assert "Seq Scan on singer" in plan[0]
        composed = ana.execute(f"SELECT upper(name) FROM nl.run('{qid}', 1) ORDER BY 1").fetchall()
        assert composed == [("ANN",), ("JOE",)]


def test_search_path_of_the_session_does_not_choose_the_table(house: House) -> None:
    """What was checked is what runs: the session's own table of that name is another one."""
    with house.admin() as admin:
        admin.execute(
            "CREATE SCHEMA bob AUTHORIZATION bob; SET ROLE bob; CREATE TABLE bob.singer (name text)"
        )
    with house.connect("bob") as bob:
        bob.execute("SET search_path = bob, public")
        bob.execute(ASK).fetchall()
        assert bob.execute("SELECT name FROM singer").fetchall() == []
        assert chosen(bob) == NAMES


def test_path_that_others_can_write_to_is_not_relied_upon(house: House) -> None:
    """The choice then runs in our frame, in the same session: its rows are right and nothing of theirs is called."""
    with house.admin() as admin:
        admin.execute(
            """CREATE SCHEMA open; GRANT CREATE, USAGE ON SCHEMA open TO PUBLIC; SET ROLE bob;
               CREATE FUNCTION open.same(text, text) RETURNS bool LANGUAGE plpgsql AS
               $$ BEGIN RAISE EXCEPTION 'called'; END $$;
               CREATE OPERATOR open.= (LEFTARG = text, RIGHTARG = text, FUNCTION = open.same)"""
        )
    house.model.lines[:] = ["SELECT name FROM singer WHERE name = 'Ann'"]
    with house.connect(autocommit=False) as ana:
        ana.execute("SET search_path = open, public, pg_catalog")
        ana.execute("NL: $$name of the singer Ann$$").fetchall()
        assert chosen(ana) == [("Ann",)]


def test_other_database_of_the_server_needs_a_login(house: House) -> None:
    with house.connect(dbname="pets") as ana:
        assert refusal(ana, "NL (db music): $$name of each singer$$").sqlstate == "NL003"


async def test_extended_protocol_keeps_the_clients_statements(house: House) -> None:
    """Asyncpg prepares by name and binds later; the loan stands between."""
    ana = await asyncpg.connect(
        host="127.0.0.1", port=house.gateway.port, user="ana", database="music", statement_cache_size=10
    )
    before = await ana.prepare("SELECT $1::int + 1")
    rows = await ana.fetch(ASK)
    assert "SELECT name FROM singer" in [row["sql"] for row in rows]
    assert await before.fetchval(1) == 2
    statement = await ana.prepare(ASK)
    assert len(await statement.fetch()) == len(await statement.fetch()) == len(rows)
    async with ana.transaction():
        assert await ana.fetchval("SELECT count(*) FROM singer") == 2
        assert len(await ana.fetch("SELECT * FROM nl.ask($1)", "name of each singer")) == len(rows)
        assert [row["name"] for row in await ana.fetch("NL CHOOSE 1")] == ["Joe", "Ann"]
    await ana.close()


def test_pipeline_that_a_sync_would_cut_is_told_so(house: House) -> None:
    with house.admin() as admin:
        admin.execute("GRANT INSERT, DELETE ON singer TO ana")
    with house.connect() as ana:
        with pytest.raises(psycopg.errors.DatabaseError, match="pipeline"):
            _piped(ana)
        assert ana.execute("SELECT count(*) FROM singer").fetchone() == (2,)


def _piped(ana: psycopg.Connection[Any]) -> None:
    with ana.pipeline():
        ana.execute("INSERT INTO singer VALUES (9, 'Kim', 'K', 1)")
        ana.execute(ASK, prepare=True)


def test_cancelling_ends_the_question_and_not_the_session(house: House) -> None:
    house.model.lines[:] = ["SELECT name FROM ana.sleepy"]
    with house.connect() as ana:
        timer = threading.Timer(1.0, ana.cancel_safe)
        timer.start()
        with pytest.raises(psycopg.errors.QueryCanceled):
            ana.execute("NL: $$name of the sleepy$$")
        assert ana.execute("SELECT 1").fetchone() == (1,)
        assert ana.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        timer.join()


def test_engine_on_another_machine_borrows_over_tcp(
    house: House, start_gateway: Callable[..., Gateway]
) -> None:
    far = start_gateway(str(house.engine), lend_addr="127.0.0.1")
    with psycopg.connect(far.dsn("ana", "music"), autocommit=True) as ana:
        assert "SELECT name FROM singer" in sql_of(ana.execute(ASK).fetchall())
        assert chosen(ana) == NAMES


@pytest.fixture
def certificate(tmp_path: Path) -> str:
    file = str(tmp_path / "gateway.pem")
    trustme.CA().issue_cert("gateway.example").private_key_and_cert_chain_pem.write_to_path(file)
    return file


def test_engine_on_another_machine_borrows_over_tls(
    house: House, start_gateway: Callable[..., Gateway], certificate: str
) -> None:
    files = {"engine_tls_cert_file": certificate, "engine_tls_key_file": certificate}
    far = start_gateway(str(house.engine), lend_addr="127.0.0.1", **files)
    with psycopg.connect(far.dsn("ana", "music"), autocommit=True) as ana:
        assert "SELECT name FROM singer" in sql_of(ana.execute(ASK).fetchall())
        assert chosen(ana) == NAMES
        endpoint = far.worker.context.loans._endpoint
        assert endpoint is not None
        with pytest.raises(psycopg.OperationalError, match="closed the connection"):
            psycopg.connect(
                host="127.0.0.1", port=endpoint[1], user="engine", dbname="loan", sslmode="disable"
            )


def test_who_has_not_the_gateways_certificate_is_told_no_token(
    house: House, start_gateway: Callable[..., Gateway], certificate: str
) -> None:
    files = {"engine_tls_cert_file": certificate, "engine_tls_key_file": certificate}
    far = start_gateway(str(house.engine), lend_addr="127.0.0.1", **files)
    loans = far.worker.context.loans
    other = trustme.CA().issue_cert("gateway.example").cert_chain_pems[0].bytes().decode()
    assert loans._certified is not None
    loans._certified = replace(loans._certified, certificate=other)
    with psycopg.connect(far.dsn("ana", "music"), autocommit=True) as ana:
        refused = refusal(ana, ASK)
        assert refused.sqlstate == "58000"
        assert "CERTIFICATE_VERIFY_FAILED" in str(refused.diag.message_detail)
        assert "engine_tls_cert_file" in str(refused.diag.message_hint)
        assert ana.execute("SELECT 1").fetchone() == (1,)


def test_gateway_that_lends_nothing_leaves_logins(
    house: House, start_gateway: Callable[..., Gateway]
) -> None:
    alone = start_gateway(str(house.engine))
    with psycopg.connect(alone.dsn("ana", "music"), autocommit=True) as ana:
        assert refusal(ana, ASK).sqlstate == "NL003"


def test_token_of_nobody_borrows_nothing(house: House) -> None:
    folder = house.gateway.worker.context.settings.runtime_dir
    loans = next(path for path in Path(folder).iterdir() if "PGSQL" in path.name)
    port = loans.name.rsplit(".", 1)[1]
    for options in ({}, {"options": "-c pgparley.loan=guess"}):
        with pytest.raises(psycopg.OperationalError, match="there is no such loan"):
            psycopg.connect(host=folder, port=port, user="engine", dbname="loan", **options)


def hurried(house: House, monkeypatch: pytest.MonkeyPatch, lines: int) -> None:
    """After so many lines the model says nothing until the time is over."""
    said = house.model.complete
    end = len(house.model.prompts) + lines

    async def complete(prompt: Any, *, deadline: Deadline, **more: Any) -> Any:
        if len(house.model.prompts) >= end:
            await asyncio.sleep(deadline.remaining())
            deadline.remaining()
        return await said(prompt, **more)

    monkeypatch.setattr(house.model, "complete", complete)
    tools = house.service._tools
    searching = replace(tools.generation, masks=True, exchanges=False)
    monkeypatch.setattr(house.service, "_tools", replace(tools, generation=searching))


@pytest.mark.parametrize("setting", ["statement_timeout", "nl.timeout"])
def test_at_its_deadline_a_question_shows_what_it_found(
    house: House, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    hurried(house, monkeypatch, 1)
    with house.connect() as ana:
        heard: list[str | None] = []
        ana.add_notice_handler(lambda notice: heard.append(notice.message_primary))
        ana.execute(f"SET {setting} = '3s'")
        began = time.monotonic()
        rows = ana.execute("NL (k 9): $$name of each singer in time$$").fetchall()
        assert time.monotonic() - began < 6
        assert "SELECT name FROM singer" in sql_of(rows)
        assert rows[0][1] == "candidate"
        assert heard == [f"out of time: {len(rows)} candidate{'s' * (len(rows) > 1)} so far"]
        assert ana.execute("SELECT 1").fetchone() == (1,)


def test_with_nothing_found_it_ends_as_a_statement_does(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    hurried(house, monkeypatch, 0)
    with house.connect() as ana:
        ana.execute("SET statement_timeout = '1s'")
        with pytest.raises(psycopg.errors.QueryCanceled):
            ana.execute("NL: $$name of each singer too late$$")
        assert refusal(ana, "NL CHOOSE 1").sqlstate == "NL004"
