"""Whether a right statement of a strong model survives: what is right is given as the model's readings of a question.

Owns what became of each, and the line of the trace that did it. It is a ceiling: no figure here stands beside those of
systems that find statements themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum

from benchmarks.harness.drawing import read_items
from benchmarks.harness.questions import Question, QuestionSet
from benchmarks.harness.site import Site
from benchmarks.harness.systems import asked_now
from benchmarks.quality.models.recorded import MODEL, asking_for_readings, reply, serving_recorded
from benchmarks.quality.workday.cases import Cases, Judge
from engine import pipeline
from engine.core.candidate import Candidate, RuleKind
from engine.core.state import State
from engine.core.tools import Tools
from engine.errors import NLError
from engine.llm.client import ChatModel
from engine.llm.settings import GrammarSupport, ModelSettings
from engine.types import TraceLine

CALLS = 6
"""Of the model for a question at most, as for a user's."""

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
    """One question. `by`: the line of the trace that did it; `rewritten`: how its text changed where it is first."""

    id: str
    fate: Fate
    by: str = ""
    rewritten: str = ""


@dataclass(frozen=True, slots=True)
class Answered:
    """What is shown of a question, and how it came to be. `problem`: why it ended before."""

    id: str
    shown: tuple[Candidate, ...] = ()
    trace: tuple[TraceLine, ...] = ()
    problem: str = ""


async def survivals(cases: Cases, place: Site, k: int) -> list[Survival]:
    """Asks each question once of a model that says what is right. Raises `JudgingError`."""
    items = read_items(cases.bench / "workday/questions.jsonl")
    asked = [Question(each["id"], each["question"], f"workday_{each['case']}") for each in items]
    said = {each["question"]: reply(_readings(each["golds"])) for each in items}
    async with _strong(place.tools, said) as tools:
        answered = [await _answered(each, tools, k) for each in asked]
    wanted = {each.id: [one.sql for one in each.shown] for each in answered}
    judge = Judge(cases, place.cluster.dsn())
    right = judge.judge(QuestionSet("workday", ""), wanted)
    return [survival(each, [rows for rows, _ in right[each.id]]) for each in answered]


@asynccontextmanager
async def _strong(tools: Tools, said: Mapping[str, str]) -> AsyncIterator[Tools]:
    async with serving_recorded(said) as url:
        model = ChatModel(ModelSettings(base_url=url, model=MODEL, grammar=GrammarSupport.NONE), url)
        try:
            yield asking_for_readings(tools, model)
        finally:
            await model.aclose()


def _readings(golds: Sequence[str]) -> dict[str, object]:
    return {"readings": [{"meaning": "", "sql": each} for each in golds], "why_not": None}


async def _answered(question: Question, tools: Tools, k: int) -> Answered:
    try:
        state = await pipeline.run(asked_now(question, k, CALLS), tools)
    except NLError as error:
        return Answered(question.id, problem=error.message)
    problem = "" if state.refusal is None else state.refusal.words
    return Answered(question.id, _shown(state), state.trace, problem)


def _shown(state: State) -> tuple[Candidate, ...]:
    return state.candidates or (() if state.refusal else state.considered)


def survival(answered: Answered, right: Sequence[bool]) -> Survival:
    """What became of the right statement, where `right` says which of the shown ones are."""
    shown = answered.shown
    if not shown:
        return Survival(answered.id, Fate.REFUSED, answered.problem or _gone(answered.trace))
    if right[0]:
        return Survival(answered.id, Fate.FIRST, rewritten=_change(shown[0]))
    if any(right):
        return Survival(answered.id, Fate.PUSHED_BACK, _change(shown[0]) or _ranked(answered))
    return Survival(answered.id, Fate.CHANGED, _change(shown[0]) or _gone(answered.trace))


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


def figures(found: Iterable[Survival]) -> dict[str, float]:
    """`strong_survives`: the share that stands first; how many of the others there are of each kind."""
    some = list(found)
    counts = Counter(each.fate for each in some)
    others = {
        f"strong_{fate.replace(' ', '_')}": float(counts[fate]) for fate in Fate if fate is not Fate.FIRST
    }
    return {"strong_survives": counts[Fate.FIRST] / len(some), **others}
