"""What a hosted service is told of questions with personal data: marks, and the answers are the same."""

from __future__ import annotations

import json
import re
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest

from engine.app.checking import check_pending
from engine.app.service import Service
from engine.learn.store import LearningStore
from engine.link.source import StoredValues
from engine.link.value_reader import refresh_values
from engine.llm.client import ChatModel
from engine.llm.fallback import FallbackModel
from engine.values.deadline import Deadline
from engine.values.errors import ModelAwayError
from engine.values.messages import Asker, AskRequest, ChooseRequest, Topic, TopicRequest
from engine.values.model_settings import ModelSettings, Redacted
from engine.values.settings import GenerationSettings, LearningSettings, Limits
from engine.values.tools import Tools
from schema_catalog.refresh import ConnectSettings
from schema_catalog.store import CatalogStore
from schema_catalog.values import ValueStore
from tests.integration.engine_service.conftest import serving
from tests.support.allowed_values import changed
from tests.support.providers import PROVIDERS, serve
from tests.support.providers import Service as Stand

ANA = Asker("ana", "music")


@dataclass(frozen=True)
class Person:
    """Whose data is asked about, as people write it."""

    n: int

    @property
    def name(self) -> str:
        return f"Ann {'ABCDEFGH'[self.n]}. Sample"

    @property
    def email(self) -> str:
        return f"ann_{self.n}.sample@mail{self.n}.example"

    @property
    def phone(self) -> str:
        return f"+43 660 7654 32{self.n}"

    @property
    def mobile(self) -> str:
        return f"+43 664 1000 00{self.n}"

    @property
    def iban(self) -> str:
        bank = f"AT00190430023457320{self.n}"
        number = int("".join(str(int(each, 36)) for each in bank[4:] + bank[:4]))
        return f"AT{98 - number % 97:02}{bank[4:]}"

    @property
    def card(self) -> str:
        body = f"411111111111{self.n}00"
        for last in range(10):
            for before in "0123456789":
                digits = f"{body}{before}{last}"[:16]
                doubled = (int(each) * (1 + place % 2) for place, each in enumerate(reversed(digits)))
                if sum(each - 9 * (each > 9) for each in doubled) % 10 == 0:
                    return " ".join(digits[at : at + 4] for at in range(0, 16, 4))
        raise AssertionError


PEOPLE = [Person(n) for n in range(8)]

TEMPLATES = {
    "email": (
        "In which city does the client with the e-mail {} live?",
        "SELECT city FROM client WHERE email = '{}'",
    ),
    "phone": (
        "What is the name of the client whose phone is {}?",
        "SELECT name FROM client WHERE phone = '{}'",
    ),
    "mobile": (
        "Which city has the client with the mobile {}?",
        "SELECT city FROM client WHERE mobile = '{}'",
    ),
    "iban": (
        "How many orders did the account {} pay?",
        "SELECT count(*) FROM orders JOIN client ON orders.client_id = client.id WHERE iban = '{}'",
    ),
    "card": (
        "What do the orders with the card {} sum up to?",
        "SELECT sum(net) FROM orders JOIN client ON orders.client_id = client.id WHERE card LIKE '{}'",
    ),
    "like": (
        "Which clients have something like {} as e-mail?",
        "SELECT id FROM client WHERE email LIKE '%{}%'",
    ),
    "name": ('Which city is "{}" from?', "SELECT city FROM client WHERE name = '{}'"),
}
"""A question of each kind, and the statement that a model makes of it."""

ASKED = [
    (kind, TEMPLATES[kind][0].format(getattr(person, "email" if kind == "like" else kind)))
    for kind, people in (
        ("email", PEOPLE),
        ("phone", PEOPLE[:7]),
        ("mobile", PEOPLE[:5]),
        ("iban", PEOPLE[:5]),
        ("card", PEOPLE[:5]),
        ("like", PEOPLE[:5]),
        ("name", PEOPLE[:5]),
    )
    for person in people
]


def says(body: dict[str, Any]) -> str:
    """A model that copies a question's literal into its statement, and digits alone where a column is of numbers."""
    user = body["messages"][-1]["content"]
    for kind, (question, sql) in TEMPLATES.items():
        found = re.findall(re.escape(question).replace(r"\{\}", "(.+)"), user)
        if found:
            literal = found[-1]
            if kind == "mobile" and literal.startswith("+"):
                literal = "".join(filter(str.isdigit, literal))
            reading = {
                "meaning": f"about {literal}",
                "sql": sql.format(literal.replace("'", "''")),
                "assumes": "",
            }
            return json.dumps({"question": None, "readings": [reading], "cannot": None}, ensure_ascii=False)
    return '{"answer": "yes"}' if "response_format" in body else "yes"


