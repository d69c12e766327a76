"""Measures routing: ours, baselines and ablations on the same questions with the same scorer, and what it costs.

    python -m benchmarks.quality.routing [--only STEPS] [--n N] [--json FILE]

Its questions are the development sets': each time that a router of ours is asked them, `results/routing-looks.jsonl`
says so. Each step is a part of the results file, so that a long run may be cut off and steps may be repeated.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from rich.console import Console

from benchmarks.harness.command import check_bench, plain_parser, told_command
from benchmarks.harness.drawing import read_items
from benchmarks.harness.intervals import Figure
from benchmarks.harness.machine import ROOT
from benchmarks.harness.report import Grid, Part, Run, note, printed, shown, write_result
from benchmarks.harness.schemas import POOL, SPIDER, View, snapshots, wholly_readable
from benchmarks.quality.routing import cost
from benchmarks.quality.routing.systems import FIGURES, Bm25, Dense, Ours, System, judged
from engine.models.encoder import MiniLMEncoder
from engine.route.router import HybridRouter
from engine.route.vectors import VectorCache
from pgparley.config import cache_dir

MODULE = "benchmarks.quality.routing"
SETS = {"spider": "spider/dev.jsonl", "syn": "spider/syn_dev.jsonl", "realistic": "spider/realistic.jsonl"}
WORLDS = ("", "pool_")
LOOKS = ROOT / "benchmarks" / "results" / "routing-looks.jsonl"
LOOKING = frozenset({"ours", "ablations"})
"""Steps that ask a router of ours the development questions."""

Judged = dict[str, dict[str, Figure]]
"""Figures by world and set."""


class Bench:
    """The collections and systems of one run, made when they are first needed."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.bench: Path = options.bench
        self.encoder = MiniLMEncoder()
        self.cache = VectorCache(self.encoder, model="bench", path=options.work / "vectors.sqlite")
        self._views: dict[str, list[View]] = {}

    def views(self, world: str) -> list[View]:
        """166 databases, or 243 with the pool's."""
        if world not in self._views:
            found = snapshots(self.bench, SPIDER, *([POOL] if world else []), schema="public")
            self._views[world] = [wholly_readable(each) for each in found.values()]
        return self._views[world]

    @cached_property
    def sets(self) -> dict[str, list[dict[str, object]]]:
        """The questions of each test set."""
        return {name: read_items(self.bench / path)[: self.options.n] for name, path in SETS.items()}

    @property
    def texts(self) -> list[str]:
        """All questions in a drawn order."""
        found = [str(item["question"]) for items in self.sets.values() for item in items]
        random.Random(self.options.seed).shuffle(found)  # noqa: S311  an order, no secret
        return found

    def router(self, *, learned: bool = True) -> HybridRouter:
        """Ours, or its retrieval leg alone."""
        return HybridRouter(self.encoder, self.cache, pointer=cost.shipped() if learned else None)

    def judged(self, make: Callable[[Sequence[View]], System]) -> Judged:
        """Figures of every set over both collections, and questions a second."""
        result: Judged = {}
        for world in WORLDS:
            system = make(self.views(world))
            for name, items in self.sets.items():
                started = time.perf_counter()
                rankings = system.rank([str(item["question"]) for item in items])
                rate = len(items) / (time.perf_counter() - started)
                result[f"{world}{name}"] = judged(
                    self.bench, SETS[name], [str(item["id"]) for item in items], rankings
                )
                result[f"{world}{name}"]["per_s"] = Figure(rate, rate, rate)
        return result


def _ours(bench: Bench) -> dict[str, Judged]:
    return {"ours": bench.judged(lambda views: Ours(bench.router(), views))}


def _ablations(bench: Bench) -> dict[str, Judged]:
    return {"no generative leg": bench.judged(lambda views: Ours(bench.router(learned=False), views))}


def _baselines(bench: Bench) -> dict[str, Judged]:
    return {
        "BM25": bench.judged(Bm25),
        "SXFMR": bench.judged(lambda views: Dense(views, bench.encoder)),
    }


def _speed(bench: Bench) -> dict[str, object]:
    router, views, texts = bench.router(), bench.views(""), bench.texts
    alone = cost.latency(router, views, texts[: cost.ASKED + cost.WARM])
    rate = cost.throughput(router, views, texts[:512])
    return {"ours": alone | {"throughput_qps": rate}, "memory_mb": cost.resident_mb()}


def _adding(bench: Bench) -> dict[str, object]:
    return cost.adding([snapshot for snapshot, _ in bench.views("pool_")][: bench.options.n])


def _growth(_bench: Bench) -> dict[str, object]:
    return {"ours": cost.growth()}


STEPS: Mapping[str, Callable[[Bench], Mapping[str, object]]] = {
    "ours": _ours, "ablations": _ablations, "baselines": _baselines,
    "speed": _speed, "adding": _adding, "growth": _growth,
}  # fmt: skip


def main() -> int:
    """Runs the steps, prints the tables and returns the exit status (2: no data)."""
    parser = plain_parser(MODULE, __doc__)
    parser.add_argument("--work", type=Path, default=cache_dir() / "bench-routing", help="for vectors")
    parser.add_argument("--only", default=",".join(STEPS), help=f"comma-separated, of {', '.join(STEPS)}")
    parser.add_argument("--n", type=int, help="the first so many questions of each set: a trial run")
    options = parser.parse_args()
    console = Console(width=170)
    try:
        check_bench(options.bench)
        options.work.mkdir(parents=True, exist_ok=True)
        bench, run = Bench(options), Run("routing", told_command(MODULE, sys.argv[1:]), options.seed, {})
        for step in options.only.split(","):
            console.print(f"{step} …", style="dim")
            _tell(step, STEPS[step](bench), bench, run, console)
    except (KeyError, ValueError) as problem:
        console.print(f"{problem}", style="red", markup=False)
        return 2
    return 0


def _tell(step: str, found: Mapping[str, object], bench: Bench, run: Run, console: Console) -> None:
    if step in LOOKING | {"baselines"}:
        printed(console, [_grid(step, found)])
    else:
        console.print(found)
    summary = _summary(step, found)
    console.print(summary)
    n = {name: len(items) for name, items in bench.sets.items()}
    if bench.options.json is not None:
        write_result(bench.options.json, run, {step: Part(n, found, summary)})
    if step in LOOKING and bench.options.n is None:
        note(LOOKS, step=step, **summary)


def _grid(step: str, found: Mapping[str, object]) -> Grid:
    rows = [
        (system, key, *(shown(figures[name]) for name in FIGURES), f"{figures['per_s'].value:.0f}")
        for system, each in found.items()
        for key, figures in each.items()  # type: ignore[attr-defined]  # `Judged`
    ]
    return Grid(f"{step}: recall", ("system", "set", *FIGURES, "per s"), rows)


def _summary(step: str, found: Mapping[str, object]) -> dict[str, float | None]:
    """The flat numbers of a step."""
    match step, found:
        case "ours", {"ours": dict(sets)}:
            return {f"{name}_{key}": each[key].value for name, each in sets.items() for key in FIGURES}
        case "speed", {"ours": dict(ours)}:
            return {key: ours[key] for key in ("throughput_qps", "p50_ms")}
        case "growth", {"ours": list(points)}:
            return {"p95_ms_100k_tables": points[-1]["p95_ms"]}
        case "adding", {"largest_s": float(seconds)}:
            return {"add_database_s": seconds}
    return {}


if __name__ == "__main__":
    sys.exit(main())
