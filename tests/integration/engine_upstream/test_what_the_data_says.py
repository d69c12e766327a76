"""What is told of statements by a look at the data: ties, rows without a partner, periods of which there is nothing."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from engine.ask.decide import decide
from engine.findings import looks
from engine.findings.admit import accept
from engine.judge.run import run
from engine.link.looking import looked
from engine.question.question import Question
from engine.upstream import Databases
from engine.values.candidate import Candidate, On, Origin
from engine.values.deadline import Deadline
from engine.values.messages import Asker, AskRequest
from engine.values.settings import GenerationSettings, Limits, UpstreamSettings
from engine.values.state import Route, State
from engine.values.tools import Tools
from schema_catalog.introspect import introspect
from schema_catalog.pg import Connection
from schema_catalog.types import Database
from tests.support.tools import bare_tools

LOANS = """
CREATE TABLE author (author_id int PRIMARY KEY, name text);
INSERT INTO author VALUES (1, 'Ann'), (2, 'Bob');
CREATE TABLE shelf (shelf_id int PRIMARY KEY, room text);
INSERT INTO shelf VALUES (1, 'x'), (2, 'y');
CREATE TABLE book (book_id int PRIMARY KEY, author_id int, title text, copies int, shelf_id int REFERENCES shelf);
INSERT INTO book VALUES (1, 1, 'a', 5, 1), (2, 2, 'b', 3, NULL), (3, 7, 'c', 3, 2), (4, 8, 'd', 3, 2),
    (5, 9, 'e', 1, 1);
CREATE TABLE loan (loan_id int PRIMARY KEY, book_id int NOT NULL REFERENCES book, lent_on date, back_at timestamp);
INSERT INTO loan VALUES (1, 1, '2025-08-01', '2025-09-01 10:00'), (2, 2, '2025-12-31', '2025-12-31 00:30'),
    (3, 3, '2024-07-09', '2024-08-01 11:00');
GRANT SELECT ON author, shelf, book, loan TO ana;
"""

QUESTION = Question("what is asked", date(2026, 11, 29))
LAST_QUARTER = "lent_on >= '2026-07-01' AND lent_on < '2026-10-01'"


@pytest.fixture
async def upstream() -> AsyncIterator[Databases]:
    made = Databases(UpstreamSettings(pool_size=4))
    yield made
    await made.aclose()


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looks have the time that a machine under load needs."""
    monkeypatch.setattr(looks, "SECONDS", 20.0)


@pytest.fixture
def tools(upstream: Databases) -> Tools:
    return bare_tools(upstream=upstream)


@pytest.fixture
async def state(admin: Connection, shop: Database, upstream: Databases) -> State:
    await admin.execute(LOANS)
    snapshot = await introspect(admin, shop)
    route = Route(shop, snapshot.restricted_to(await upstream.readable(shop, Asker("ana", "shop"))), 1.0, ())
    now = time.monotonic()
    asked = AskRequest(Asker("ana", "shop"), QUESTION.text)
    return State(asked, QUESTION, k=3, calls=6, deadline=Deadline(now + 30), started=now, routes=(route,))


async def told(state: State, tools: Tools, sql: str) -> list[tuple[str, list[str]]]:
    """The statements that are left, each with what is said of it."""
    candidate = Candidate("shop", sql, origin=Origin(schema_score=1.0))
    checked = await accept(replace(state, candidates=(candidate,)), tools)
    assert checked.candidates, checked.trace
    after = await looks.with_left_out(await run(checked, tools), tools)
    return [
        (each.sql, [found.says for found in each.findings or () if found.on is On.DATA])
        for each in after.candidates
    ]


@pytest.mark.parametrize(
    ("sql", "says"),
    {
        "SELECT title FROM book ORDER BY copies DESC LIMIT 2": [
            "leaves out 2 rows of the same rank as the last"
        ],
        "SELECT title FROM book ORDER BY copies DESC LIMIT 3": [
            "leaves out 1 row of the same rank as the last"
        ],
        "SELECT copies, count(*) FROM book GROUP BY copies ORDER BY count(*) LIMIT 1": [
            "leaves out 1 row of the same rank as the last"
        ],
        "SELECT title FROM book ORDER BY copies DESC LIMIT 1": [],
        "SELECT title FROM book ORDER BY copies LIMIT 9": [],
        "SELECT title FROM book ORDER BY copies DESC, title LIMIT 2": [],
        # References that lead nowhere: nobody declared them, or they are NULL.
        "SELECT b.title, a.name FROM book AS b JOIN author AS a ON a.author_id = b.author_id": [
            "leaves out 3 rows of book without a partner in author",
        ],
        "SELECT title, name FROM book JOIN author USING (author_id) WHERE copies > 2": [
            "leaves out 2 rows of book without a partner in author",
        ],
        "SELECT a.name FROM book AS partner JOIN author AS a ON a.author_id = partner.author_id": [
            "leaves out 3 rows of book without a partner in author",
        ],
        "SELECT count(*) FROM shelf JOIN book ON book.shelf_id = shelf.shelf_id": [
            "leaves out 1 row of book without a partner in shelf"
        ],
        "SELECT b.title FROM book AS b LEFT JOIN author AS a ON a.author_id = b.author_id": [],
        "SELECT b.title FROM book AS b JOIN author AS a ON a.author_id = b.author_id WHERE a.name = 'Ann'": [],
        "SELECT book.title FROM loan JOIN book ON loan.book_id = book.book_id": [],
    }.items(),
)
async def test_rows_that_are_left_out(state: State, tools: Tools, sql: str, says: list[str]) -> None:
    assert (await told(state, tools, sql))[0][1] == says


