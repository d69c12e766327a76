"""A run that is cut off and taken up again ends as one that was not."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from benchmarks.harness.journal import Answer, Cost, Journal, Proposal, identity
from benchmarks.harness.questions import SPIDER, Asked, Question
from benchmarks.harness.running import Pass, run
from benchmarks.harness.systems import System, Task
from engine.values.errors import ModelUnavailableError, NoRouteError
from engine.values.ports import Prompt

ASKED = tuple(Asked(Question(f"q{number}", f"question {number}", "music")) for number in range(8))


class KilledError(BaseException):
    """Ends a run at once."""


@dataclass
class Scripted:
    """Answers with the question in capitals; some questions fail."""

    failures: dict[str, Exception] = field(default_factory=dict)
    heard: list[str] = field(default_factory=list)
    name: str = "scripted"
    lacks: str = ""
    settings: str = ""
    sources: tuple[Path, ...] = ()

    async def prepare(self, task: Task) -> None:
        """Nothing."""

    async def begins(self, task: Task) -> Prompt | None:
        """Nothing."""

    async def answer(self, task: Task) -> tuple[Proposal, ...]:
        """The text, or what was to be raised."""
        self.heard.append(task.question.id)
        if problem := self.failures.get(task.question.id):
            raise problem
        return (Proposal(task.question.text.upper(), "music", 0.5),)


async def ready(asked: Asked) -> Task:
    return Task(asked.question, None, cast("Any", None))


def ignore(_: Answer) -> None:
    """Nobody watches."""


def killing_after(answers: int) -> Callable[[Answer], None]:
    count = itertools.count(1)

    def told(_: Answer) -> None:
        if next(count) == answers:
            raise KilledError

    return told


def one_pass(path: Path, system: Scripted) -> Pass:
    return Pass(SPIDER, cast("System", system), ASKED, Journal(path, Answer))


async def measured(one: Pass, told: Callable[[Answer], None] = ignore) -> None:
    await run(one, ready, lambda seconds: Cost(round(seconds), 2, 30, 20, 10), told)


@pytest.mark.parametrize("torn", [0, 1, 25])
async def test_a_killed_run_goes_on_where_it_stopped(tmp_path: Path, torn: int) -> None:
    whole = one_pass(tmp_path / "whole.jsonl", Scripted())
    await measured(whole)
    path = tmp_path / "cut.jsonl"
    with pytest.raises(KilledError):
        await measured(one_pass(path, Scripted()), killing_after(3))
    # The kill may come in the middle of a line.
    path.write_bytes(path.read_bytes()[: -torn or None])
    again, system = one_pass(path, Scripted()), Scripted()
    again = one_pass(path, system)
    kept = 3 if torn < 2 else 2
    assert len(again.left) == 8 - kept
    await measured(again)
    assert system.heard == [each.question.id for each in ASKED[kept:]]
    assert one_pass(path, Scripted()).answers == whole.answers
    assert [answer.id for answer in whole.answers] == [each.question.id for each in ASKED]


async def test_failures_are_answers_and_told_apart(tmp_path: Path) -> None:
    system = Scripted({"q1": NoRouteError("nothing fits"), "q2": KeyError("a fault")})
    one = one_pass(tmp_path / "a.jsonl", system)
    await measured(one)
    told, fault = one.answers[1], one.answers[2]
    assert (told.proposals, told.error, told.crashed) == ((), "NL003 nothing fits", False)
    assert (fault.proposals, fault.error, fault.crashed) == ((), "KeyError: 'a fault'", True)
    assert one.answers[3].error is None


async def test_a_model_that_is_gone_ends_the_run_and_is_no_answer(tmp_path: Path) -> None:
    one = one_pass(tmp_path / "a.jsonl", Scripted({"q2": ModelUnavailableError("gone")}))
    with pytest.raises(ModelUnavailableError):
        await measured(one)
    assert [answer.id for answer in one.answers] == ["q0", "q1"]


def test_a_question_is_answered_once(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "a.jsonl", Answer)
    journal.add(Answer("q", (), Cost(1.0)))
    with pytest.raises(ValueError, match="q is answered already"):
        journal.add(Answer("q", (), Cost(1.0)))


def test_answers_of_other_settings_or_other_code_are_not_taken(tmp_path: Path) -> None:
    code = tmp_path / "code.py"
    code.write_text("a")
    first = identity("k=6", [code])
    assert first == identity("k=6", [code])
    assert first != identity("k=5", [code])
    code.write_text("b")
    assert first != identity("k=6", [code])
