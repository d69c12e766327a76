"""A login that others stand behind says for whom it asks: whose history, feedback, quota and record it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from engine.app.admission import Allowance
from engine.values.messages import Asker
from proxy.settings import AuditRedaction, AuditSettings
from schema_catalog.quotas import QuotaStore
from tests.support import pooler
from tests.wire_fixtures import Gateway, refusal

from .conftest import House

ASK = "NL: $$name of each singer$$"
EVA, UDO = "eva@example.org", "udo@example.org"


def said(person: str) -> str:
    return f"SET nl.on_behalf = '{person}'"


@pytest.fixture(scope="session")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("behalf") / "audit.log"


@pytest.fixture(scope="session")
def shared(house: House, start_gateway: Callable[..., Gateway], log: Path) -> Gateway:
    """A gateway at which ana may ask for others, and bob may not."""
    folder = log.parent
    folder.chmod(0o700)
    audit = AuditSettings(log=str(log), redact=AuditRedaction.NONE)
    return start_gateway(str(house.engine), audit, runtime_dir=str(folder), on_behalf_users="ana, agent")


def connect(gateway: Gateway, user: str = "ana", **more: Any) -> psycopg.Connection[Any]:
    return psycopg.connect(gateway.dsn(user, "music"), autocommit=True, **more)


def history(connection: psycopg.Connection[Any]) -> list[str]:
    return [row[2] for row in connection.execute("NL HISTORY").fetchall()]


def startup(person: str) -> dict[str, str]:
    return {"options": f"-c nl.on_behalf={person}"}


def test_history_answers_and_feedback_are_the_persons(shared: Gateway, house: House) -> None:
    with connect(shared, **startup(EVA)) as eva, connect(shared) as udo, connect(shared) as ana:
        udo.execute(said(UDO))
        qid = eva.execute(ASK).fetchall()[0][7]
        assert eva.execute("NL CHOOSE 1").fetchall() == [("Joe",), ("Ann",)]
        assert history(eva) == ["name of each singer"]
        for other in (udo, ana):
            assert qid not in str(other.execute("NL HISTORY").fetchall())
            assert refusal(other, f"NL CHOOSE 1 OF '{qid}'").sqlstate == "NL004"
    with house.admin("store") as admin:
        askers = admin.execute("SELECT DISTINCT asker FROM pgparley.learned_example ORDER BY 1").fetchall()
    assert (f"ana → {EVA}",) in askers
    assert (f"ana → {UDO}",) not in askers


def test_the_record_has_login_and_person(shared: Gateway, log: Path) -> None:
    with connect(shared, application_name="agent 7", **startup(EVA)) as eva:
        eva.execute("NL: $$name of each singer, once more$$").fetchall()
    with connect(shared) as ana:
        ana.execute("NL: $$name of each singer, for ana$$").fetchall()
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    of = {line["question"]: line for line in lines if line["event"] == "intent"}
    found = of["name of each singer, once more"]
    shown = (found["role"], found["on_behalf"], found["application_name"], found["address"])
    assert shown == ("ana", EVA, "agent 7", "127.0.0.1")
    assert of["name of each singer, for ana"]["on_behalf"] == ""


def test_it_is_said_once_and_ends_with_what_resets_a_session(shared: Gateway) -> None:
    with connect(shared) as pooled:
        pooled.execute(said(EVA))
        pooled.execute(said(EVA))
        pooled.execute(ASK).fetchall()
        error = refusal(pooled, said(UDO))
        assert error.sqlstate == "42501"
        assert "DISCARD ALL" in (error.diag.message_hint or "")
        assert pooled.execute("SHOW nl.on_behalf").fetchall() == [(EVA,)]
        for reset in ("DISCARD ALL", "RESET ALL", "RESET nl.on_behalf", "SET nl.on_behalf TO DEFAULT"):
            pooled.execute(reset)
            assert refusal(pooled, "NL CHOOSE 1").sqlstate == "NL004", "the next one has no last answer"
            assert f"→ {EVA}" not in str(pooled.execute("NL HISTORY").fetchall())
            pooled.execute(said(UDO))
            pooled.execute(ASK).fetchall()
    with connect(shared, **startup(EVA)) as eva:
        eva.execute("DISCARD ALL")
        assert refusal(eva, said(UDO)).sqlstate == "42501", "it holds to the session's end"
        assert history(eva)


@pytest.mark.parametrize(
    ("statement", "sqlstate"),
    [
        ("SET nl.on_behalf = ''", "22023"),
        ("SET nl.on_behalf = E'a\\nb'", "22023"),
        (said("x" * 201), "22023"),
        ("SET LOCAL nl.on_behalf = 'eva'", "0A000"),
        ("SET nl.on_behalf = 'eva'; SET nl.on_behalf = 'udo'", "42501"),
        ("NL (on_behalf 'eva'): $$name of each singer$$", "42601"),
    ],
)
def test_what_is_no_person_is_refused(shared: Gateway, statement: str, sqlstate: str) -> None:
    with connect(shared) as ana:
        assert refusal(ana, statement).sqlstate == sqlstate
        assert ana.execute("SELECT current_setting('nl.on_behalf', true)").fetchall() in ([(None,)], [("",)])


def test_only_logins_that_a_setting_names_may_say_it(shared: Gateway, house: House) -> None:
    for gateway, user in ((shared, "bob"), (house.gateway, "ana")):
        with connect(gateway, user) as other:
            error = refusal(other, said(EVA))
            assert error.sqlstate == "42501"
            assert "on_behalf_users" in (error.diag.message_hint or "")
        with connect(gateway, user, **startup(EVA)) as other:
            assert refusal(other, ASK).sqlstate == "42501"
            assert other.execute("SELECT 1").fetchall() == [(1,)], "plain SQL goes on"
            assert refusal(other, "NL HISTORY").sqlstate == "42501"


def test_quotas_of_login_and_person_hold_together(
    shared: Gateway, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(house.service, "_allowance", Allowance(QuotaStore(house.pool)))
    with house.admin("store") as admin:
        admin.execute("SELECT nl_catalog.set_quota('ana', 3), nl_catalog.set_quota('ana', 2, person => '*')")
        with connect(shared, **startup("fay")) as fay, connect(shared, **startup("gil")) as gil:
            for n in range(2):
                fay.execute(f"NL: $$name of each singer {n}$$").fetchall()
            assert '"fay", for whom "ana" asks,' in (refusal(fay, ASK).diag.message_detail or "")
            gil.execute(ASK).fetchall()
            refused = refusal(gil, "NL: $$name of each singer, please$$")
        assert (refused.sqlstate, refused.diag.message_detail) == (
            "53400",
            'The quota of "ana" is 3 questions an hour.',
        )
        admin.execute(
            "SELECT nl_catalog.set_quota('ana', NULL), nl_catalog.set_quota('ana', NULL, person => '*')"
        )


@pytest.mark.skipif(not pooler.PROGRAM.is_file(), reason="no PgBouncer on this machine: make pooler")
def test_behind_a_transaction_pooler_it_is_refused(
    house: House, start_gateway: Callable[..., Gateway], tmp_path: Path
) -> None:
    gateway = start_gateway(
        str(house.engine), runtime_dir=str(tmp_path), on_behalf_users="ana", transaction_pooler=True
    )
    with pooler.pgbouncer(house.cluster, tmp_path, "transaction", ("ana",), gateway=gateway.port) as port:
        dsn = f"host=127.0.0.1 port={port} user=ana dbname=music"
        with psycopg.connect(dsn, autocommit=True) as one, psycopg.connect(dsn, autocommit=True) as two:
            error = refusal(one, said(EVA))
            assert (error.sqlstate, error.diag.message_primary) == (
                "0A000",
                "nl.on_behalf cannot be said behind a transaction pooler",
            )
            # One of them is served by the connection of the other.
            assert one.execute(ASK).fetchall()
            assert {row[2] for row in two.execute("NL HISTORY 1").fetchall()} == {"name of each singer"}


@pytest.mark.skipif(not pooler.PROGRAM.is_file(), reason="no PgBouncer on this machine: make pooler")
def test_in_a_pool_of_sessions_it_ends_where_the_next_client_begins(
    house: House, shared: Gateway, tmp_path: Path
) -> None:
    with pooler.pgbouncer(house.cluster, tmp_path, "session", ("ana",), gateway=shared.port) as port:
        dsn = f"host=127.0.0.1 port={port} user=ana dbname=music"
        for person in ("ida", "jan"):
            with psycopg.connect(dsn, autocommit=True) as client:
                client.execute(said(person))
                assert not history(client)
                client.execute(ASK).fetchall()
                assert history(client) == ["name of each singer"]


def test_no_role_can_pass_for_another_ones_person() -> None:
    assert Asker("a", "", person="b").owner == "a → b"
    assert Asker("a → b", "", person="c").owner != Asker("a", "", person="b → c").owner
    assert Asker("a → b", "").owner != Asker("a", "", person="b").owner
