"""A session with a model that gives readings: what goes on, what is given again, and what runs unread."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from engine.app.repeats import Repeats
from engine.app.service import Service
from engine.link import missing_values
from engine.values.messages import Asker, AskReply, AskRequest, MoreRequest, RowKind
from engine.values.model_profile import ModelProfile
from engine.values.ports import Completion, Prompt
from engine.values.settings import GenerationSettings, Limits, Strategy
from engine.values.tools import Tools
from tests.integration.engine_service.conftest import serving

ANA = Asker("ana", "music")
PAIRS = "SELECT a.age > 0 AS grown FROM singer AS a CROSS JOIN singer AS b"


class Instructed:
    """Says of each question, by its own words, what it was told to."""

    def __init__(self) -> None:
        self.said: dict[str, dict[str, object]] = {}
        self.prompts: list[Prompt] = []
        self.profile = ModelProfile()

    def says(self, question: str, /, *readings: tuple[str, str], **more: object) -> None:
        listed = [{"meaning": meaning, "sql": sql, "assumes": ""} for meaning, sql in readings]
        self.said[question] = {**more, "readings": listed, "cannot": None}

    async def complete(self, prompt: Prompt, **_: object) -> Completion:
        self.prompts.append(prompt)
        question = prompt.user.rpartition("### Question\n")[2].partition("\n\n")[0].strip()
        return Completion(json.dumps(self.said[question]), 10, 0, 5, None, finished=True)


@pytest.fixture
def instructed() -> Instructed:
    return Instructed()


@pytest.fixture
def session(tools: Tools, pool: Any, instructed: Instructed) -> Service:
    model: Any = instructed
    built = replace(tools, model=model, generation=GenerationSettings(strategy=Strategy.READINGS))
    return serving(built, pool, Limits(k=3), repeats=Repeats("recipe", 3600.0))


async def ask(session: Service, question: str, after: AskReply | None = None, **more: Any) -> AskReply:
    qid = None if after is None else after.qid
    return await session.ask(AskRequest(ANA, question, after=qid, **more))


WAIT, LONG = "How many singers are there?", "how old have they been?"
NAMES = "Which names do the singers have?"


async def test_the_model_says_what_goes_on_and_what_stands_by_itself(
    session: Service, instructed: Instructed
) -> None:
    instructed.says(WAIT, ("number of singers", "SELECT count(*) FROM singer"))
    first = await ask(session, WAIT)
    assert "Asked before" not in instructed.prompts[-1].user
    full = "How old are the singers?"
    by = ("oldest alone", "SELECT max(age) FROM singer")
    instructed.says(LONG, ("age of each", "SELECT age FROM singer"), by, question=full)
    second = await ask(session, LONG, first)
    told = instructed.prompts[-1].user
    assert "'number of singers'\nStatement: SELECT count(*) FROM singer" in told
    assert [row.explanation for row in second.rows] == [
        f"Read as: \u201c{full}\u201d. age of each",
        "oldest alone",
    ]
    instructed.says("and their names?", ("names", "SELECT name FROM singer"), question="Which names?")
    await ask(session, "and their names?", second)
    told = instructed.prompts[-1].user
    assert told.index(WAIT) < told.index(full), "all of the dialogue"
    assert "SELECT age FROM singer" in told
    instructed.says(NAMES, ("first names", "SELECT name FROM singer"), question=None)
    alone = await ask(session, NAMES, second)
    assert [row.explanation for row in alone.rows] == ["first names"]


async def test_what_stands_by_itself_is_given_again_wherever_it_is_asked(
    session: Service, instructed: Instructed
) -> None:
    instructed.says(WAIT, ("number of singers", "SELECT count(*) FROM singer"))
    instructed.says(NAMES, ("first names", "SELECT name FROM singer"), question=None)
    first = await ask(session, WAIT)
    names = await ask(session, NAMES, first)
    assert (await ask(session, NAMES)).qid == names.qid
    assert (await ask(session, NAMES, first)).qid == names.qid
    assert (await ask(session, WAIT, names)).qid != first.qid, (
        "what a model has not said of it is asked of it"
    )


async def test_a_follow_up_is_given_again_behind_the_same_turn_alone(
    session: Service, instructed: Instructed
) -> None:
    instructed.says(WAIT, ("number of singers", "SELECT count(*) FROM singer"))
    instructed.says(NAMES, ("first names", "SELECT name FROM singer"))
    instructed.says(LONG, ("age of each", "SELECT age FROM singer"), question="How old are the singers?")
    first, names = await ask(session, WAIT), await ask(session, NAMES)
    aged = await ask(session, LONG, first)
    assert (await ask(session, LONG, first)).qid == aged.qid
    calls = len(instructed.prompts)
    assert (await ask(session, LONG, names)).qid != aged.qid
    assert len(instructed.prompts) > calls


ALL, AGES = ("names", "SELECT name FROM singer"), ("ages", "SELECT age FROM singer")
KNOWN = ("known", "SELECT name FROM singer WHERE age > 1")


async def test_what_is_one_reading_runs_whatever_a_rule_put_beside_it(
    session: Service, instructed: Instructed
) -> None:
    """Each once beside it; alone; two readings; the same today."""
    for number, (readings, members, rows) in enumerate(
        [([("pairs", PAIRS)], 1, 2), ([ALL], 1, 1), ([ALL, AGES], 2, 2), ([ALL, KNOWN], 1, 1)]
    ):
        question = f"{WAIT} {number}"
        instructed.says(question, *readings)
        reply = await ask(session, question, run=True, ask=False)
        assert (reply.members, reply.rows[0].sql) == (members, readings[0][1])
        assert len((await ask(session, question)).rows) == rows


async def test_what_is_not_stored_keeps_a_reading_from_running(
    session: Service, instructed: Instructed, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A look may take its time on a busy machine.
    monkeypatch.setattr(missing_values, "SECONDS", 30.0)
    monkeypatch.setattr(missing_values, "CASE_SECONDS", 30.0)
    instructed.says(WAIT, ("joes", "SELECT age FROM singer WHERE name = 'joe'"))
    reply = await ask(session, WAIT, run=True, ask=False)
    assert reply.rows[0].sql == "SELECT age FROM singer WHERE name = 'joe'"
    assert len(reply.rows) == reply.members == 2


async def test_what_gives_the_rows_of_one_shown_before_is_told_and_not_shown_again(
    session: Service, instructed: Instructed
) -> None:
    instructed.says(NAMES, ("first names", "SELECT name FROM singer"))
    first = await ask(session, NAMES)
    same = ("names of all who sing", "SELECT name FROM singer WHERE name IS NOT NULL OR name IS NULL")
    instructed.says(
        NAMES, same, ("ages", "SELECT age FROM singer"), ("again", "SELECT s.name FROM singer AS s")
    )
    more = await session.more(MoreRequest(ANA, first.qid))
    assert "SELECT name FROM singer" in instructed.prompts[-1].user
    (row,) = more.rows
    assert row.sql == "SELECT age FROM singer"
    assert row.explanation == (
        "ages; not shown: \u201cnames of all who sing\u201d, because it gives the rows of one shown before"
    )
    instructed.says(NAMES, same)
    nothing = await session.more(MoreRequest(ANA, more.qid))
    assert [each.kind for each in nothing.rows] == [RowKind.ABSTAIN]
    assert nothing.rows[0].explanation.startswith("Nothing new passed all checks")
