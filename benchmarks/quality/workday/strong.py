"""Whether a right statement of a strong model survives: what is right is given as the model's readings of a question.

Owns what became of each, and the line of the trace that did it. It is a ceiling: no figure here stands beside those of
systems that find statements themselves.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from benchmarks.harness.drawing import Item, read_items
from benchmarks.harness.questions import Question, QuestionSet
from benchmarks.harness.scorer import JudgingError
from benchmarks.harness.site import Site
from benchmarks.harness.systems import asked_now
from benchmarks.quality.models.recorded import answering_with, reply, shown
from benchmarks.quality.workday.cases import Cases, Judge
from engine.app import pipeline
from engine.values.candidate import Candidate, RuleKind
from engine.values.errors import NLError
from engine.values.messages import TraceLine
from engine.values.tools import Tools

CALLS = 6
"""Of the model for a question at most, as for a user's."""

ARMS = {"strong": False, "strong_beside": True}
"""Whether there is a second reading, by the names of the figures."""

SPELLINGS = Path(__file__).with_name("spellings.sql")
"""What else is right, as strong models write it."""

GONE = ("refused by", "dropped by", "gives the same rows")
"""What a trace says of a statement that is not shown, by the beginnings of its events."""


class Fate(StrEnum):
    """What became of the right statement: it stands first, behind another one, as another one, or nowhere."""

    FIRST = "first"
    PUSHED_BACK = "pushed back"
    CHANGED = "changed"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Survival:
    """What became of a statement. `by`: what of the trace did it; of one that is first, how its text was changed."""

    id: str
    sql: str
    fate: Fate
    by: str = ""

    @property
    def whole(self) -> bool:
        """Whether it is first as it was written."""
        return self.fate is Fate.FIRST and not self.by


@dataclass(frozen=True, slots=True)
class Answered:
    """What is shown where a model says `sql`, and how it came to be. `problem`: why it ended before."""

    id: str
    sql: str
    shown: tuple[Candidate, ...] = ()
    trace: tuple[TraceLine, ...] = ()
    problem: str = ""


async def survivals(cases: Cases, place: Site, k: int, *, beside: bool) -> list[Survival]:
    """Asks with each right statement as a model's only reading, or `beside` another question's, which it puts second.

    Raises `JudgingError`, also where a statement is not right.
    """
    items = read_items(cases.bench / "workday/questions.jsonl")
    wanted = statements(items, SPELLINGS.read_text(encoding="utf-8"))
    judge = Judge(cases, place.cluster.dsn())
    wrong = [key for key, right in _judged(judge, wanted).items() if not all(right)]
    if wrong:
        raise JudgingError(f"a spelling is not right: {', '.join(wrong)}")
    found: list[Survival] = []
    for number in range(max(map(len, wanted.values()))):
        said = {
            key: (some[number], *([_rival(key, wanted)] if beside else []))
            for key, some in wanted.items()
            if len(some) > number
        }
        found += await _round([each for each in items if each["id"] in said], said, (place, judge), k)
    return found


def statements(items: Sequence[Item], spellings: str) -> dict[str, list[str]]:
    """The gold statements of each question, and behind them its other spellings: a comment with its id above each."""
    found = {each["id"]: list(each["golds"]) for each in items}
    for key, sql in re.findall(r"^-- (\S+)\n([^;]+);$", spellings, re.MULTILINE):
        found[key].append(sql)
    return found


def _rival(key: str, wanted: Mapping[str, Sequence[str]]) -> str:
    """What is right of another question over the same database."""
    case, right = key.rpartition("-")[0], wanted[key][0]
    return next(
        some[0] for each, some in wanted.items() if each.rpartition("-")[0] == case and some[0] != right
    )


async def _round(
    items: Sequence[Item], said: Mapping[str, Sequence[str]], over: tuple[Site, Judge], k: int
) -> list[Survival]:
    """What becomes of the first statement that is said of each of the questions."""
    place, judge = over
    replies = {each["question"]: reply(*(("", sql) for sql in said[each["id"]])) for each in items}
    asked = [Question(each["id"], each["question"], f"workday_{each['case']}") for each in items]
    async with answering_with(place.tools, replies) as tools:
        answered = [await _answered(each, said[each.id][0], tools, k) for each in asked]
    right = _judged(judge, {each.id: [one.sql for one in each.shown] for each in answered})
    return [survival(each, right[each.id]) for each in answered]


def _judged(judge: Judge, wanted: Mapping[str, Sequence[str]]) -> dict[str, list[bool]]:
    found = judge.judge(QuestionSet("workday", ""), wanted)
    return {key: [rows for rows, _ in each] for key, each in found.items()}


async def _answered(question: Question, sql: str, tools: Tools, k: int) -> Answered:
    try:
        state = await pipeline.run(asked_now(question, k, CALLS), tools)
    except NLError as error:
        return Answered(question.id, sql, problem=error.message)
    problem = "" if state.refusal is None else state.refusal.words
    return Answered(question.id, sql, shown(state), state.trace, problem)


def survival(answered: Answered, right: Sequence[bool]) -> Survival:
    """What became of the right statement, where `right` says which of the shown ones are."""
    if not answered.shown:
        return Survival(answered.id, answered.sql, Fate.REFUSED, answered.problem or _gone(answered.trace))
    if right[0]:
        return Survival(answered.id, answered.sql, Fate.FIRST, _change(answered.shown[0]))
    if any(right):
        return Survival(
            answered.id, answered.sql, Fate.PUSHED_BACK, _change(answered.shown[0]) or _ranked(answered)
        )
    return Survival(
        answered.id, answered.sql, Fate.CHANGED, _change(answered.shown[0]) or _gone(answered.trace)
    )


def _change(candidate: Candidate) -> str:
    """The last change of its rows, where there is one."""
    changes = [each for each in candidate.changes if each.kind is not RuleKind.NORMALISE]
    return f"{changes[-1].line.event}: {changes[-1].line.detail}" if changes else ""


def _ranked(answered: Answered) -> str:
    return _said([each for each in answered.trace if each.event == answered.shown[0].sql])


def _gone(trace: Sequence[TraceLine]) -> str:
    return _said([each for each in trace if each.event.startswith(GONE)])


def _said(lines: Sequence[TraceLine]) -> str:
    return f"{lines[-1].stage}: {lines[-1].event}: {lines[-1].detail}" if lines else ""


def figures(found: Sequence[Survival], name: str) -> dict[str, float]:
    """`NAME_survives`: the share that stands first; how many of the others there are of each kind."""
    counts = Counter(each.fate for each in found)
    others = {f"{name}_{fate.name.lower()}": float(counts[fate]) for fate in Fate if fate is not Fate.FIRST}
    return {f"{name}_survives": counts[Fate.FIRST] / len(found), **others}
