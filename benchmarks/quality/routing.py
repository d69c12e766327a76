"""Measures routing: recall of databases and tables over many databases, latency, cost of a new database.

    python -m benchmarks.quality.routing [--bench FOLDER] [--pool] [--only-half 0|1] [--json FILE]

Builds a snapshot of every benchmark schema, ranks all of them for each question with the engine's own router,
writes predictions and has the benchmark's scorer judge them. Its data is no part of this repository.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table as Grid

from engine.models.encoder import MiniLMEncoder
from engine.routing.router import HybridRouter
from engine.routing.scoring import probabilities
from engine.settings import EncoderSettings
from schema_catalog.types import Column, ForeignKey, ReadableColumns, Snapshot, Table, TableKind

ROOT = Path(__file__).resolve().parents[2]
SETS = {"spider": "spider/dev.jsonl", "syn": "spider/syn_dev.jsonl", "realistic": "spider/realistic.jsonl"}
FIGURES = {
    "db_r1": "database recall@1",
    "db_r5": "database recall@5",
    "table_r5": "table recall@5",
    "table_r15": "table recall@15",
}
DATABASES, TABLES = 20, 40
"""How many of each a prediction lists."""

Item = dict[str, Any]
View = tuple[Snapshot, ReadableColumns]


@dataclass(frozen=True, slots=True)
class Options:
    """What is measured. `half`: only questions whose text hashes to it, None for all."""

    bench: Path
    pool: bool
    half: int | None
    train: int
    json: Path | None


@dataclass(frozen=True, slots=True)
class World:
    """What was measured over one collection. `adding`: seconds that each database took to become routable."""

    prefix: str
    databases: int
    adding: tuple[float, ...]
    results: dict[str, Item]


def main() -> int:
    """Measures, prints the table and returns the exit status (2: no benchmark data)."""
    options = _options()
    if not (options.bench / "score.py").is_file():
        print(f"no benchmark in {options.bench}: give its folder with --bench", file=sys.stderr)
        return 2
    encoder = MiniLMEncoder(EncoderSettings())
    encoder.warm_up()
    router = HybridRouter(encoder)
    sets = dict(SETS) | ({"train": "spider/train.jsonl"} if options.train else {})
    worlds = []
    with tempfile.TemporaryDirectory() as folder:
        for pool in (False, True) if options.pool else (False,):
            views = list(_views(options, pool=pool))
            adding = [_prepare(router, snapshot) for snapshot, _ in views]
            results = {
                name: _measure(router, views, _questions(options, name, path), options, Path(folder))
                for name, path in sets.items()
            }
            worlds.append(World("pool_" if pool else "", len(views), tuple(adding), results))
    for world in worlds:
        _print(world)
    if options.json:
        options.json.write_text(json.dumps(_record(options, worlds), indent=1) + "\n", encoding="utf-8")
    return 0


def _prepare(router: HybridRouter, snapshot: Snapshot) -> float:
    """Seconds until a database that was never seen can be routed to."""
    started = time.perf_counter()
    router.prepare([snapshot])
    return time.perf_counter() - started


def _options() -> Options:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--bench", type=Path, default=ROOT.parent / "shared" / "bench", help="benchmark folder"
    )
    parser.add_argument("--pool", action="store_true", help="also with the pool's databases added")
    parser.add_argument("--only-half", type=int, choices=(0, 1), help="half, by a hash")
    parser.add_argument(
        "--train", type=int, default=0, help="also this many questions the weights were fitted on"
    )
    parser.add_argument("--json", type=Path, help="write the figures here")
    args = parser.parse_args()
    return Options(args.bench, args.pool, args.only_half, args.train, args.json)


def _read(path: Path) -> list[Item]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _views(options: Options, *, pool: bool) -> Iterator[View]:
    """Every database as a snapshot that is wholly readable."""
    files = ["spider/schemas.jsonl"] + (["pool/schemas.jsonl"] if pool else [])
    tables: dict[str, list[Table]] = defaultdict(list)
    for item in (item for name in files for item in _read(options.bench / name)):
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


def _questions(options: Options, name: str, path: str) -> list[Item]:
    items = _read(options.bench / path)
    hashed = {item["id"]: int(hashlib.sha256(item["question"].encode()).hexdigest(), 16) for item in items}
    if name == "train":
        return sorted(items, key=lambda item: hashed[item["id"]])[: options.train]
    return [item for item in items if options.half is None or hashed[item["id"]] % 2 == options.half]


def _measure(
    router: HybridRouter, views: Sequence[View], questions: list[Item], options: Options, folder: Path
) -> Item:
    """The scorer's figures for one set, with milliseconds a question and how well shares match outcomes."""
    predictions, milliseconds, shares = [], [], []
    for item in questions:
        started = time.perf_counter()
        matches = router.rank(item["question"], views)
        milliseconds.append(1000 * (time.perf_counter() - started))
        odds = probabilities([match.logit for match in matches])
        names = [match.snapshot.database for match in matches]
        shares.append((odds[0], names[0] == item["db"]))
        ranked = [
            (0.86 * float(np.log(share + 1e-12)) + value, database, key[1])
            for share, database, match in zip(odds[:DATABASES], names, matches, strict=False)
            for key, value in match.tables
        ]
        tables = [[database, table] for _, database, table in sorted(ranked, reverse=True)[:TABLES]]
        predictions.append({"id": item["id"], "databases": names[:DATABASES], "tables": tables})
    asked, answered, report = folder / "asked.jsonl", folder / "answered.jsonl", folder / "report.json"
    asked.write_text("".join(json.dumps(item) + "\n" for item in questions), encoding="utf-8")
    answered.write_text("".join(json.dumps(item) + "\n" for item in predictions), encoding="utf-8")
    command = [sys.executable, str(options.bench / "score.py"), "routing"]
    files = ["--questions", str(asked), "--predictions", str(answered), "--json", str(report)]
    subprocess.run(command + files, check=True, stdout=subprocess.DEVNULL)
    scored = json.loads(report.read_text(encoding="utf-8"))
    return {
        "n": scored["n"],
        **{key: (scored["figures"][long], *scored["intervals95"][long]) for key, long in FIGURES.items()},
        "calibration_error": _calibration_error(shares),
        "p50_ms": statistics.median(milliseconds),
        "p95_ms": float(np.percentile(milliseconds, 95)),
        "mean_ms": statistics.fmean(milliseconds),
    }


