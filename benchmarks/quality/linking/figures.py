"""The figures of the linking benchmark (RTS §4.2), each with a 95 % interval.

Intervals are by a bootstrap with a fixed seed that draws databases with all their questions, since questions on one
database are right and wrong together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.quality.candidates.figures import RESAMPLES, Figure
from benchmarks.quality.linking.decided import Decided, Decisions, Links
from benchmarks.quality.roc import auc
from engine.schema_linking.branching import Kind
from engine.schema_linking.probes import Flags, Floats

SEED = 0


@dataclass(frozen=True, slots=True)
class Linking:
    """Links of one kind without abstention: exact match, precision, recall."""

    exact_match: Figure
    precision: Figure
    recall: Figure


@dataclass(frozen=True, slots=True)
class Abstaining:
    """Shares of questions. `exact_match`: right, of those it does not abstain on.

    `tar`: it abstains and would have been wrong (true abstention). `far`: it abstains and would have been right. The
    paper's formulas of both have = and ≠ exchanged; these follow its words.
    """

    exact_match: Figure
    tar: Figure
    far: Figure


@dataclass(frozen=True, slots=True)
class Flagging:
    """One way to flag, on one set, at one alpha.

    `coverage_*`: branching points that are flagged, of the forced decisions; `coverage_question`: questions with a
    branching point all of whose are. `ear_*`: decisions flagged in vain, of all of the kind. `table`, `column`: of the
    free decisions, abstaining where one about a table, or any at all, is flagged. `column_given_tables`: of the forced
    decisions about columns alone.
    """

    coverage_table: Figure
    coverage_column: Figure
    coverage: Figure
    coverage_question: Figure
    ear_table: Figure
    ear_column: Figure
    table: Abstaining
    column: Abstaining
    column_given_tables: Abstaining


@dataclass(frozen=True, slots=True)
class Discrimination:
    """AUC of one layer's probe over the forced decisions, of tables and of columns."""

    layer: int
    table: Figure
    column: Figure


class Resamples:
    """Draws of a set's databases, as how often each is drawn, (RESAMPLES, databases)."""

    def __init__(self, databases: Sequence[str]) -> None:
        names, self._places = np.unique(np.array(databases), return_inverse=True)
        self._count = len(names)
        shares = np.full(self._count, 1 / self._count)
        self._drawn = np.random.default_rng(SEED).multinomial(self._count, shares, RESAMPLES)

    def share(self, numerators: ArrayLike, denominators: ArrayLike) -> Figure:
        """The sum of the one by the sum of the other, of each question, (questions,)."""
        above, below = (
            np.bincount(self._places, weights=np.asarray(each, dtype=np.float64), minlength=self._count)
            for each in (numerators, denominators)
        )
        return self._figure(
            above.sum() / below.sum() if below.sum() else np.nan,
            _by(self._drawn @ above, self._drawn @ below),
        )

    def auc(
        self, scores: Floats, branching: Flags, questions: np.ndarray[tuple[int], np.dtype[np.int64]]
    ) -> Figure:
        """P(a branching point's score is higher than another's), by the pairs of each two databases."""
        owners = self._places[questions]
        positive = [np.sort(scores[branching & (owners == n)]) for n in range(self._count)]
        negative = [np.sort(scores[~branching & (owners == n)]) for n in range(self._count)]
        won = np.array([[_won(high, low) for low in negative] for high in positive])
        pairs = np.array([[len(high) * len(low) for low in negative] for high in positive])
        drawn = self._drawn.astype(np.float64)
        above, below = (((drawn @ each) * drawn).sum(axis=1) for each in (won, pairs))
        return self._figure(auc(scores, branching), _by(above, below))

    @staticmethod
    def _figure(value: float, drawn: Floats) -> Figure:
        known = drawn[~np.isnan(drawn)]
        low, high = np.quantile(known, [0.025, 0.975]) if known.size else (np.nan, np.nan)
        return Figure(float(value), float(low), float(high))


def _by(above: ArrayLike, below: ArrayLike) -> Floats:
    divisor = np.where(np.asarray(below) > 0, below, np.nan)
    return np.asarray(above / divisor, dtype=np.float64)


def _won(high: Floats, low: Floats) -> float:
    """Pairs in which the first is higher, ties counted half; both sorted."""
    under = np.searchsorted(low, high, side="left") + np.searchsorted(low, high, side="right")
    return float(under.sum()) / 2


def linking_of(one: Decided, kind: Kind) -> Linking:
    """Without abstention."""
    links: tuple[Links, ...] = one.tables if kind is Kind.TABLE else one.columns
    drawn, every = Resamples(one.databases), np.ones(len(one))
    return Linking(
        drawn.share([each.exact for each in links], every),
        drawn.share([each.precision for each in links], every),
        drawn.share([each.recall for each in links], every),
    )


def discrimination_of(one: Decided, layer: int) -> Discrimination:
    """Of the probe at that place."""
    drawn, forced = Resamples(one.databases), one.forced
    table, column = (
        drawn.auc(forced.chances[layer][own], forced.wrong[own], forced.questions[own])
        for own in (forced.tables, ~forced.tables)
    )
    return Discrimination(layer, table, column)


def flagging_of(one: Decided, forced: Flags, free: Flags) -> Flagging:
    """Of what is flagged of the set's forced and of its free decisions."""
    drawn = Resamples(one.databases)
    known = one.forced
    missed = _counted(one, known, known.wrong & ~forced)
    there = _counted(one, known, known.wrong)
    tables_right = np.array([each.exact for each in one.tables])
    columns_right = np.array([each.exact for each in one.columns])
    given_right = _counted(one, known, known.wrong & ~known.tables) == 0
    every = np.ones(len(known.wrong), dtype=np.bool_)

    def covered(own: Flags) -> Figure:
        return drawn.share(
            _counted(one, known, own & known.wrong & forced), _counted(one, known, own & known.wrong)
        )

    def extra(own: Flags) -> Figure:
        return drawn.share(_counted(one, known, own & ~known.wrong & forced), _counted(one, known, own))

    def abstaining(abstains: Flags, right: Flags) -> Abstaining:
        return Abstaining(
            drawn.share(right & ~abstains, ~abstains),
            drawn.share(~right & abstains, np.ones(len(one))),
            drawn.share(right & abstains, np.ones(len(one))),
        )

    return Flagging(
        covered(known.tables),
        covered(~known.tables),
        covered(every),
        drawn.share((there > 0) & (missed == 0), there > 0),
        extra(known.tables),
        extra(~known.tables),
        abstaining(_counted(one, one.free, free & one.free.tables) > 0, tables_right),
        abstaining(_counted(one, one.free, free) > 0, columns_right),
        abstaining(_counted(one, known, forced & ~known.tables) > 0, given_right),
    )


def _counted(one: Decided, decisions: Decisions, own: Flags) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """How many of each question's decisions are `own`, (questions,)."""
    return np.bincount(decisions.questions[own], minlength=len(one))
