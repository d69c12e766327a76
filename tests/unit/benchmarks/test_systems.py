"""The systems: what they send, and what they give back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from benchmarks.harness.questions import Question
from benchmarks.harness.systems import READER, Gateway, Place, Task
from benchmarks.quality.ablations.arms import ORIGINS
from engine.app import pipeline
from engine.findings.rules import RULES
from engine.values.candidate import Candidate
from engine.values.settings import GenerationSettings, Limits, Strategy
from engine.values.state import State
from engine.values.tools import Tools
from schema_catalog.types import Database
from tests.support.schemas import MUSIC
from tests.support.tools import bare_tools


def task() -> Task:
    place = Place(Database("music", "postgresql:///x", "x", ("music",)), MUSIC)
    settings = GenerationSettings(strategy=Strategy.SEARCH)
    given = bare_tools(*(cast("Any", None),) * 5, generation=settings)
    return Task(Question("q", "Who sings?", "music"), place, given)


async def test_pgparley_is_the_pipeline_with_real_stages_and_the_asked_ks() -> None:
    heard: list[State] = []

    async def write(state: State, tools: Tools) -> State:
        heard.append(state)
        found = [Candidate("music", f"SELECT {n}", confidence=0.25) for n in range(5)]
        return replace(state, candidates=tuple(found))

    system = Gateway("pgparley", 3, stages=(write,))
    proposals = await system.answer(task())
    assert [each.sql for each in proposals] == ["SELECT 0", "SELECT 1", "SELECT 2"]
    assert proposals[0].confidence == 0.25
    assert (heard[0].ask.db, heard[0].ask.asker.user, heard[0].k, heard[0].calls) == (
        "music",
        READER,
        3,
        Limits().calls,
    )
    assert Gateway("pgparley", 3).stages is pipeline.CANDIDATE_STAGES


def test_every_rule_was_written_for_questions_of_one_origin() -> None:
    written = [name for each in ORIGINS for name in each.rules]
    assert sorted(written) == sorted(rule.name for rule in RULES)
