"""The ablations: which questions, what each arm lacks, and what the figures say of known answers."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from benchmarks.quality.ablations import by_question, report
from benchmarks.quality.ablations.arms import (
    ARMS,
    WHOLE,
    Trial,
    all_fruitful,
)
from benchmarks.quality.ablations.drawing import (
    DEV,
    MEASURED,
    RANKER_DATABASES,
    RANKER_QUESTIONS,
    SETS,
    TRAIN,
    drawn,
    growing,
    unfitted,
)
from benchmarks.quality.ablations.replay import Replay
from benchmarks.quality.ablations.results import Outcome, figures, interval, outcomes
from benchmarks.quality.candidates.journal import Answer, Cost, Proposal, identity
from benchmarks.quality.candidates.judging import Scorer
from benchmarks.quality.candidates.questions import Selection, read_items
from benchmarks.quality.sequential import Verdict
from benchmarks.wire.machine import Machine
from engine import pipeline
from engine.core.candidate import Candidate
from engine.core.deadline import Deadline
from engine.core.elements import Entity
from engine.core.state import Route, State
from engine.core.tools import Tools
from engine.rewrite.rule import RuleKind
from engine.rewrite.rules import RULES
from engine.settings import GenerationSettings, Limits
from engine.types import Asker, AskRequest
from schema_catalog.types import Database, Snapshot

DATABASES, QUESTIONS = 30, 12

SAID = (("wrong", "as 1", "as 2"), ("as 1", "wrong"))
"""Statements to the benchmark's fake scorer, which finds right under a reading what holds its number."""


def question(database: int, number: int) -> dict[str, Any]:
    return {
        "id": f"spider-train-{database}-{number}",
        "db": f"db{database}",
        "question": f"Which {number}?",
        "gold": f"SELECT {number // 2}",
        "gold_rows": number % 6,
    }


@pytest.fixture
def trained(bench: Path) -> Path:
    items = [question(database, number) for database in range(DATABASES) for number in range(QUESTIONS)]
    text = "".join(json.dumps(item) + "\n" for item in items)
    (bench / TRAIN.file).write_text(text, encoding="utf-8")
    return bench


def ids(bench: Path, n: int, seed: int = 1) -> list[str]:
    return [each.question.id for each in drawn(bench, TRAIN, Selection(n, seed))]


def test_questions_are_of_databases_that_the_ranker_was_not_trained_on(trained: Path) -> None:
    items = unfitted(read_items(trained / TRAIN.file))
    assert len({item["db"] for item in items}) == RANKER_DATABASES
    assert all(item["gold_rows"] for item in items)
    for name in {item["db"] for item in items}:
        golds = [item["gold"] for item in items if item["db"] == name]
        assert len(golds) == len(set(golds))
        assert QUESTIONS // 2 - RANKER_QUESTIONS <= len(golds) <= MEASURED


def test_a_smaller_sample_is_part_of_a_larger_one_and_no_database_has_more_than_its_share(
    trained: Path,
) -> None:
    small, large = ids(trained, 24), ids(trained, 60)
    assert set(small) < set(large)
    assert set(Counter(each.split("-")[2] for each in small).values()) == {1}
    order = [item["id"] for item in read_items(trained / TRAIN.file)]
    assert large == sorted(large, key=order.index)
    assert set(ids(trained, 24, seed=2)) != set(small)


def test_samples_grow_to_all_that_is_selected(trained: Path) -> None:
    samples = growing(trained, TRAIN, Selection(50, 1))
    assert [len(each) for each in samples] == [20, 40, 50]
    assert set(samples[0]) < set(samples[1]) < set(samples[2])
    assert samples[-1] == drawn(trained, TRAIN, Selection(50, 1))
    assert len(growing(trained, TRAIN, Selection(20, 1))) == 1


def test_development_questions_are_drawn_as_the_candidates_are(bench: Path) -> None:
    assert len(drawn(bench, DEV, Selection(7, 1))) == 7


def test_each_arm_is_told_apart() -> None:
    names = [arm.name for arm in ARMS]
    assert names[0] == WHOLE
    assert len(set(names)) == len(names)
    assert ARMS[0].stages is pipeline.CANDIDATE_STAGES
    for arm in ARMS[1:]:
        assert arm.stages != pipeline.CANDIDATE_STAGES or arm.adapt is not ARMS[0].adapt
    trials = [Trial.of(arm, 3, cast("Replay", None)) for arm in ARMS]
    assert len({identity(each.settings, each.sources) for each in trials}) == len(trials)
    assert {each.gateway.calls for each in trials} == {Limits().calls}
    assert Trial.of(ARMS[0], 10, cast("Replay", None)).gateway.calls == 10


