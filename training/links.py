"""How well the model that writes links: what the first statement of each list reads, beside what the right one reads.

    python -m training.links [LISTS...] [--answers FILE] [--json benchmarks/results/dialogue.json]

The judgement's confidence stands for the probes: of wrong links a share of 1 - alpha is abstained on (split conformal
over wrong links, as RTS §3.2 has it over branching points). Weights and thresholds are of other databases than a list.
`--answers`: what `benchmarks.quality.candidates` kept of development questions, by thresholds of all lists.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.command import told_command
from benchmarks.harness.drawing import fold_of
from benchmarks.harness.intervals import auc
from benchmarks.harness.journal import Answer
from benchmarks.harness.questions import SPIDER, TRAIN
from benchmarks.harness.report import Part, Run, write_result
from benchmarks.harness.schemas import snapshots
from benchmarks.quality.linking.linked import SCHEMA, Known, known_questions
from engine.calibration.conformal import quantile
from engine.core.elements import WHOLE_TABLE, elements_read
from engine.sql.resolution import resolve
from schema_catalog.types import ColumnKey, Snapshot
from training.command import parser, told
from training.judgement import held_out
from training.lists import read

ALPHA = 0.1
FOLDS, DEV = "calibration", "dev"
LISTS = Path(__file__).with_name("lists.jsonl")

First = tuple[str, str, float]
"""A question's id, its first statement, and how probably that is right."""

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def main() -> int:
    """Measures and prints; returns the exit status."""
    made = parser(__doc__)
    made.add_argument("lists", type=Path, nargs="*", help="what training.lists wrote")
    made.add_argument("--json", type=Path, help="the results file, of which this run replaces its part")
    made.add_argument("--answers", type=Path, help="what benchmarks.quality.candidates kept")
    given = made.parse_args()
    lists = [each for file in given.lists or [LISTS] for each in read(file)]
    schemas = snapshots(given.bench, schema=SCHEMA)
    firsts = [
        (each.id, each.candidates[judged.order[0]].sql, max(judged.confidences))
        for each, judged in zip(lists, held_out(lists), strict=True)
        if each.candidates
    ]
    known = linked(firsts, known_questions(given.bench / TRAIN.file), schemas)
    report = {FOLDS: by_folds(*known)}
    if given.answers is not None:
        asked = linked(_answered(given.answers), known_questions(given.bench / SPIDER.file), schemas)
        thresholds = {kind: _threshold(known[1], ~right) for kind, right in known[2].items()}
        flags = {kind: asked[1] <= thresholds[kind] for kind in asked[2]}
        report[DEV] = figures(asked[1], asked[2], flags)
    told(report, None)
    if given.json is not None:
        run = Run("dialogue", told_command("training.links", sys.argv[1:]), given.seed, {"alpha": ALPHA})
        summary = {
            f"{'' if name == DEV else f'{name}_'}{key}": value
            for name, each in report.items()
            for key, value in summary_of(each).items()
        }
        n = {name: int(each["questions"]) for name, each in report.items()}
        write_result(given.json, run, {"links": Part(n, report, summary)})
    return 0


def linked(
    firsts: Iterable[First], questions: Sequence[Known], schemas: dict[str, Snapshot]
) -> tuple[list[str], Floats, dict[str, Flags]]:
    """Each one's database and confidence; by kind, whether it reads the right tables, and the right columns as well."""
    known = {each.id: each for each in questions}
    databases, confidences, tables, columns = [], [], [], []
    for name, sql, confidence in firsts:
        if (gold := known.get(name)) is None:
            continue
        names = resolve(sql, schemas[gold.database])
        found = elements_read(names.columns, names.tables)
        databases.append(gold.database)
        confidences.append(confidence)
        tables.append(_tables(found) == gold.tables)
        columns.append(found == gold.gold)
    return databases, np.array(confidences), {"table": np.array(tables), "column": np.array(columns)}


def by_folds(databases: Sequence[str], confidences: Floats, right: dict[str, Flags]) -> dict[str, float]:
    """The figures, each fold by the others' thresholds."""
    folds = np.array([fold_of(name) for name in databases])
    flags = {kind: np.zeros(len(folds), dtype=np.bool_) for kind in right}
    for kind, known in right.items():
        for fold in np.unique(folds):
            held = folds == fold
            flags[kind][held] = confidences[held] <= _threshold(confidences[~held], ~known[~held])
    return figures(confidences, right, flags)


def figures(confidences: Floats, right: dict[str, Flags], flags: dict[str, Flags]) -> dict[str, float]:
    """By kind as RTS §4.2: exact match of all and of what is answered, TAR, FAR; coverage: of the wrong, flagged."""
    found: dict[str, float] = {"questions": len(confidences)}
    for kind, known in right.items():
        flagged = flags[kind]
        found |= {
            f"{kind}_em_of_all": float(known.mean()),
            f"{kind}_em": float(known[~flagged].mean()),
            f"{kind}_tar": float((flagged & ~known).mean()),
            f"{kind}_far": float((flagged & known).mean()),
            f"{kind}_coverage": float(flagged[~known].mean()),
            f"{kind}_auc": auc(confidences, known),
        }
    return {name: round(value, 4) for name, value in found.items()}


def summary_of(found: dict[str, float]) -> dict[str, float]:
    """The flat numbers of a results file; coverage is of wrong links of either kind."""
    kept = {key: found[key] for key in ("table_em", "table_far", "column_em", "column_far")}
    aucs = [found["table_auc"], found["column_auc"]]
    return kept | {"branch_coverage_a10": found["column_coverage"], "sbpp_auc": round(sum(aucs) / 2, 4)}


def _threshold(confidences: Floats, wrong: Flags) -> float:
    value = quantile(confidences[wrong], 1 - ALPHA)
    return np.inf if value is None else value


def _tables(elements: frozenset[ColumnKey]) -> frozenset[ColumnKey]:
    return frozenset(each for each in elements if each[2] == WHOLE_TABLE)


def _answered(file: Path) -> list[First]:
    answers = [msgspec.json.decode(line, type=Answer) for line in file.read_bytes().splitlines()]
    return [
        (each.id, each.proposals[0].sql, each.proposals[0].confidence or 0.0)
        for each in answers
        if each.proposals
    ]


if __name__ == "__main__":
    sys.exit(main())
