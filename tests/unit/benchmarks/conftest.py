"""A benchmark folder of three questions a set, in which everything that is gold says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

GOLD = "SECRET-GOLD"

TABLE = {
    "db": "music",
    "table": "singer",
    "columns": [{"name": "id", "type": "bigint"}, {"name": "name", "type": "text"}],
    "primary_key": ["id"],
    "foreign_keys": [],
}

FAKE_SCORER = """
import argparse, json, pathlib
p = argparse.ArgumentParser()
p.add_argument("command")
for name in ("--dsn", "--questions", "--predictions", "--only", "--json", "--cache"):
    p.add_argument(name)
a = p.parse_args()
read = lambda path: [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]
known = {q["id"] for q in read(a.questions)}
given = read(a.predictions)
ids = pathlib.Path(a.only).read_text().split()
if [g["id"] for g in given] != ids or not set(ids) <= known:
    raise SystemExit("ids do not fit")
items, ranks = [], []
for g in given:
    right = [c["sql"].startswith("right") for c in g["candidates"]]
    rank = right.index(True) + 1 if True in right else None
    ranks.append(rank)
    item = {"id": g["id"], "rank": rank, "size": len(right)}
    if a.command == "ambiqt":
        item = {"id": g["id"], "right": [[int("1" in c["sql"]), int("2" in c["sql"])] for c in g["candidates"]]}
    items.append(item)
figures = {
    "accuracy@1": sum(r == 1 for r in ranks) / len(ranks),
    "accuracy of the set": sum(r is not None for r in ranks) / len(ranks),
    "MRR": 0.5, "mean set size": 2.0, "not executable (share of SQL)": 0.25,
}
intervals = {name: [value, value] for name, value in figures.items()}
pathlib.Path(a.json).write_text(json.dumps(
    {"n": len(items), "figures": figures, "intervals95": intervals, "items": items}))
"""


def _spider(number: int) -> dict[str, Any]:
    return {
        "id": f"spider-dev-{number}",
        "db": "music",
        "question": f"How many singers are there, asked {number} times?",
        "gold": GOLD,
        "tables": [GOLD],
        "columns": [GOLD],
        "hardness": GOLD,
    }


def _defog(number: int) -> dict[str, Any]:
    item = _spider(number) | {"id": f"defog-{number}", "gold_alternatives": [GOLD], "category": GOLD}
    return item | {"instructions": "Names are matched exactly."}


def _ambiqt(kind: str, number: int) -> dict[str, Any]:
    return {
        "id": f"ambiqt-{kind}-{number}",
        "kind": kind,
        "db": "music",
        "question": f"Name every singer {number}.",
        "ambiguous": {"column": GOLD},
        "ddl_both": "CREATE SCHEMA {schema}; CREATE VIEW {schema}.singer AS SELECT 1 AS id, 'a' AS name",
        "ddl_1": GOLD,
        "ddl_2": GOLD,
        "gold_base": GOLD,
        "gold_1": GOLD,
        "gold_2": GOLD,
        "schema_both": [TABLE | {"unique_keys": [["name"]]}],
    }


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    """The folder, with a scorer that finds right what begins with `right`."""
    folder = tmp_path / "bench"
    files: dict[str, list[dict[str, Any]]] = {
        "spider/schemas.jsonl": [TABLE],
        "defog/schemas.jsonl": [TABLE],
        "spider/dev.jsonl": [_spider(n) for n in range(40)],
        "defog/questions.jsonl": [_defog(n) for n in range(3)],
    }
    files |= {f"ambiqt/{kind}.jsonl": [_ambiqt(kind, n) for n in range(3)] for kind in "CTJ"}
    for name, items in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    (folder / "score.py").write_text(FAKE_SCORER, encoding="utf-8")
    return folder