async def test_stages_take_away_what_they_say() -> None:
    route = Route(
        Database("d", "", "d", ("d",)), Snapshot("d", ("d",), ()), 1.0, (), (Entity("singers", {}),)
    )
    ask = AskRequest(Asker("u", ""), "q")
    candidates = (Candidate("d", "SELECT 1", fruitless=True), Candidate("d", "SELECT 2"))
    state = State(ask, 3, 6, Deadline(1.0, lambda: 0.0), 0.0, (route,), candidates)
    tools = cast("Tools", None)
    assert [each.fruitless for each in (await all_fruitful(state, tools)).candidates] == [False, False]


def test_each_rule_and_each_switch_of_generation_has_an_arm() -> None:
    tools = Tools(*(cast("Any", None),) * 5)
    off = {
        arm.name: arm.adapt(tools).generation
        for arm in ARMS
        if arm.adapt(tools).generation != tools.generation
    }
    switches = {each.name for each in dataclasses.fields(GenerationSettings)} - {"rules_off"}
    assert set(off) == switches | {f"rule_{rule.name}" for rule in RULES} | {"readings", "rules", "lean"}
    for name in switches:
        assert off[name] == GenerationSettings(**cast("Any", {name: False}))
    for rule in RULES:
        assert off[f"rule_{rule.name}"].rules_off == (rule.name,)
    assert len(off["rules"].rules_off) == len(RULES) > len(off["readings"].rules_off)


def test_the_lean_arm_keeps_the_repairs_and_twelve_other_rules() -> None:
    lean = next(arm for arm in ARMS if arm.name == "lean")
    kinds = Counter(rule.kind for rule in RULES)
    off = lean.adapt(Tools(*(cast("Any", None),) * 5)).generation.rules_off
    assert set(off) < {rule.name for rule in RULES}
    assert not {rule.name for rule in RULES if rule.kind is RuleKind.REPAIR} & set(off)
    assert len(RULES) - len(off) == kinds[RuleKind.REPAIR] + 12


def outcome(name: str, database: str, place: int | None, seconds: float = 2.0) -> Outcome:
    return Outcome(name, database, place, ("a", "b"), Cost(seconds, model_seconds=seconds / 2), None)


def by_id(*some: Outcome) -> dict[str, Outcome]:
    return {each.id: each for each in some}


def test_gains_are_over_the_questions_that_both_answered() -> None:
    whole = by_id(outcome("1", "x", 1, 4.0), outcome("2", "x", 2), outcome("3", "y", 1), outcome("4", "y", 1))
    arm = by_id(outcome("1", "x", None), outcome("2", "x", 1, 1.0), outcome("3", "y", 2, 1.0))
    found = figures("part", "a part", arm, whole)
    assert found.n == 3
    assert found.acc1.value == pytest.approx(1 / 3)
    assert found.set_acc.value == pytest.approx(2 / 3)
    assert found.gain_acc1 is not None
    assert found.gain_acc1.value == pytest.approx(1 / 3)
    assert found.gain_set is not None
    assert found.gain_set.value == pytest.approx(1 / 3)
    assert found.seconds_ratio is not None
    assert found.seconds_ratio.value == pytest.approx(8 / 4)
    assert figures(WHOLE, "nothing", whole, whole).gain_acc1 is None


def test_an_arm_is_settled_when_neither_the_first_nor_the_set_can_change_any_more() -> None:
    def some(place: int | None, n: int) -> dict[str, Outcome]:
        return by_id(*(outcome(str(number), f"db{number}", place) for number in range(n)))

    worse, few = some(None, 20), some(None, 4)
    assert figures("part", "a part", worse, some(1, 20)).settled
    assert not figures("part", "a part", few, some(1, 4)).settled
    unplaced = figures("part", "a part", some(2, 20), some(1, 20))
    assert (unplaced.settled_acc1, unplaced.settled_set) == (Verdict.GAINS, Verdict.OPEN)
    assert not unplaced.settled
    assert not figures(WHOLE, "nothing", worse, worse).settled


