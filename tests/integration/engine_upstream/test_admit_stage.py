"""The validate stage against a real server: what is dropped, what it is told, what is merged."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from engine.findings.admit import Cause, Rejection, accept, admitted
from engine.question.question import Question
from engine.upstream import Databases
from engine.values.candidate import Candidate, Origin
from engine.values.deadline import Deadline
from engine.values.errors import CancelledError, DatabaseUnavailableError, NotPermittedError
from engine.values.messages import Asker, AskRequest
from engine.values.settings import UpstreamSettings
from engine.values.state import Route, State
from engine.values.tools import Tools
from pgparley.cluster import Cluster
from schema_catalog.introspect import introspect
from schema_catalog.pg import Connection
from schema_catalog.types import Database, Login
from tests.support.tools import bare_tools

UNUSED: Any = None
"""What this stage must not call: any attempt fails."""


class Counting(Databases):
    """The real upstream, counting its plans."""

    plans = 0

    async def explain(self, database: Database, asker: Asker, sql: str, deadline: Deadline) -> float:
        """Counts, then plans."""
        self.plans += 1
        return await super().explain(database, asker, sql, deadline)


@pytest.fixture
async def upstream() -> AsyncIterator[Counting]:
    made = Counting(UpstreamSettings(pool_size=2))
    yield made
    await made.aclose()


@pytest.fixture
async def route(admin: Connection, shop: Database, upstream: Counting) -> Route:
    snapshot = await introspect(admin, shop)
    return Route(shop, snapshot.restricted_to(await upstream.readable(shop, Asker("ana", "shop"))), 1.0, ())


@pytest.fixture
def tools(upstream: Counting) -> Tools:
    return bare_tools(upstream=upstream)


@pytest.fixture
def state(route: Route) -> State:
    now = time.monotonic()
    asked = AskRequest(Asker("ana", "shop"), "who?")
    return State(
        asked, Question("who?"), k=3, calls=6, deadline=Deadline(now + 30), started=now, routes=(route,)
    )


def written(sql: str, **values: Any) -> Candidate:
    return replace(Candidate("shop", sql), **values)


async def test_a_good_statement_comes_back_with_what_it_reads(
    route: Route, state: State, tools: Tools
) -> None:
    outcome = await admitted(written("SELECT name FROM customers WHERE city = 'x'; -- done"), state, tools)
    assert isinstance(outcome, Candidate)
    assert outcome.sql == "SELECT name FROM customers WHERE city = 'x'"
    assert outcome.columns == {("public", "customers", "name"), ("public", "customers", "city")}
    assert outcome.tables == {("public", "customers")}
    assert outcome.cost is not None
    assert outcome.cost > 0


REJECTED = {
    "SELECT pg_sleep(1)": (Cause.GUARD, "not allowed: function pg_sleep is not on the list"),
    "SELECT nam FROM customers": (
        Cause.NAMES,
        "column nam does not exist here; did you mean customers.name?",
    ),
    "SELECT name + 1 FROM customers": (Cause.SERVER, "operator does not exist: text + integer, at `+ 1 FROM"),
    "SELECT city, count(*) FROM customers": (Cause.SERVER, 'column "customers.city" must appear in'),
    "SELECT 1 UNION SELECT 1, 2": (Cause.SERVER, "each UNION query must have the same number"),
}


async def test_a_bad_statement_comes_back_with_what_to_mend(state: State, tools: Tools) -> None:
    for sql, (cause, message) in REJECTED.items():
        outcome = await admitted(written(sql), state, tools)
        assert isinstance(outcome, Rejection)
        assert outcome.cause is cause
        assert outcome.message.startswith(message)


async def test_hidden_names_are_in_no_message(route: Route, state: State, tools: Tools) -> None:
    """`products.price` exists, but not for this asker; PostgreSQL's own hint would give it away."""
    for sql in (
        "SELECT price FROM products",
        "SELECT pric FROM products",
        "SELECT p.pric FROM products p",
        "SELECT pric FROM products, jsonb_each('{}')",
        "SELECT room FROM bookings",
        "SELECT room FROM booking",
    ):
        outcome = await admitted(written(sql), state, tools)
        assert isinstance(outcome, Rejection)
        hidden = {"price", "bookings"} - set(sql.replace(",", " ").split())
        assert not any(name in outcome.message for name in hidden), outcome.message


async def test_validate_drops_merges_and_says_so(state: State, tools: Tools) -> None:
    state = replace(
        state,
        candidates=(
            written("SELECT name FROM customers WHERE city = 'Paris'", origin=Origin(schema_score=0.2)),
            written("DROP TABLE customers"),
            written("SELECT id FROM orders", origin=Origin(schema_score=0.4)),
            written("SELECT c.name FROM customers c WHERE 'Paris' = c.city", origin=Origin(schema_score=0.9)),
            written("SELECT missing FROM orders"),
        ),
    )
    after = await accept(state, tools)
    assert [candidate.sql for candidate in after.candidates] == [
        "SELECT c.name FROM customers c WHERE 'Paris' = c.city",
        "SELECT id FROM orders",
    ]
    assert [(line.stage, line.event) for line in after.trace] == [
        ("admit", "dropped by guard"),
        ("admit", "merged with an equal one"),
        ("admit", "dropped by names"),
    ]
    assert "DROP TABLE customers" in after.trace[0].detail
    assert "city = 'Paris'" in after.trace[1].detail
    assert after.routes == state.routes


async def test_equal_statements_of_two_databases_both_stay(state: State, tools: Tools, route: Route) -> None:
    twin = replace(route, database=replace(route.database, name="twin"))
    both = (
        written("SELECT name FROM customers"),
        replace(written("SELECT name FROM customers"), database="twin"),
    )
    after = await accept(replace(state, routes=(route, twin), candidates=both), tools)
    assert [candidate.database for candidate in after.candidates] == ["shop", "twin"]


async def test_what_concerns_the_whole_question_is_raised(
    route: Route, state: State, tools: Tools, server: Cluster
) -> None:
    candidate = written("SELECT name FROM customers")
    stranger = replace(state, ask=replace(state.ask, asker=Asker("stranger", "shop")))
    with pytest.raises(NotPermittedError):
        await admitted(candidate, stranger, tools)
    login = Login("ana", server.dsn("missing", "ana"))
    gone = replace(state, routes=(replace(route, database=replace(route.database, logins=(login,))),))
    with pytest.raises(DatabaseUnavailableError):
        await admitted(candidate, gone, tools)
    late = replace(state, deadline=Deadline(time.monotonic() - 1))
    with pytest.raises(CancelledError):
        await admitted(candidate, late, tools)