def personal(people: Sequence[Person] = PEOPLE) -> set[str]:
    """All of it, as it is written and stored."""
    written = {
        value
        for each in people
        for value in (each.name, each.email, each.phone, each.mobile, each.iban, each.card)
    }
    return written | {re.sub(r"[+ ]", "", value) for value in written if any(map(str.isdigit, value))}


@pytest.fixture
async def asking(pool: Any, tools: Tools) -> Tools:
    """Over `music` with clients and their orders, all of whose texts may be shown."""
    rows = ", ".join(
        f"({each.n}, '{each.name}', '{each.email}', '{each.phone}', {''.join(filter(str.isdigit, each.mobile))},"
        f" '{each.iban}', '{each.card}', 'Town {each.n}')"
        for each in PEOPLE
    )
    snapshot = await changed(
        pool,
        "music",
        "CREATE TABLE client (id int PRIMARY KEY, name text, email text, phone text, mobile bigint, iban text,"
        " card text, city text);"
        "CREATE TABLE orders (id int PRIMARY KEY, client_id int REFERENCES client, net int);"
        f"INSERT INTO client VALUES {rows};"
        "INSERT INTO orders SELECT i, i % 8, i FROM generate_series(1, 40) AS i;"
        "GRANT SELECT ON ALL TABLES IN SCHEMA public TO ana;",
    )
    database, store = (await CatalogStore(pool).get("music")).database, ValueStore(pool)
    await pool.execute(
        "SELECT nl_catalog.allow_values(element) FROM nl_catalog.columns WHERE type = 'text'"
        " AND \"table\" = 'client'"
    )
    await refresh_values(store, database, snapshot, tools.upstream, ConnectSettings())
    return replace(
        tools,
        values=StoredValues(store),
        generation=GenerationSettings(),
        memory=LearningStore(pool, LearningSettings(example_similarity=0.1)),
        learning=LearningSettings(example_similarity=0.1),
    )


@asynccontextmanager
async def served(
    tools: Tools, pool: Any, answer: Any = says, **settings: Any
) -> AsyncIterator[tuple[Stand, Service]]:
    """A service that records what it is sent, and the engine's that asks it."""
    async with serve(PROVIDERS["openai"], answer) as stand:
        given = ModelSettings(base_url=stand.base_url, api_key=stand.key, model=stand.model, **settings)
        model = ChatModel(given, stand.base_url)
        await model.find_out(Deadline(time.monotonic() + 20))
        stand.requests.clear()
        try:
            yield stand, serving(replace(tools, model=model), pool, Limits(k=3))
        finally:
            await model.aclose()


def sent(stand: Stand) -> str:
    return "\n".join(json.dumps(each, ensure_ascii=False) for each in stand.requests)


async def answers(service: Service, asked: Sequence[tuple[str, str]]) -> list[Any]:
    found = []
    for _, question in asked:
        reply = await service.ask(AskRequest(ANA, question, db="music", ask=False))
        chosen = await service.choose(ChooseRequest(ANA, reply.qid, 1, learn=False))
        found.append(chosen.rows)
    return found


TWO_OF_EACH = [pair for kind in TEMPLATES for pair in [each for each in ASKED if each[0] == kind][:2]]


# Forty show more values of the same kinds.
@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    "asked", [TWO_OF_EACH, pytest.param(ASKED, marks=pytest.mark.slow)], ids=["two of each", "forty"]
)
async def test_questions_have_the_same_answers_and_no_prompt_has_their_data(
    asking: Tools, pool: Any, asked: Sequence[tuple[str, str]]
) -> None:
    assert len(ASKED) == 40
    async with served(asking, pool, redact=()) as (stand, service):
        plain = await answers(service, asked)
        assert sum(value in sent(stand) for value in personal()) >= len(asked) * 3 / 4
    async with served(asking, pool, redact=tuple(Redacted)) as (stand, service):
        hidden = await answers(service, asked)
        assert len(stand.requests) >= len(asked)
        assert [value for value in personal() if value in sent(stand)] == []
    assert all(plain)
    assert plain == hidden


async def test_the_asker_is_told_what_was_hidden_and_shown_what_left(asking: Tools, pool: Any) -> None:
    async with served(asking, pool) as (stand, service):
        reply = await service.ask(AskRequest(ANA, ASKED[0][1], db="music"))
        assert reply.notices == ("hidden from the model: 1 email",)
        assert PEOPLE[0].email in (reply.rows[0].sql or "")
        assert PEOPLE[0].email in reply.rows[0].explanation
        rows = (await service.topic(TopicRequest(ANA, Topic.PROMPT, reply.qid))).rows
        told = {role: content for _, role, content in rows}
        assert told["to"] == f"{stand.model} at {stand.base_url.split('/')[2]}"
        assert told["user"] == stand.requests[0]["messages"][-1]["content"]
        preview = await service.prompt(AskRequest(ANA, ASKED[0][1], db="music"))
        assert (preview.to, preview.user) == (told["to"], told["user"])