def _calibration_error(shares: Sequence[tuple[float, bool]]) -> float:
    """Expected calibration error over ten equally filled bins: mean distance of stated share and outcome."""
    ordered = np.array(sorted(shares), dtype=float)
    bins = np.array_split(ordered, 10)
    return float(sum(len(b) * abs(b[:, 0].mean() - b[:, 1].mean()) for b in bins if len(b)) / len(ordered))


def _print(world: World) -> None:
    title = f"{world.databases} databases"
    grid = Grid("set", "n", *FIGURES, "calibration error", "p50 ms", "p95 ms", title=title)
    for name, result in world.results.items():
        cells = ["{:.1f} [{:.1f}, {:.1f}]".format(*(100 * value for value in result[key])) for key in FIGURES]
        rest = [f"{result['calibration_error']:.3f}", f"{result['p50_ms']:.1f}", f"{result['p95_ms']:.1f}"]
        grid.add_row(name, str(result["n"]), *cells, *rest)
    Console(width=160).print(grid)
    print(f"a new database took {statistics.median(world.adding):.2f} s, at most {max(world.adding):.2f} s")


def _record(options: Options, worlds: Sequence[World]) -> Item:
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    summary = {
        f"{world.prefix}{name}_{key}": result[key][0]
        for world in worlds
        for name, result in world.results.items()
        for key in FIGURES
    }
    base = worlds[0]
    summary["p50_ms"] = statistics.median(result["p50_ms"] for result in base.results.values())
    summary["throughput_qps"] = 1000 / statistics.fmean(result["mean_ms"] for result in base.results.values())
    summary["add_database_s"] = max(base.adding)
    return {
        "commit": commit.stdout.strip(),
        "machine": {"cpus": os.cpu_count(), "load": os.getloadavg()[0], "name": platform.machine()},
        "config": {"half": options.half, "databases": [world.databases for world in worlds]},
        "seed": None,
        "summary": summary,
        "sets": {
            f"{world.prefix}{name}": result for world in worlds for name, result in world.results.items()
        },
    }


if __name__ == "__main__":
    sys.exit(main())
