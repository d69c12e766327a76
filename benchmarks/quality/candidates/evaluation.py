"""From answers to results: the scorer's verdict on every pass, and what selection would do with the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.quality.candidates.coverage import (
    Right,
    Selected,
    Source,
    by_base,
    covered,
    points,
    selected,
)
from benchmarks.quality.candidates.figures import Results, Row, row
from benchmarks.quality.candidates.judging import Scorer, Verdict
from benchmarks.quality.candidates.options import Options
from benchmarks.quality.candidates.questions import SETS, Item, Judge, QuestionSet, home, read_items
from benchmarks.quality.candidates.running import Pass
from engine.calibration.records import Point

AMBIGUOUS = "ambiqt"
"""AmbiQT's sets together."""

SCORED = ("pgparley", "judged_by_model")
"""Systems whose candidates have the scores that selection goes by; the second has the model's own as well."""


@dataclass(frozen=True, slots=True)
class _Judged:
    """A scored pass: its questions with their candidates' verdicts and scores, of how many readings."""

    source: Source
    points: tuple[Point, ...]
    right: Mapping[str, Right]
    functions: frozenset[str]
    readings: bool


def judged(options: Options, scorer: Scorer, passes: Sequence[Pass], told: Callable[[str], None]) -> Results:
    """The results of answered passes."""
    rows: list[Row] = []
    scored: list[_Judged] = []
    for each in passes:
        told(f"scoring {each.set_name} {each.system.name}")
        of = next(one for one in SETS if one.name == each.set_name)
        verdict = scorer.judge(of, each.answers)
        rows.append(row(of.name, each.system.name, each.answers, verdict))
        if each.system.name in SCORED:
            scored.append(_with_scores(each, of, verdict, options))
    answers = {(each.set_name, each.system.name): each.answers for each in passes}
    seed = options.selection.seed
    promises = [
        one
        for each in scored
        for function in sorted(each.functions)
        for one in covered(each.source, each.points, function, seed)
    ]
    by_bases = [
        one
        for each in scored
        for function in sorted(each.functions)
        for one in by_base(each.source, each.points, function, options.k)
    ]
    return Results(tuple(rows), answers, tuple(promises), tuple(_selections(scored, seed)), tuple(by_bases))


def _with_scores(one: Pass, of: QuestionSet, verdict: Verdict, options: Options) -> _Judged:
    groups = {item["id"]: _group(item, of) for item in read_items(options.bench / of.file)}
    return _Judged(
        Source(of.name, one.system.name),
        points(one.answers, verdict.right, groups),
        verdict.right,
        frozenset(name for answer in one.answers for each in answer.proposals for name in each.scores),
        of.judge is Judge.AMBIQT,
    )


def _selections(scored: Sequence[_Judged], seed: int) -> Iterator[Selected]:
    """What selection costs on questions of two readings. Their sets share a threshold: each alone has few questions."""
    for system in SCORED:
        parts = [each for each in scored if each.readings and each.source.system == system]
        together = [point for each in parts for point in each.points]
        right = {key: value for each in parts for key, value in each.right.items()}
        for function in sorted({name for each in parts for name in each.functions}):
            if found := selected(Source(AMBIGUOUS, system), together, right, function, seed):
                yield found


def _group(item: Item, of: QuestionSet) -> str:
    """What a question's threshold may be its own for: the database, of AmbiQT the one that was made ambiguous."""
    return str(item["db"]) if of.judge is Judge.AMBIQT else home(item, of)
