"""The figures of the linking benchmark (RTS §4.2), each with an interval that resamples databases."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.harness.intervals import Figure, auc, mean, ratio
from benchmarks.quality.linking.decided import Decided, Decisions, Flags
from engine.schema_linking.linker import Kind


@dataclass(frozen=True, slots=True)
class Linking:
    """Links of one kind without abstention: exact match, precision and recall a question; AUC of a small margin."""

    exact_match: Figure
    precision: Figure
    recall: Figure
    auc: float


@dataclass(frozen=True, slots=True)
class Abstaining:
    """Shares of questions. `exact_match`: right, of those it does not abstain on.

    `tar`: it abstains and would have been wrong (true abstention). `far`: it abstains and would have been right. The
    paper's formulas of both have = and ≠ exchanged; these follow its words.
    """

    exact_match: Figure | None
    tar: Figure
    far: Figure


@dataclass(frozen=True, slots=True)
class Flagging:
    """What flagging at one alpha is worth on one set.

    `coverage*`: branching points that are flagged, of the forced decisions; `coverage_question`: questions with a
    branching point all of whose are. `ear`: decisions flagged in vain, of all. `table`, `column`: of the free
    decisions, abstaining where one about a table, or any at all, is flagged. `column_given_tables`: of the forced
    decisions about columns alone.
    """

    alpha: float
    coverage: Figure | None
    coverage_table: Figure | None
    coverage_column: Figure | None
    coverage_question: Figure | None
    ear: Figure | None
    table: Abstaining
    column: Abstaining
    column_given_tables: Abstaining


def linking_of(one: Decided, kind: Kind) -> Linking:
    """Without abstention."""
    links, forced = one.links[kind], one.forced
    own = forced.of_kind(kind)
    return Linking(
        mean([each.exact for each in links], one.databases),
        mean([each.both / each.linked if each.linked else 1.0 for each in links], one.databases),
        mean([each.both / each.true if each.true else 1.0 for each in links], one.databases),
        auc(-forced.margins[own], forced.wrong[own]),
    )


def flagging_of(one: Decided, alpha: float, forced: Flags, free: Flags) -> Flagging:
    """Of what is flagged of the set's forced and of its free decisions."""
    known = one.forced
    missed, there = _counted(one, known, known.wrong & ~forced), _counted(one, known, known.wrong)
    exact = {kind: np.array([each.exact for each in links]) for kind, links in one.links.items()}
    given = _counted(one, known, known.wrong & ~known.tables) == 0
    every = np.ones(len(known.wrong), dtype=np.bool_)

    def share(over: ArrayLike, under: ArrayLike) -> Figure | None:
        return ratio(over, under, one.databases)

    def covered(own: Flags) -> Figure | None:
        return share(
            _counted(one, known, own & known.wrong & forced), _counted(one, known, own & known.wrong)
        )

    def abstaining(abstains: Flags, right: Flags) -> Abstaining:
        tar, far = mean(~right & abstains, one.databases), mean(right & abstains, one.databases)
        return Abstaining(share(right & ~abstains, ~abstains), tar, far)

    return Flagging(
        alpha,
        covered(every),
        covered(known.tables),
        covered(~known.tables),
        share((there > 0) & (missed == 0), there > 0),
        share(_counted(one, known, ~known.wrong & forced), _counted(one, known, every)),
        abstaining(_counted(one, one.free, free & one.free.tables) > 0, exact[Kind.TABLE]),
        abstaining(_counted(one, one.free, free) > 0, exact[Kind.COLUMN]),
        abstaining(_counted(one, known, forced & ~known.tables) > 0, given),
    )


def _counted(one: Decided, decisions: Decisions, own: Flags) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """How many of each question's decisions are `own`, (questions,)."""
    return np.bincount(decisions.questions[own], minlength=len(one))
