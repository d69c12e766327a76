"""Data and yardstick of the routing benchmark: schemas as snapshots, questions, and the benchmark's own scorer.

Its data is no part of this repository. What is measured on it is the other modules' matter.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schema_catalog.types import Column, ForeignKey, ReadableColumns, Snapshot, Table, TableKind

ROOT = Path(__file__).resolve().parents[3]
SETS = {"spider": "spider/dev.jsonl", "syn": "spider/syn_dev.jsonl", "realistic": "spider/realistic.jsonl"}
FIGURES = {
    "db_r1": "database recall@1",
    "db_r5": "database recall@5",
    "table_r5": "table recall@5",
    "table_r15": "table recall@15",
}
Item = dict[str, Any]
TableName = tuple[str, str]
View = tuple[Snapshot, ReadableColumns]


@dataclass(frozen=True, slots=True)
class Ranking:
    """What a system found, best first: databases, and (database, table) over all databases."""

    databases: tuple[str, ...]
    tables: tuple[TableName, ...]


def read_items(path: Path) -> list[Item]:
    """The objects of a JSONL file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def read_views(bench: Path, *, pool: bool) -> Iterator[View]:
    """Every database as a snapshot that is wholly readable; `pool`: with the databases that no question is about."""
    files = ["spider/schemas.jsonl"] + (["pool/schemas.jsonl"] if pool else [])
    tables: dict[str, list[Table]] = defaultdict(list)
    for item in (item for name in files for item in read_items(bench / name)):
        tables[item["db"]].append(_table(item))
    for name in sorted(tables):
        snapshot = Snapshot(name, ("public",), tuple(sorted(tables[name], key=lambda table: table.name)))
        yield snapshot, frozenset((*table.key, column.name) for table, column in snapshot.columns())


def _table(item: Item) -> Table:
    columns = (Column(c["name"], c["type"], description=c.get("description")) for c in item["columns"])
    keys = (
        ForeignKey((k["column"],), "public", k["ref_table"], (k["ref_column"],)) for k in item["foreign_keys"]
    )
    return Table(
        "public",
        item["table"],
        TableKind.TABLE,
        tuple(columns),
        tuple(item["primary_key"]),
        foreign_keys=tuple(keys),
    )


def questions_of(path: Path, half: int | None) -> list[Item]:
    """The questions of a set's file; `half`: only those whose text hashes to it, None for all."""
    return [item for item in read_items(path) if half in {None, half_of(item["question"])}]


def half_of(question: str) -> int:
    """0 or 1, by a hash of the text: choices are made with half 0 in view alone."""
    return int(hashlib.sha256(question.encode()).hexdigest(), 16) % 2


def judged(bench: Path, questions: Sequence[Item], rankings: Sequence[Ranking]) -> Item:
    """The scorer's figures of one set: n, and for each of `FIGURES` its value and the ends of its 95 % interval."""
    predictions = [
        {"id": item["id"], "databases": ranking.databases, "tables": ranking.tables}
        for item, ranking in zip(questions, rankings, strict=True)
    ]
    with tempfile.TemporaryDirectory() as folder:
        asked, answered, report = (
            Path(folder) / name for name in ("asked.jsonl", "answered.jsonl", "report.json")
        )
        asked.write_text("".join(json.dumps(item) + "\n" for item in questions), encoding="utf-8")
        answered.write_text("".join(json.dumps(item) + "\n" for item in predictions), encoding="utf-8")
        command = [sys.executable, str(bench / "score.py"), "routing"]
        files = ["--questions", str(asked), "--predictions", str(answered), "--json", str(report)]
        subprocess.run(command + files, check=True, stdout=subprocess.DEVNULL)
        scored = json.loads(report.read_text(encoding="utf-8"))
    figures = {key: (scored["figures"][long], *scored["intervals95"][long]) for key, long in FIGURES.items()}
    return {"n": scored["n"], **figures}
