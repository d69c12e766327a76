"""The figures of a run: what the scorer found, with what it cost, for each set and system; and the flat summary.

Intervals of shares are the scorer's. Those of ratios are a bootstrap over the questions that both systems answered,
with a fixed seed. Seconds are of one question at a time on a machine that does nothing else.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.quality.candidates.coverage import SELECTED_AT, ByBase, Covered, Selected
from benchmarks.quality.candidates.journal import Answer
from benchmarks.quality.candidates.judging import Verdict
from benchmarks.quality.candidates.peers import PEERS
from engine.calibration.conformal import CONFIDENCE

RESAMPLES = 2_000
SHOWN = {
    "acc1": "accuracy@1",
    "set_acc": "accuracy of the set",
    "mrr": "MRR",
    "either5": "EitherInTop5",
    "both5": "BothInTop5",
    "set_size": "mean set size",
}
"""Our names of the scorer's figures, in the order of the table."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Row:
    """One system on one set. Tokens and calls are means a question. `failed`: answers that were an error."""

    set_name: str
    system: str
    n: int
    figures: dict[str, Figure]
    not_executable: float | None
    seconds_median: float
    seconds_p95: float
    calls: float
    prefilled: float
    cached: float
    generated: float
    failed: int
    crashed: int
    commits: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Results:
    """All of a run. `answers`: by set and system, for the ratios between systems."""

    rows: tuple[Row, ...]
    answers: dict[tuple[str, str], tuple[Answer, ...]]
    covered: tuple[Covered, ...] = ()
    selected: tuple[Selected, ...] = ()
    by_base: tuple[ByBase, ...] = ()

    def find(self, set_name: str, system: str) -> Row | None:
        """A row, None where that was not measured."""
        return next((row for row in self.rows if (row.set_name, row.system) == (set_name, system)), None)


def row(set_name: str, system: str, answers: Sequence[Answer], verdict: Verdict) -> Row:
    """The figures of one pass; it has an answer at least."""
    seconds = [answer.cost.seconds for answer in answers]
    figures = {
        ours: Figure(verdict.figures[theirs], *verdict.intervals[theirs])
        for ours, theirs in SHOWN.items()
        if theirs in verdict.figures
    }
    return Row(
        set_name=set_name,
        system=system,
        n=verdict.n,
        figures=figures,
        not_executable=_failing(verdict),
        seconds_median=statistics.median(seconds),
        seconds_p95=percentile(seconds, 0.95),
        calls=statistics.fmean(answer.cost.calls for answer in answers),
        prefilled=statistics.fmean(answer.cost.prefilled for answer in answers),
        cached=statistics.fmean(answer.cost.cached for answer in answers),
        generated=statistics.fmean(answer.cost.generated for answer in answers),
        failed=sum(answer.error is not None and not answer.crashed for answer in answers),
        crashed=sum(answer.crashed for answer in answers),
        commits=tuple(sorted({answer.commit for answer in answers})),
    )


def _failing(verdict: Verdict) -> float | None:
    names = ("not executable (share of SQL)", "fails in both variants (share of SQL)")
    return next((verdict.figures[name] for name in names if name in verdict.figures), None)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of them lie (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def ratio(over: Sequence[float], under: Sequence[float], seed: int = 0) -> Figure | None:
    """Sum by sum of paired values, with a bootstrap interval over the pairs; None where the divisor is nothing."""
    pairs = list(zip(over, under, strict=True))
    if not pairs or not sum(under):
        return None
    rng = random.Random(seed)  # noqa: S311 - a bootstrap, no secret
    found = []
    for _ in range(RESAMPLES):
        drawn = rng.choices(pairs, k=len(pairs))
        below = sum(two for _, two in drawn)
        found.append(sum(one for one, _ in drawn) / below if below else float("inf"))
    return Figure(sum(over) / sum(under), percentile(found, 0.025), percentile(found, 0.975))


def paired(results: Results, set_name: str, over: str, under: str, what: str) -> Figure | None:
    """The ratio of two systems' costs (`what`: a field of `Cost`) over the questions that both were asked."""
    one = {answer.id: answer for answer in results.answers.get((set_name, over), ())}
    two = {answer.id: answer for answer in results.answers.get((set_name, under), ())}
    both = [key for key in one if key in two]
    costs = ([float(getattr(answers[key].cost, what)) for key in both] for answers in (one, two))
    return ratio(next(costs), next(costs))


def summary(results: Results) -> dict[str, float | None]:
    """The flat numbers; None where something was not measured."""

    def figure(set_name: str, name: str, system: str = "pgparley") -> float | None:
        found = results.find(set_name, system)
        return round(found.figures[name].value, 4) if found and name in found.figures else None

    def between(what: str, under: str, over: str = "pgparley") -> float | None:
        found = paired(results, "spider", over, under, what)
        return None if found is None else round(found.value, 3)

    peers = {name: value for name in PEERS if (value := figure("spider", "acc1", name)) is not None}
    best = max(peers, key=peers.__getitem__, default="")
    scored = CONFIDENCE
    ambiqt = next((s for s in results.selected if (s.system, s.function) == ("pgparley", scored)), None)
    promises = [each for each in results.covered if (each.system, each.function) == ("pgparley", scored)]
    chosen = next((p for p in promises if (p.set_name, p.promised) == ("spider", SELECTED_AT)), None)
    defog, alone = figure("defog", "acc1"), figure("defog", "acc1", "model_alone")
    return {
        **{f"ambiqt_{kind}_both5": figure(f"ambiqt_{kind}", "both5") for kind in "ctj"},
        "ambiqt_selected_both5": None if ambiqt is None else round(ambiqt.both5, 4),
        "ambiqt_selected_both5_before": None if ambiqt is None else round(ambiqt.both5_before, 4),
        "ambiqt_selected_set_size": None if ambiqt is None else round(ambiqt.set_size, 4),
        "spider_acc1": figure("spider", "acc1"),
        "spider_set_acc": figure("spider", "set_acc"),
        "spider_set_size": figure("spider", "set_size"),
        "spider_selected_set_acc": None if chosen is None else round(chosen.right, 4),
        "spider_selected_set_size": None if chosen is None else round(chosen.set_size, 3),
        "spider_mrr": figure("spider", "mrr"),
        "spider_unrouted_acc1": figure("spider_unrouted", "acc1"),
        "spider_alone_acc1": figure("spider", "acc1", "model_alone"),
        "defog_acc1": defog,
        "defog_acc1_ratio": round(defog / alone, 3) if defog is not None and alone else None,
        "coverage_gap_min": min((round(each.gap, 4) for each in promises), default=None),
        "k6_time_ratio": between("seconds", "one_candidate"),
        "k6_prefill_ratio": between("prefilled", "one_candidate"),
        "first_time_ratio": between("seconds", "model_alone", "one_candidate"),
        "peer_acc1": peers.get(best),
        "peer_seconds_ratio": between("seconds", best),
    }