async def test_a_local_service_gets_the_text(asking: Tools, pool: Any) -> None:
    async with served(asking, pool, local=True) as (stand, service):
        reply = await service.ask(AskRequest(ANA, ASKED[0][1], db="music"))
        assert reply.notices == ()
        assert PEOPLE[0].email in sent(stand)


async def test_history_and_worked_examples_are_hidden(asking: Tools, pool: Any) -> None:
    await pool.execute(
        "SELECT nl_catalog.verify('music', 'In which city does the client ann_7.sample@mail7.example live?',"
        " 'SELECT city FROM client WHERE id = 7')"
    )
    await check_pending(pool, asking.upstream)
    async with served(asking, pool) as (stand, service):
        first = await service.ask(AskRequest(ANA, ASKED[0][1], db="music"))
        await service.ask(
            AskRequest(
                ANA, "and what about the client with the e-mail ann_1.sample@mail1.example?", after=first.qid
            )
        )
        said = sent(stand)
        assert "Statement: " in said
        assert re.search("city does the client ⟨email [0-9a-f]{8}⟩ live", said)
        assert said.count("⟨email") >= 4
        assert [value for value in personal() if value in said and "@" in value] == []


async def test_an_error_in_the_second_call_shows_nothing(asking: Tools, pool: Any) -> None:
    def first_wrong(body: dict[str, Any]) -> str:
        return re.sub("email = ('[^']*')", r"CAST(\1 AS date) IS NULL", says(body))

    async with served(asking, pool, first_wrong) as (stand, service):
        await service.ask(AskRequest(ANA, ASKED[0][1], db="music"))
        assert len(stand.requests) == 2
        assert "invalid input syntax" in sent(stand)
        assert PEOPLE[0].email not in sent(stand)
        assert "ann_0" not in sent(stand)


async def test_no_hosted_model_is_asked_of_a_local_database(asking: Tools, pool: Any) -> None:
    await pool.execute("SELECT nl_catalog.set_local('music')")
    question = AskRequest(ANA, ASKED[0][1], db="music")
    async with served(asking, pool) as (stand, service):
        with pytest.raises(ModelAwayError, match="no model may be asked about this database") as refused:
            await service.ask(question)
        assert "local = true" in (refused.value.hint or "")
        with pytest.raises(ModelAwayError):
            await service.prompt(question)
        assert stand.requests == []
        await pool.execute("SELECT nl_catalog.set_local('music', false)")
        assert (await service.ask(question)).rows[0].sql is not None


async def test_a_local_service_that_stands_in_is_asked_of_it(asking: Tools, pool: Any) -> None:
    await pool.execute("SELECT nl_catalog.set_local('music')")
    async with serve(PROVIDERS["openai"], says) as hosted, serve(PROVIDERS["openai"], says) as own:
        models = []
        for stand, local in ((hosted, False), (own, True)):
            settings = ModelSettings(
                base_url=stand.base_url, api_key=stand.key, model=stand.model, local=local
            )
            models.append(ChatModel(settings, stand.base_url))
            await models[-1].find_out(Deadline(time.monotonic() + 20))
            stand.requests.clear()
        service = serving(replace(asking, model=FallbackModel(models)), pool, Limits(k=3))
        reply = await service.ask(AskRequest(ANA, ASKED[0][1], db="music"))
        assert PEOPLE[0].email in (reply.rows[0].sql or "")
        assert (hosted.requests, len(own.requests)) == ([], 1)
        rows = (await service.topic(TopicRequest(ANA, Topic.PROMPT, reply.qid))).rows
        assert str(rows[0][2]).endswith("(local)")
        for model in models:
            await model.aclose()


async def test_a_local_database_shares_no_prompt(asking: Tools, pool: Any) -> None:
    """Of two that may answer the likelier one is asked about alone."""
    await changed(
        pool,
        "copy",
        "CREATE TABLE client (id int PRIMARY KEY, secret_of_copy text, email text, city text);"
        "GRANT SELECT ON client TO ana;",
    )
    await pool.execute("SELECT nl_catalog.set_local('copy')")
    async with served(asking, pool) as (stand, service):
        await service.ask(AskRequest(ANA, ASKED[0][1]))
        assert len(stand.requests) == 1
        assert "secret_of_copy" not in sent(stand)
