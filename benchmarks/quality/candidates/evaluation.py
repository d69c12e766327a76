"""From answers to results: the scorer's verdict on every pass, and what selection would do with the answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.quality.candidates.coverage import Covered, Selected, Source, covered, points, selected
from benchmarks.quality.candidates.figures import Results, Row, row
from benchmarks.quality.candidates.judging import Scorer, Verdict
from benchmarks.quality.candidates.options import Options
from benchmarks.quality.candidates.questions import SETS, Item, Judge, QuestionSet, home, read_items
from benchmarks.quality.candidates.running import Pass

SCORED = ("pgparley", "judged_by_model")
"""Systems whose candidates have the scores that selection goes by; the second has the model's own as well."""


def judged(options: Options, scorer: Scorer, passes: Sequence[Pass], told: Callable[[str], None]) -> Results:
    """The results of answered passes."""
    rows: list[Row] = []
    promises: list[Covered] = []
    selections: list[Selected] = []
    for each in passes:
        told(f"scoring {each.set_name} {each.system.name}")
        of = next(one for one in SETS if one.name == each.set_name)
        verdict = scorer.judge(of, each.answers)
        rows.append(row(of.name, each.system.name, each.answers, verdict))
        if each.system.name in SCORED:
            made = _promises(each, of, verdict, options)
            promises += made[0]
            selections += made[1]
    answers = {(each.set_name, each.system.name): each.answers for each in passes}
    return Results(tuple(rows), answers, tuple(promises), tuple(selections))


def _promises(
    one: Pass, of: QuestionSet, verdict: Verdict, options: Options
) -> tuple[list[Covered], list[Selected]]:
    """What selection by each scoring function would do with the answers of a pass."""
    groups = {item["id"]: _group(item, of) for item in read_items(options.bench / of.file)}
    judged = points(one.answers, verdict.right, groups)
    source, seed = Source(of.name, one.system.name), options.selection.seed
    found: list[Covered] = []
    selections: list[Selected] = []
    for function in sorted(
        {name for answer in one.answers for each in answer.proposals for name in each.scores}
    ):
        found += covered(source, judged, function, seed)
        if of.judge is Judge.AMBIQT and (one_more := selected(source, judged, verdict.right, function, seed)):
            selections.append(one_more)
    return found, selections


def _group(item: Item, of: QuestionSet) -> str:
    """What a question's threshold may be its own for: the database, of AmbiQT the one that was made ambiguous."""
    return str(item["db"]) if of.judge is Judge.AMBIQT else home(item, of)