def test_intervals_draw_databases_whole() -> None:
    values = [("x", 1.0)] * 50 + [("y", 0.0)] * 50

    def share(some: Sequence[tuple[str, float]]) -> float:
        return sum(value for _, value in some) / len(some)

    by_database = interval(values, lambda each: each[0], share)
    assert (by_database.value, by_database.low, by_database.high) == (0.5, 0.0, 1.0)
    numbered = interval(
        list(enumerate(values)), lambda each: str(each[0]), lambda some: share([v for _, v in some])
    )
    assert 0.35 < numbered.low < 0.5 < numbered.high < 0.65


def test_each_statement_is_judged_once_for_all_arms(bench: Path, tmp_path: Path) -> None:
    def answer(*sql: str) -> Answer:
        return Answer("spider-dev-1", tuple(map(Proposal, sql)), Cost(1.0))

    empty = Answer("spider-dev-2", (), Cost(1.0), "NL003 nothing fits")
    scorer = Scorer(bench, "postgresql:///none", tmp_path / "scoring")
    answers = {"all": (answer("wrong", "right"), empty), "part": (answer("right", "worse"),)}
    found = outcomes(scorer, DEV, {"spider-dev-1": "music", "spider-dev-2": "music"}, answers)
    assert found["all"]["spider-dev-1"].place == 2
    assert found["part"]["spider-dev-1"].place == 1
    assert not found["all"]["spider-dev-2"].found


def test_of_a_question_with_two_readings_both_are_to_be_in_the_set(bench: Path, tmp_path: Path) -> None:
    of = next(each for each in SETS if each.name == "ambiqt_c")
    asked = drawn(bench, of, Selection(2, 1))
    assert all(each.views is not None for each in asked)
    ids = [each.question.id for each in asked]
    both, one = (
        Answer(key, tuple(map(Proposal, sql)), Cost(1.0)) for key, sql in zip(ids, SAID, strict=True)
    )
    scorer = Scorer(bench, "postgresql:///none", tmp_path / "scoring")
    found = outcomes(scorer, of, dict.fromkeys(ids, "music"), {"all": (both, one)})["all"]
    assert [found[key].place for key in ids] == [2, 1]
    assert [found[key].found for key in ids] == [True, False]


MACHINE = Machine("cpu", 2, 8.0, "6", "3.11", "abc", dirty=False)


def test_the_summary_has_a_gain_for_each_part(tmp_path: Path) -> None:
    whole, arm = by_id(outcome("1", "x", 1)), by_id(outcome("1", "x", 2))
    some = [figures(WHOLE, "nothing", whole, whole), figures("masks", "masks", arm, whole)]
    run = report.Run(MACHINE, "python -m x", 1, 3, ("abc",))
    report.write_json(run, {"train": some, "dev": some}, tmp_path / "a.json")
    report.write_page(run, {"train": some}, tmp_path / "a.md")
    written = json.loads((tmp_path / "a.json").read_text())
    assert written["summary"]["masks_gain_acc1"] == 1.0
    assert written["summary"]["dev_masks_gain_set"] == 0.0
    assert written["summary"]["masks_seconds_ratio"] == 1.0
    assert written["n"] == {f"{name}/{arm}": 1 for name in ("train", "dev") for arm in ("all", "masks")}
    assert "| masks | 1 | 0.0 [0.0, 0.0] |" in (tmp_path / "a.md").read_text()


def test_questions_can_be_compared_one_by_one(tmp_path: Path) -> None:
    first = {
        WHOLE: by_id(outcome("1", "x", 1), outcome("2", "x", None)),
        "masks": by_id(outcome("1", "x", 2)),
    }
    report.write_outcomes({"train": first}, tmp_path / "now")
    earlier = {WHOLE: by_id(outcome("1", "x", None), outcome("2", "x", None))}
    report.write_outcomes({"train": earlier}, tmp_path / "before")
    now, before = by_question.read(tmp_path / "now"), by_question.read(tmp_path / "before")
    assert list(by_question.differing(now)) == ["1 all:1 masks:2; right by masks; wrong by -"]
    assert next(by_question.changed(now, before)) == "train all 1: place - -> 1"
    assert list(by_question.totals(now, before)) == [
        "train all: of 2, first right 0 -> 1 (not settled), in the set 0 -> 1 (not settled)"
    ]