NOTHING = "the data holds nothing from 2026-07-01 to before 2026-10-01; the newest is of 2025-12-31"


@pytest.mark.parametrize("shown", ["COUNT(*)", "loan_id", "MAX(book_id)"])
async def test_a_period_of_which_the_data_holds_nothing(state: State, tools: Tools, shown: str) -> None:
    sql = f"SELECT {shown} FROM loan WHERE {LAST_QUARTER}"
    newest = sql.replace("2026", "2025")
    assert await told(state, tools, sql) == [(sql, [NOTHING]), (newest, [])]


@pytest.mark.parametrize("newest", ["infinity", "12026-01-01"])
async def test_a_newest_day_of_no_calendar(
    state: State, tools: Tools, admin: Connection, newest: str
) -> None:
    await admin.execute(f"INSERT INTO loan VALUES (4, 4, '{newest}')")
    sql = f"SELECT loan_id FROM loan WHERE {LAST_QUARTER}"
    assert await told(state, tools, sql) == [(sql, [])]


async def test_statements_of_one_period_are_looked_at_once(
    state: State, tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks_at = list[str]()

    async def counted(sql: str, *given: Any) -> tuple[str | None, ...] | None:
        looks_at.append(sql)
        return await looked(sql, *given)

    monkeypatch.setattr(looks, "looked", counted)
    asked = [f"SELECT {shown} FROM loan WHERE {LAST_QUARTER}" for shown in ("loan_id", "book_id", "lent_on")]
    candidates = tuple(Candidate("shop", sql, origin=Origin(schema_score=1.0)) for sql in asked)
    after = await run(await accept(replace(state, candidates=candidates), tools), tools)
    said = {each.sql: [found.says for found in each.findings or ()] for each in after.candidates}
    assert all(NOTHING in said[sql] for sql in asked)
    assert len([sql for sql in looks_at if "max(" in sql]) == 1


async def test_fewer_rows_than_the_limit_leave_out_none(state: State, upstream: Databases) -> None:
    few = bare_tools(upstream=upstream, limits=Limits(run_rows=3))
    assert await told(state, few, sql := "SELECT title FROM book ORDER BY copies LIMIT 9") == [(sql, [])]


@pytest.mark.parametrize(
    "condition",
    [
        "lent_on >= '2025-07-01' AND lent_on < '2025-10-01' AND book_id = 9",
        "lent_on < '2020-01-01'",
        "book_id = 9",
    ],
)
async def test_nothing_for_another_reason(state: State, tools: Tools, condition: str) -> None:
    sql = f"SELECT loan_id FROM loan WHERE {condition}"
    assert await told(state, tools, sql) == [(sql, [])]


async def test_what_is_off_says_nothing_and_looks_at_nothing(
    state: State, upstream: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looks, "looked", None)
    off = bare_tools(
        upstream=upstream, generation=GenerationSettings(rules_off=("newest_period", "left_out"))
    )
    for sql in (
        f"SELECT loan_id FROM loan WHERE {LAST_QUARTER}",
        "SELECT title FROM book ORDER BY copies DESC LIMIT 2",
    ):
        assert await told(state, off, sql) == [(sql, [])]


async def test_what_is_left_out_is_told_of_those_that_are_shown(
    state: State, tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks_at = list[str]()

    async def counted(sql: str, *given: Any) -> tuple[str | None, ...] | None:
        looks_at.append(sql)
        return await looked(sql, *given)

    monkeypatch.setattr(looks, "looked", counted)
    asked = [f"SELECT title FROM book ORDER BY {by} DESC LIMIT 2" for by in ("copies", "author_id % 2")]
    candidates = tuple(Candidate("shop", sql, origin=Origin(schema_score=1.0)) for sql in asked)
    ran = await run(await accept(replace(state, k=1, candidates=candidates), tools), tools)
    assert looks_at == []
    # The judgement puts the second one first, and keeps one.
    sure = replace(ran.candidates[1], confidence=0.9)
    shown = await decide(replace(ran, candidates=(sure,)), tools)
    assert len(looks_at) == 1
    (only,) = shown.candidates
    assert only.evidence.notes[-1] == "leaves out 1 row of the same rank as the last"


async def test_nothing_is_looked_at_behind_a_question_back_or_a_refusal(
    state: State, tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looks, "looked", None)
    candidate = Candidate("shop", "SELECT title FROM book ORDER BY copies DESC LIMIT 2", confidence=0.001)
    other = replace(candidate, sql=candidate.sql.replace("copies", "shelf_id"))
    checked = await accept(replace(state, candidates=(candidate, other)), tools)
    assert (await decide(await run(checked, tools), tools)).settled
