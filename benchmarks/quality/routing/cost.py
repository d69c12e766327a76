"""What routing costs: a question alone, questions in batches, a new database, memory, and growth of the catalog.

    python -m benchmarks.quality.routing.cost --tables N     # one point of the growth curve, in a process of its own

The catalogs of the growth curve are made up and their vectors composed (`routing_catalog`): figures of time and
memory, none of quality. The questions' own encoding is the real one throughout.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness.machine import ROOT
from benchmarks.harness.schemas import View, wholly_readable
from benchmarks.quality.routing.catalog import ComposingEncoder, catalog, questions
from engine.models import pointer
from engine.models.encoder import MiniLMEncoder
from engine.models.packaged import read
from engine.models.pointer import PointerModel
from engine.question.question import Question
from engine.route.router import HybridRouter
from schema_catalog.types import Snapshot

GROWTH = (1_000, 10_000, 100_000)
"""Tables of the growth curve: 1, 10 and 100 times a large single installation."""

ASKED, WARM = 200, 10
"""Questions timed, and questions before them."""

BATCH = 64


def shipped() -> PointerModel:
    """The learned leg's network that comes with the program."""
    return PointerModel(read(pointer.packaged(), pointer.NAME, pointer.FORMAT))


def latency(router: HybridRouter, views: Sequence[View], texts: Sequence[str]) -> dict[str, Any]:
    """Milliseconds of one question alone."""
    for text in texts[:WARM]:
        router.rank(Question(text), views)
    taken = []
    for text in texts[WARM:]:
        started = time.perf_counter()
        router.rank(Question(text), views)
        taken.append(1000 * (time.perf_counter() - started))
    return {"n": len(taken), "p50_ms": statistics.median(taken), "p95_ms": float(np.percentile(taken, 95))}


def throughput(router: HybridRouter, views: Sequence[View], texts: Sequence[str]) -> float:
    """Questions a second in batches of 64, the median of five rounds."""
    rates = []
    for _ in range(5):
        started = time.perf_counter()
        for start in range(0, len(texts), BATCH):
            router.rank_many([Question(each) for each in texts[start : start + BATCH]], views)
        rates.append(len(texts) / (time.perf_counter() - started))
    return statistics.median(rates)


def adding(snapshots: Sequence[Snapshot]) -> dict[str, Any]:
    """Seconds until each database can be routed to, one after the other, with nothing remembered."""
    encoder = MiniLMEncoder()
    encoder.warm_up()
    router = HybridRouter(encoder)
    taken: dict[str, float] = {}
    for snapshot in snapshots:
        started = time.perf_counter()
        router.prepare([snapshot])
        taken[snapshot.database] = time.perf_counter() - started
    slowest = max(taken, key=lambda name: taken[name])
    return {
        "n": len(taken),
        "median_s": statistics.median(taken.values()),
        "largest_s": taken[slowest],
        "slowest": slowest,
        "build_s": sum(taken.values()),
    }


def growth() -> list[dict[str, Any]]:
    """Each size in a process of its own, so that memory is that size's alone."""
    points = []
    for tables in GROWTH:
        command = [sys.executable, "-m", "benchmarks.quality.routing.cost", "--tables", str(tables)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        points.append(json.loads(done.stdout.splitlines()[-1]))
    return points


def resident_mb(*, mapped: bool = True) -> float:
    """Memory of this process, with or without what is mapped from files, which processes share."""
    _, resident, shared = Path("/proc/self/statm").read_text(encoding="ascii").split()[:3]
    pages = int(resident) - (0 if mapped else int(shared))
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _point(tables: int, mapped: Path) -> dict[str, Any]:
    encoder = MiniLMEncoder()
    encoder.warm_up()
    schemas = ComposingEncoder(encoder)
    router = HybridRouter(encoder, schemas, pointer=shipped(), folder=mapped)
    empty = resident_mb(mapped=False)
    views = [wholly_readable(snapshot) for snapshot in catalog(tables)]
    snapshots = resident_mb(mapped=False)
    started = time.perf_counter()
    router.prepare([snapshot for snapshot, _ in views])
    texts = questions(ASKED + WARM)
    router.rank(Question(texts[0]), views)
    first = time.perf_counter() - started
    return {
        "databases": len(views),
        "tables": sum(len(snapshot.tables) for snapshot, _ in views),
        "columns": sum(len(readable) for _, readable in views),
        "build_s": first,
        "snapshots_mb": snapshots - empty,
        "index_mb": resident_mb(mapped=False) - snapshots,
        "mapped_mb": sum(path.stat().st_size for path in mapped.glob("*.npy")) / 1e6,
        **latency(router, views, texts),
    }


def main() -> int:
    """Prints one point as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as mapped:
        print(json.dumps(_point(args.tables, Path(mapped))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
