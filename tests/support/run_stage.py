"""Candidates of a small music database that run on PostgreSQL, through the upstream that counts them."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from engine.findings.admit import accept
from engine.judge.run import run
from engine.question.question import Question
from engine.upstream import Databases
from engine.values.candidate import Candidate, Origin
from engine.values.deadline import Deadline
from engine.values.messages import Asker, AskRequest
from engine.values.ports import Result
from engine.values.settings import UpstreamSettings
from engine.values.state import Route, State
from engine.values.tools import Tools
from schema_catalog.introspect import introspect
from schema_catalog.pg import Connection
from schema_catalog.types import Database
from tests.support.tools import bare_tools

QUESTION = Question("who is the oldest?")

MUSIC = """
CREATE TABLE singer (singer_id int PRIMARY KEY, name text, alias text, country text, age int, born date);
INSERT INTO singer VALUES (1, 'Ann', 'Ann', 'FR', 30, '1990-01-01'), (2, 'Bob', 'Bob', 'FR', 40, '1980-01-01'),
    (3, 'Cy', 'Cy', 'NL', 50, '1970-01-01');
CREATE TABLE song (song_id int PRIMARY KEY, singer_id int REFERENCES singer, title text);
INSERT INTO song VALUES (1, 1, 'x'), (2, 1, 'y'), (3, 2, 'z');
CREATE TABLE stadium (stadium_id int PRIMARY KEY);
INSERT INTO stadium VALUES (1), (2), (3);
CREATE TABLE singer_country (singer_id int REFERENCES singer, country text);
INSERT INTO singer_country SELECT singer_id, country FROM singer;
CREATE TABLE duet (first_id int REFERENCES singer, second_id int REFERENCES singer);
INSERT INTO duet VALUES (1, 2), (2, 1);
GRANT SELECT ON singer, singer_country, song, stadium, duet TO ana;
"""

REPEATED = "SELECT s.country FROM singer AS s CROSS JOIN duet"
ONCE = "SELECT DISTINCT s.country FROM singer AS s CROSS JOIN duet"


class Counting(Databases):
    """The real upstream, counting what runs."""

    runs = 0

    async def run(
        self,
        database: Database,
        asker: Asker,
        sql: str,
        row_cap: int,
        deadline: Deadline,
        *,
        chosen: bool = False,
    ) -> Result:
        """Counts, then runs."""
        self.runs += 1
        return await super().run(database, asker, sql, row_cap, deadline, chosen=chosen)


@pytest.fixture
async def upstream() -> AsyncIterator[Counting]:
    made = Counting(UpstreamSettings(pool_size=4))
    yield made
    await made.aclose()


@pytest.fixture
def tools(upstream: Counting) -> Tools:
    return bare_tools(upstream=upstream)


@pytest.fixture
async def state(admin: Connection, shop: Database, upstream: Counting) -> State:
    await admin.execute(MUSIC)
    snapshot = await introspect(admin, shop)
    route = Route(shop, snapshot.restricted_to(await upstream.readable(shop, Asker("ana", "shop"))), 1.0, ())
    now = time.monotonic()
    asked = AskRequest(Asker("ana", "shop"), QUESTION.text)
    return State(asked, QUESTION, k=3, calls=6, deadline=Deadline(now + 30), started=now, routes=(route,))


async def merged(state: State, tools: Tools, *statements: str) -> State:
    """What is left of checked statements, the first one scored best."""
    candidates = tuple(
        Candidate("shop", sql, origin=Origin(schema_score=1 - number / 10))
        for number, sql in enumerate(statements)
    )
    checked = await accept(replace(state, candidates=candidates), tools)
    assert len(checked.candidates) == len(statements), checked.trace
    return await run(checked, tools)


def left(state: State) -> list[str]:
    """The statements, in their order."""
    return [candidate.sql for candidate in state.candidates]
