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

from benchmarks.harness.command import told_command
from benchmarks.harness.journal import Answer
from benchmarks.harness.questions import SPIDER, TRAIN
from benchmarks.harness.report import Part, Run, plain, write_result
from benchmarks.harness.schemas import snapshots
from benchmarks.quality.linking.abstaining import ALPHA, Decided, Decisions, figures, summary_of
from benchmarks.quality.linking.linked import SCHEMA, Known, known_questions
from engine.link.schema_linker import Kind
from engine.statement.resolution import resolve
from engine.values.elements import WHOLE_TABLE, elements_read
from schema_catalog.types import Snapshot
from training.command import parser, told
from training.judgement import held_out
from training.lists import read

FOLDS, DEV = "calibration", "dev"
LISTS = Path(__file__).with_name("lists_spider.jsonl")

First = tuple[str, str, float]
"""A question's id, its first statement, and how probably that is right."""


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
    sets = {FOLDS: known}
    if given.answers is not None:
        sets[DEV] = linked(_answered(given.answers), known_questions(given.bench / SPIDER.file), schemas)
    report = {name: figures(one, known) for name, one in sets.items()}
    told(plain(report), None)
    if given.json is not None:
        run = Run("dialogue", told_command("training.links", sys.argv[1:]), given.seed, {"alpha": ALPHA})
        summary: dict[str, float | None] = {}
        for name, each in report.items():
            summary |= summary_of(each, "" if name == DEV else f"{name}_")
        n = {name: len(one.databases) for name, one in sets.items()}
        write_result(given.json, run, {"links": Part(n, report, summary)})
    return 0


def linked(firsts: Iterable[First], questions: Sequence[Known], schemas: dict[str, Snapshot]) -> Decided:
    """Each first statement as two decisions, about tables and about columns, by its confidence."""
    known = {each.id: each for each in questions}
    databases, confidences, tables, columns = [], [], [], []
    for name, sql, confidence in firsts:
        if (gold := known.get(name)) is None:
            continue
        names = resolve(sql, schemas[gold.database])
        found = elements_read(names.columns, names.tables)
        databases.append(gold.database)
        confidences.append(confidence)
        tables.append({each for each in found if each[2] == WHOLE_TABLE} == gold.tables)
        columns.append(found == gold.gold)
    right = np.array([tables, columns], dtype=np.bool_)
    numbers = np.arange(right.size)
    count = len(databases)
    taken = Decisions(np.tile(np.array(confidences), 2), ~right.ravel(), numbers < count, numbers % count)
    return Decided(tuple(databases), taken, taken, {Kind.TABLE: right[0], Kind.COLUMN: right[1]})


def _answered(file: Path) -> list[First]:
    answers = [msgspec.json.decode(line, type=Answer) for line in file.read_bytes().splitlines()]
    return [
        (each.id, each.proposals[0].sql, each.proposals[0].confidence or 0.0)
        for each in answers
        if each.proposals
    ]


if __name__ == "__main__":
    sys.exit(main())
