"""Which statements become candidates: what the model wrote where it is accepted, and what rules make beside it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from engine.findings.admit import Cause, Door, Rejection, accept
from engine.findings.lint import Context
from engine.question.question import Question
from engine.values.candidate import Candidate, Origin
from engine.values.settings import GenerationSettings
from schema_catalog.types import Snapshot
from tests.support.asking import PlanningUpstream, asked, route, tools
from tests.support.golden_rules import SCHEMAS
from tests.support.schemas import MUSIC


def door(
    question: str, upstream: PlanningUpstream, snapshot: Snapshot = MUSIC, off: tuple[str, ...] = ()
) -> Door:
    to = route(question, snapshot)
    context = Context(snapshot, Question(question))
    given = replace(tools("", upstream), generation=GenerationSettings(rules_off=off))
    return Door(context, to, asked(question, to), given)


def checked(given: Door, sql: str) -> Candidate | Rejection:
    return asyncio.run(given.admitted(Candidate("music", sql, origin=Origin(logprob=-0.1))))


def accepted(given: Door, sql: str) -> Candidate:
    outcome = checked(given, sql)
    assert isinstance(outcome, Candidate)
    return outcome


def test_an_accepted_statement_is_not_repaired() -> None:
    written = "select  title from concert\n order by year DESC"
    upstream = PlanningUpstream()
    outcome = accepted(door("titles", upstream), written)
    assert (outcome.sql, outcome.changes, outcome.origin.logprob) == (written, (), -0.1)
    assert upstream.planned == [written]


def test_a_repaired_statement_stands_in_the_place_of_the_refused_one() -> None:
    upstream = PlanningUpstream()
    outcome = accepted(door("titles", upstream), "SELECT title FROM concert ORDER BY capacity")
    assert [change.rule for change in outcome.changes] == ["requalify", "join_missing_tables"]
    assert upstream.planned == [outcome.sql]
    assert outcome.origin.logprob is None, "the model wrote another text"
    refused = PlanningUpstream({"SUM(capacity)": "function sum(text) does not exist"})
    outcome = accepted(door("capacity in all", refused), "SELECT SUM(capacity) FROM stadium")
    assert [change.rule for change in outcome.changes] == ["text_as_number"]
    assert refused.planned == ["SELECT SUM(capacity) FROM stadium", outcome.sql]


def test_where_the_repaired_one_is_refused_as_well_the_first_refusal_stays() -> None:
    upstream = PlanningUpstream({"SUM(capacity)": "no such function", "SUBSTRING": "another reason"})
    outcome = checked(door("capacity in all", upstream), "SELECT SUM(capacity) FROM stadium")
    assert outcome == Rejection(Cause.SERVER, "no such function")
    assert len(upstream.planned) == 2


@pytest.mark.parametrize("sql", ["DELETE FROM singer", "SELECT pg_sleep(SUM(capacity)) FROM stadium"])
def test_what_the_guard_refuses_is_not_repaired(sql: str) -> None:
    upstream = PlanningUpstream()
    outcome = checked(door("capacity in all", upstream), sql)
    assert isinstance(outcome, Rejection)
    assert outcome.cause is Cause.GUARD
    assert upstream.planned == []


def test_a_normal_form_stands_in_the_place_of_the_statement() -> None:
    sql = "SELECT c.title FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id"
    given = door("stadium", PlanningUpstream(), SCHEMAS["required"])
    outcome = accepted(given, sql)
    assert outcome.sql == "SELECT c.title FROM concert AS c"
    (change,) = outcome.changes
    assert (change.rule, change.kind, change.before) == ("drop_total_join", "normalise", sql)


def test_only_readings_that_would_run_are_given() -> None:
    sql = "SELECT c.title FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id ORDER BY c.year LIMIT 2"
    upstream = PlanningUpstream(
        {"c ORDER BY c.year LIMIT 2": "not today", "concert AS c ORDER BY c.year": "nor now"}
    )
    given = door("concerts, ordered by year", upstream)
    candidate = accepted(given, sql)
    found = asyncio.run(given.readings(candidate))
    assert candidate.sql == sql
    assert [(each.sql, each.origin.logprob) for each in found] == [(sql.removesuffix(" LIMIT 2"), None)]
    assert len(upstream.planned) == 4, "the statement and three readings"


def test_what_was_found_of_a_statement_before_is_found_anew() -> None:
    given = door("all titles", PlanningUpstream())
    written = Candidate(
        "music", "SELECT title FROM concert ORDER BY year LIMIT 2", origin=Origin(logprob=-0.1)
    )
    first = asyncio.run(accept(replace(given.state, candidates=(written,)), given.tools)).candidates[0]
    assert [each.lint for each in first.findings or ()] == ["drop_unasked_limit"]
    again = replace(given.state, candidates=(replace(first, cost=None),), question=Question("two titles"))
    assert asyncio.run(accept(again, given.tools)).candidates[0].findings == ()
