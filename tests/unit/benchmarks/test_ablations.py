"""The ablations: what each arm lacks, and that each part that can be switched off has one."""

from __future__ import annotations

import dataclasses
from typing import Any, cast

from benchmarks.harness.journal import identity
from benchmarks.quality.ablations.arms import ARMS, WHOLE, all_fruitful, system
from engine import pipeline
from engine.core.candidate import Candidate
from engine.core.deadline import Deadline
from engine.core.elements import Entity
from engine.core.state import Route, State
from engine.core.tools import Tools
from engine.rewrite.rules import RULES
from engine.settings import GenerationSettings
from engine.types import Asker, AskRequest
from schema_catalog.types import Database, Snapshot
from tests.support.tools import bare_tools


def test_each_arm_is_told_apart() -> None:
    names = [arm.name for arm in ARMS]
    assert names[0] == WHOLE
    assert len(set(names)) == len(names)
    assert ARMS[0].stages is pipeline.CANDIDATE_STAGES
    for arm in ARMS[1:]:
        assert arm.stages != pipeline.CANDIDATE_STAGES or arm.adapt is not ARMS[0].adapt
    systems = [system(arm, 3) for arm in ARMS]
    assert len({identity(each.settings, each.sources) for each in systems}) == len(systems)


async def test_stages_take_away_what_they_say() -> None:
    route = Route(
        Database("d", "", "d", ("d",)), Snapshot("d", ("d",), ()), 1.0, (), (Entity("singers", {}),)
    )
    ask = AskRequest(Asker("u", ""), "q")
    candidates = (Candidate("d", "SELECT 1", fruitless=True), Candidate("d", "SELECT 2"))
    state = State(ask, 3, 6, Deadline(1.0, lambda: 0.0), 0.0, (route,), candidates)
    tools = cast("Tools", None)
    assert [each.fruitless for each in (await all_fruitful(state, tools)).candidates] == [False, False]


def test_each_rule_and_each_part_that_is_on_has_an_arm() -> None:
    tools = bare_tools(*(cast("Any", None),) * 5)
    off = {
        arm.name: arm.adapt(tools).generation
        for arm in ARMS
        if arm.adapt(tools).generation != tools.generation
    }
    switches = {each.name for each in dataclasses.fields(GenerationSettings) if each.default is True}
    assert set(off) == switches | {f"rule_{rule.name}" for rule in RULES} | {"readings", "rules"}
    for name in switches:
        assert off[name] == GenerationSettings(**cast("Any", {name: False}))
    for rule in RULES:
        assert off[f"rule_{rule.name}"].rules_off == (rule.name,)
    assert len(off["rules"].rules_off) == len(RULES) > len(off["readings"].rules_off)
