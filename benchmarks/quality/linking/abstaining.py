"""Which decisions of a linker are flagged as branching points, and what abstaining on them is worth (RTS §3.2, §4.2).

Flagged are those decided by little, tables and columns apart. The threshold is a quantile over wrong decisions, so that
it promises something of these (label-conditional split conformal); over all decisions, few of which are wrong, it would
promise nothing of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.drawing import FOLDS, fold_of
from benchmarks.harness.intervals import Figure, auc, mean, ratio
from engine.link.schema_linker import Kind
from engine.values.conformal import quantile

ALPHA = 0.1
"""That of the program."""

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]

Found = Mapping[str, Figure | float | None]
"""Figures by name; None where there is nothing to divide by."""


@dataclass(frozen=True, slots=True)
class Decisions:
    """m decisions about several questions, in a row.

    `margins`: by how much each was decided, (m,). `wrong`, `tables`: which are wrong, which about a table, (m,).
    `questions`: the number of each one's question, (m,).
    """

    margins: Floats
    wrong: Flags
    tables: Flags
    questions: NDArray[np.int64]

    def of(self, kept: Flags) -> Decisions:
        """Those that `kept`, (m,), names."""
        return Decisions(self.margins[kept], self.wrong[kept], self.tables[kept], self.questions[kept])

    def of_kind(self, kind: Kind) -> Flags:
        """Which are about a table, or a column."""
        return self.tables if kind is Kind.TABLE else ~self.tables


@dataclass(frozen=True, slots=True)
class Decided:
    """n questions, each with its database, and by kind whether its links are `right`, (n,).

    `free`: the decisions as the linker takes them, by which it abstains; `forced`: after right ones alone.
    """

    databases: tuple[str, ...]
    free: Decisions
    forced: Decisions
    right: Mapping[Kind, Flags]


def thresholds(known: Decisions, alpha: float) -> dict[Kind, float]:
    """The margins within which 1 - alpha of the wrong decisions are; infinite where too few are known to be wrong."""
    found = {kind: quantile(known.margins[known.of_kind(kind) & known.wrong], 1 - alpha) for kind in Kind}
    return {kind: np.inf if value is None else value for kind, value in found.items()}


def flagged(known: Decisions, asked: Decisions, alpha: float) -> Flags:
    """Which of `asked`, (m,): calibrated on `known`."""
    most = thresholds(known, alpha)
    return asked.margins <= np.where(asked.tables, most[Kind.TABLE], most[Kind.COLUMN])


def by_folds(known: Decided, asked: Decisions, alpha: float) -> Flags:
    """Which of `asked`, about the questions of `known`: calibrated on other databases than each one's."""
    folds = np.array([fold_of(name, "calibration:") for name in known.databases])
    found = np.zeros(len(asked.wrong), dtype=np.bool_)
    for fold in range(FOLDS):
        held = folds == fold
        calibrating = known.forced.of(~held[known.forced.questions])
        own = held[asked.questions]
        found[own] = flagged(calibrating, asked.of(own), alpha)
    return found


def figures(one: Decided, known: Decided) -> Found:
    """What flagging at `ALPHA` is worth, calibrated on `known`; of that set itself each fold by the others.

    `coverage`: wrong forced decisions that are flagged; by kind also `auc`, of a small margin. Of questions: exact
    match of all and of those that are answered; `tar`: it abstains and would have been wrong (true abstention); `far`:
    it abstains and would have been right. The paper's formulas of both have = and ≠ exchanged; these follow its words.
    As to tables it abstains where a decision about one is flagged, as to columns where any is.
    """
    forced, free = (
        by_folds(known, asked, ALPHA) if one is known else flagged(known.forced, asked, ALPHA)
        for asked in (one.forced, one.free)
    )
    owners = [one.databases[number] for number in one.forced.questions]
    wrong = one.forced.wrong
    found: dict[str, Figure | float | None] = {"coverage": ratio(wrong & forced, wrong, owners)}
    for kind, right in one.right.items():
        own = one.forced.of_kind(kind)
        about = free & one.free.tables if kind is Kind.TABLE else free
        abstains = np.bincount(one.free.questions[about], minlength=len(right)) > 0
        found |= {
            f"{kind}_coverage": ratio(wrong & own & forced, wrong & own, owners),
            f"{kind}_auc": auc(-one.forced.margins[own], wrong[own]),
            f"{kind}_em_of_all": mean(right, one.databases),
            f"{kind}_em": ratio(right & ~abstains, ~abstains, one.databases),
            f"{kind}_tar": mean(~right & abstains, one.databases),
            f"{kind}_far": mean(right & abstains, one.databases),
        }
    return found


def summary_of(found: Found, before: str) -> dict[str, float | None]:
    """The flat numbers of a results file, their names behind `before`."""
    flat = {name: each.value if isinstance(each, Figure) else each for name, each in found.items()}
    kept = {f"{before}{key}": flat[key] for key in ("table_em", "table_far", "column_em", "column_far")}
    area = np.mean([flat[f"{kind}_auc"] or 0.0 for kind in Kind])
    return kept | {f"{before}branch_coverage_a10": flat["coverage"], f"{before}sbpp_auc": float(area)}
