"""Personal data in prompts: none but what the question itself names, or a DBA allowed by its own word."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.app.prompt_preview import preview
from engine.link.source import StoredValues
from engine.link.value_reader import refresh_values
from engine.values.messages import Asker, AskRequest
from engine.values.settings import GenerationSettings, Limits, Strategy
from engine.values.tools import Tools
from schema_catalog.refresh import ConnectSettings
from schema_catalog.store import CatalogStore
from schema_catalog.values import ValueStore
from tests.integration.engine_service.conftest import serving
from tests.support.allowed_values import changed
from tests.support.scripted import ScriptedLLM

PLANTED = 20
"""Values of each kind; each stands in three rows, so that it repeats."""

PLANTS = {
    "customer.name": "'Ann-{n} Sample'",
    "customer.email": "'ann{n}@mail.example'",
    "customer.phone": "'+43 660 10000' || (10 + {n})",
    "customer.street": "'Oak Lane ' || (100 + {n})",
    "payment.iban": "'AT6119043002345732' || (10 + {n})",
    "payment.reference": "'4111 1111 1111 11' || (10 + {n})",
    "payment.paid_by": "'p{n}@pay.example'",
    "visit.link": "'https://social.example/in/ann{n}'",
    "visit.driver": "'Bo-{n} Driver'",
}
"""Columns with personal data, two of which only their values tell."""

TABLES = """
CREATE TABLE customer (id int PRIMARY KEY, name text, email text, phone text, street text, city text, state text);
CREATE TABLE payment (id int PRIMARY KEY, customer_id int REFERENCES customer, iban text, reference text, paid_by text,
    state text, amount numeric);
CREATE TABLE visit (id int PRIMARY KEY, customer_id int REFERENCES customer, link text, driver text, kind text,
    day date);
INSERT INTO customer SELECT i, {customer}, 'Graz ' || n % 3, (ARRAY['open', 'closed'])[1 + n % 2] FROM rows;
INSERT INTO payment SELECT i, i, {payment}, (ARRAY['paid', 'RTND'])[1 + n % 2], n FROM rows;
INSERT INTO visit SELECT i, i, {visit}, 'first', date '2026-01-01' + n FROM rows;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO ana;
"""
ASKED = (
    "How many customers are there?",
    "What are the names and e-mails of customers in Graz 1?",
    "Which phone numbers do closed customers have?",
    "Total amount of payments by state",
    "Which IBAN was used most often?",
    "List the streets where customers live",
    "Who drove to the most visits?",
    "visits per driver",
    "links of first visits",
    "Who paid more than 100, and by which card?",
)
WORDS = ("customer", "payment", "visit", "name", "email", "phone", "street", "iban", "driver", "link")


@pytest.fixture
async def asking(pool: Any, tools: Tools) -> Tools:
    """Over `music` with personal data, of which all text is allowed; a model that is asked for readings."""
    filled = {
        table: ", ".join(_sql(made) for column, made in PLANTS.items() if column.startswith(f"{table}."))
        for table in ("customer", "payment", "visit")
    }
    rows = f"CREATE TEMPORARY VIEW rows AS SELECT i, i % {PLANTED} AS n FROM generate_series(1, {3 * PLANTED}) AS i;"
    snapshot = await changed(pool, "music", rows + TABLES.format(**filled))
    database, store = (await CatalogStore(pool).get("music")).database, ValueStore(pool)
    await pool.execute(
        "SELECT nl_catalog.allow_values(element) FROM nl_catalog.columns"
        " WHERE type = 'text' AND \"table\" <> 'singer'"
    )
    await refresh_values(store, database, snapshot, tools.upstream, ConnectSettings())
    return replace(
        tools, values=StoredValues(store), generation=GenerationSettings(strategy=Strategy.READINGS)
    )


def _sql(made: str) -> str:
    """The expression for a planted value in row `n`."""
    if "||" in made:
        return made.replace("{n}", "n")
    before, _, after = made.strip("'").partition("{n}")
    return f"'{before}' || n || '{after}'"


def planted() -> list[str]:
    """All of them, as they are stored."""
    found = []
    for made in PLANTS.values():
        for n in range(PLANTED):
            text, _, number = made.partition(" || (")
            if number:
                found.append(text.strip("'") + str(int(number.partition(" ")[0]) + n))
            else:
                found.append(made.strip("'").replace("{n}", str(n)))
    return found


async def sent(asking: Tools, question: str) -> str:
    reply = await preview(AskRequest(Asker("ana", "music"), question, db="music"), asking, Limits())
    return f"{reply.system}\n{reply.user}"


async def test_no_prompt_has_personal_data_that_the_question_does_not_name(asking: Tools) -> None:
    for question in ASKED:
        prompt = await sent(asking, question)
        assert [value for value in planted() if value in prompt] == [], question
        # What is nobody's is there.
        assert "['RTND', 'paid']" in prompt or "['paid', 'RTND']" in prompt


@pytest.mark.slow
async def test_no_prompt_of_a_hundred_questions_has_any(asking: Tools) -> None:
    questions = [f"{one} and {two} of all that are near to ann or bo" for one in WORDS for two in WORDS]
    assert len(questions) == 100
    for question in questions:
        prompt = await sent(asking, question)
        assert [value for value in planted() if value in prompt] == [], question


async def test_what_the_question_names_is_shown_and_nothing_beside_it(asking: Tools) -> None:
    reply = await preview(
        AskRequest(Asker("ana", "music"), "How many payments has Ann-7 Sample?", db="music"), asking, Limits()
    )
    assert [value for value in planted() if value in reply.user] == ["Ann-7 Sample"]
    assert [(part.kind, part.text) for part in reply.personal] == [("name", "Ann-7 Sample")]


async def test_a_dba_allows_a_column_by_its_own_word(asking: Tools, pool: Any) -> None:
    await pool.execute("SELECT nl_catalog.allow_values('music.visit.driver', personal => true)")
    # Said once more without it, nothing is taken back.
    await pool.execute("SELECT nl_catalog.allow_values('music.visit.driver')")
    prompt = await sent(asking, "How many visits are there?")
    assert "driver text [e.g. 'Bo-" in prompt
    assert "@pay.example" not in prompt
    await pool.execute("SELECT nl_catalog.deny_values('music.visit.driver')")
    assert "Bo-" not in await sent(asking, "How many visits are there?")


async def test_what_the_values_tell_is_seen_by_a_dba_and_by_who_asks(asking: Tools, pool: Any) -> None:
    kinds = await pool.fetch(
        "SELECT element, personal FROM nl_catalog.allowed_values WHERE personal IS NOT NULL"
    )
    assert ("music.public.payment.reference", "account or card") in map(tuple, kinds)
    assert ("music.public.payment.paid_by", "e-mail") in map(tuple, kinds)
    model: Any = ScriptedLLM(['{"readings": [], "cannot": "none"}'])
    service = serving(replace(asking, model=model), pool, Limits())
    reply = await service.ask(AskRequest(Asker("ana", "music"), "How many visits are there?", db="music"))
    (line,) = [each.detail for each in reply.trace if each.event == "personal data, not listed"]
    assert "payment.iban (account or card)" in line
