"""What an evaluation found: shares of what could be judged with 95 % intervals, JSON, and changes since another."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

import msgspec

from engine.question.tokens import normal_form
from engine.values.calibration import KnownQuestion
from engine.values.evaluation import EvaluateReply, Verdict
from engine.values.proportion import Share, Z

_FEWEST = 6
"""Values without which the least and the greatest do not enclose the median with 95 %: 1 - 2 · 0.5ⁿ."""

_WORTH = {
    Verdict.FIRST: 3,
    Verdict.IN_SET: 2,
    Verdict.ASKED_BACK: 1,
    Verdict.REFUSED: 1,
    Verdict.WRONG: 0,
    Verdict.FAILED: 0,
}
"""A question back, or none answered, is better than wrong rows."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A question and what became of it."""

    asked: KnownQuestion
    reply: EvaluateReply


@dataclass(frozen=True, slots=True)
class ShareFigure:
    """`hits` of `n`; `low` and `high` are Wilson's 95 % interval."""

    hits: int
    n: int
    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class SecondsFigure:
    """The median of `n` answers' seconds; its 95 % interval, None where they are too few for one."""

    n: int
    median: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Figures:
    """`in_set`: right first or further down. `failed`, `unjudged`: counts. `seconds`: None where nothing was judged."""

    first: ShareFigure
    in_set: ShareFigure
    wrong: ShareFigure
    asked_back: ShareFigure
    refused: ShareFigure
    failed: int
    unjudged: int
    seconds: SecondsFigure | None


@dataclass(frozen=True, slots=True)
class Report:
    """An evaluation, as `--json` writes it and `--baseline` reads it. `version`: of the product that asked."""

    version: str
    figures: Figures
    questions: tuple[Judged, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """A question whose verdict is of other worth than before."""

    asked: KnownQuestion
    before: Verdict
    after: Verdict


@dataclass(frozen=True, slots=True)
class Comparison:
    """`compared`: questions judged both times."""

    compared: int
    better: tuple[Change, ...]
    worse: tuple[Change, ...]


def figures(questions: tuple[Judged, ...]) -> Figures:
    """The figures over `questions`."""
    judged = [each.reply for each in questions if each.reply.verdict is not Verdict.UNJUDGED]

    def share(*verdicts: Verdict) -> ShareFigure:
        counted = Share(sum(each.verdict in verdicts for each in judged), len(judged))
        low, high = counted.interval()
        return ShareFigure(counted.hits, counted.n, counted.value or 0.0, low, high)

    return Figures(
        first=share(Verdict.FIRST),
        in_set=share(Verdict.FIRST, Verdict.IN_SET),
        wrong=share(Verdict.WRONG),
        asked_back=share(Verdict.ASKED_BACK),
        refused=share(Verdict.REFUSED),
        failed=sum(each.verdict is Verdict.FAILED for each in judged),
        unjudged=len(questions) - len(judged),
        seconds=_seconds(sorted(each.seconds for each in judged)),
    )


def compare(before: Report, after: Report) -> Comparison:
    """What got better and worse, question by question; a question is the same in the same database and words."""
    verdicts = {_key(each.asked): each.reply.verdict for each in before.questions}
    changes, compared = [], 0
    for each in after.questions:
        earlier, now = verdicts.get(_key(each.asked)), each.reply.verdict
        if earlier in _WORTH and now in _WORTH:
            compared += 1
            changes.append(Change(each.asked, earlier, now))
    return Comparison(
        compared,
        better=tuple(each for each in changes if _WORTH[each.after] > _WORTH[each.before]),
        worse=tuple(each for each in changes if _WORTH[each.after] < _WORTH[each.before]),
    )


def encode(report: Report) -> bytes:
    """The report as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(report), indent=1) + b"\n"


def decode(text: bytes) -> Report:
    """An earlier report; raises `msgspec.DecodeError`."""
    return msgspec.json.decode(text, type=Report)


def _key(asked: KnownQuestion) -> tuple[str, str]:
    return asked.database, normal_form(asked.question)


def _seconds(ordered: list[float]) -> SecondsFigure | None:
    """The median with the order statistics that enclose it (the binomial distribution's normal approximation)."""
    n = len(ordered)
    if not n:
        return None
    median = statistics.median(ordered)
    if n < _FEWEST:
        return SecondsFigure(n, median, None, None)
    half = Z * math.sqrt(n) / 2
    low, high = max(1, math.floor(n / 2 - half)), min(n, math.ceil(n / 2 + 1 + half))
    return SecondsFigure(n, median, ordered[low - 1], ordered[high - 1])
