"""Where wrong first statements are wrong: whether the doubtful elements of a list's first statement tell it.

    python -m training.where_wrong [LISTS...] [--shown K]

Confidences are by weights of other databases. An element is wrong that a wrong statement has and the right one lacks.
`found`: of wrong statements the share in which one of the two most doubtful elements is wrong; where none is in doubt
it is not. `by_chance`: the same of any two elements. `marked`: statements of which the asker is told a doubt.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb
from pathlib import Path

import numpy as np

from benchmarks.harness.drawing import FOLDS, fold_of, read_items
from benchmarks.harness.intervals import Figure, auc, mean
from benchmarks.harness.questions import TRAIN
from benchmarks.harness.report import plain
from benchmarks.harness.schemas import snapshots
from benchmarks.quality.linking.abstaining import Decisions, Flags, flagged
from benchmarks.quality.linking.linked import SCHEMA
from engine.judge.doubtful_elements import MOST, TOLD, Doubt, Element, elements, weighed
from engine.values.elements import WHOLE_TABLE
from schema_catalog.types import Snapshot
from training.command import parser, told
from training.judgement import held_out
from training.lists import read

LISTS = Path(__file__).with_name("lists.jsonl")
ALPHAS = (0.1, 0.3)


@dataclass(frozen=True, slots=True)
class First:
    """A first statement with the doubts of its elements, least sure first, and which elements are `wrong`.

    `total`: the confidences of all that are shown; times that, how sure an element is says how probably it is right.
    """

    database: str
    right: bool
    confidence: float
    total: float
    doubts: tuple[Doubt, ...]
    wrong: frozenset[Element]

    @property
    def doubtful(self) -> tuple[Doubt, ...]:
        """Those that another candidate does not share, the `MOST` least sure."""
        return tuple(each for each in self.doubts[:MOST] if round(each.sure, 6) < 1)

    @property
    def chance(self) -> float:
        """That one of `MOST` elements, drawn blindly, is wrong."""
        n = len(self.doubts)
        return 1 - comb(n - len(self.wrong), MOST) / max(1, comb(n, MOST))


def main() -> int:
    """Measures and prints; returns the exit status."""
    made = parser(__doc__)
    made.add_argument("lists", type=Path, nargs="*", help="what training.lists wrote")
    made.add_argument("--shown", type=int, default=3, help="candidates that are compared")
    given = made.parse_args()
    known = {item["id"]: item for item in read_items(given.bench / TRAIN.file)}
    schemas = snapshots(given.bench, schema=SCHEMA)
    lists = [each for file in given.lists or [LISTS] for each in read(file) if each.candidates]
    firsts = []
    for each, of in zip(lists, held_out(lists), strict=True):
        gold, snapshot = known[each.id]["gold"], schemas[known[each.id]["db"]]
        best = of.order[: given.shown]
        total = sum(of.confidences[place] for place in best)
        shares = [of.confidences[place] / total for place in best]
        said = [_said(each.candidates[place].sql, snapshot) for place in best]
        right = each.candidates[best[0]].right
        wrong = frozenset() if right else frozenset(said[0] - _said(gold, snapshot))
        doubts = weighed(said, shares)
        firsts.append(First(each.database, right, max(of.confidences), total, doubts, wrong))
    told(plain({**figures(firsts), **dict(_coverage(firsts))}), given.out)
    return 0


def _said(sql: str, snapshot: Snapshot) -> Counter[Element]:
    return Counter(elements(sql, snapshot))


def figures(firsts: Sequence[First]) -> dict[str, object]:
    """Of statements and of elements; see the module."""
    right, wrong = ([each for each in firsts if each.right is is_right] for is_right in (True, False))
    differing = [each for each in wrong if each.doubtful]
    outcome = np.array([each.right for each in firsts])
    every = [(each, doubt) for each in firsts for doubt in each.doubts]
    return {
        "statements": len(firsts),
        "wrong": len(wrong),
        "found": _found(wrong),
        "found_by_chance": mean([each.chance for each in wrong], [each.database for each in wrong]),
        "found_where_candidates_differ": _found(differing),
        "the_same_by_chance": mean(
            [each.chance for each in differing], [each.database for each in differing]
        ),
        "marked_of_right": _marked(right),
        "marked_of_wrong": _marked(wrong),
        "auc_right_by_least_sure": auc(
            np.array([each.total * each.doubts[0].sure for each in firsts]), outcome
        ),
        "auc_right_by_mean": auc(
            np.array([each.total * np.mean([doubt.sure for doubt in each.doubts]) for each in firsts]),
            outcome,
        ),
        "auc_right_by_confidence": auc(np.array([each.confidence for each in firsts]), outcome),
        "auc_wrong_element": auc(
            np.array([-each.total * doubt.sure for each, doubt in every]),
            np.array([doubt.element in each.wrong for each, doubt in every]),
        ),
    }


def _found(firsts: Sequence[First]) -> Figure | None:
    hits = [any(doubt.element in each.wrong for doubt in each.doubtful) for each in firsts]
    return mean(hits, [each.database for each in firsts])


def _marked(firsts: Sequence[First]) -> Figure | None:
    return mean([each.doubts[0].sure < TOLD for each in firsts], [each.database for each in firsts])


def _coverage(firsts: Sequence[First]) -> Iterator[tuple[str, dict[str, float]]]:
    """Label-conditional split conformal (RTS §3.2): of wrong and of right elements the share that is flagged.

    Calibrated on other databases.
    """
    every = [(n, each, doubt) for n, each in enumerate(firsts) for doubt in each.doubts]
    decisions = Decisions(
        np.array([each.total * doubt.sure for _, each, doubt in every]),
        np.array([doubt.element in each.wrong for _, each, doubt in every]),
        np.array([doubt.element.said[2:] == (WHOLE_TABLE,) for *_, doubt in every]),
        np.array([n for n, *_ in every]),
    )
    folds = np.array([fold_of(each.database, "calibration:") for _, each, _ in every])
    for alpha in ALPHAS:
        flags: Flags = np.zeros(len(every), np.bool_)
        for fold in range(FOLDS):
            own = folds == fold
            flags[own] = flagged(decisions.of(~own), decisions.of(own), alpha)
        of = {"wrong": flags[decisions.wrong].mean(), "right": flags[~decisions.wrong].mean()}
        yield f"flagged_at_{alpha}", {name: round(float(value), 3) for name, value in of.items()}


if __name__ == "__main__":
    sys.exit(main())
