"""Measures routing: ours, baselines and ablations on the same questions with the same scorer, and what it costs.

    python -m benchmarks.quality.routing [--bench FOLDER] [--only STEPS] [--half 0|1] [--crush-n N] [--json FILE]
    python -m benchmarks.quality.routing --folds

Its questions are the development sets': each time that a router of ours is asked them, `looks` writes it down.
`--folds` asks none of them and shows what `training.routing_folds` measured on the training databases.

A step's result is kept in the work folder as soon as it is there; a later run reads it from there unless the step
is named by `--only`, so a long run may be cut off and parts may be repeated. Steps: train, ours, ablations, bm25,
sxfmr, crush, speed, adding, growth.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rich.console import Console
from rich.progress import track

from benchmarks.quality.candidates.meter import Meter
from benchmarks.quality.candidates.model_server import model_server
from benchmarks.quality.routing import cost, looks, report
from benchmarks.quality.routing.collection import (
    ROOT,
    SETS,
    Item,
    View,
    half_of,
    judged,
    questions_of,
    read_views,
)
from benchmarks.quality.routing.systems import (
    IMAGINE,
    Bm25,
    Crush,
    Dense,
    Imagination,
    Ours,
    System,
    timed,
)
from benchmarks.quality.routing.versions import trained, versions
from benchmarks.wire.machine import describe
from engine.core.deadline import Deadline
from engine.core.ports import Prompt
from engine.llm.client import ChatModel
from engine.llm.settings import ModelSettings
from engine.models.encoder import MiniLMEncoder
from engine.routing.artifact import BASE, ArtifactStore
from engine.routing.router import HybridRouter
from engine.routing.training import TableOrder, TrainingSettings
from engine.routing.vectors import VectorCache
from engine.settings import EncoderSettings
from pgparley.config import cache_dir

STEPS = ("train", "ours", "ablations", "bm25", "sxfmr", "crush", "speed", "adding", "growth")
WORLDS = ("", "pool_")
SEED = 1
FOLDS = ROOT / "benchmarks" / "results" / "routing-folds.json"


@dataclass(frozen=True, slots=True)
class Choices:
    """What the command line says. `again`: steps that are run even where a result is kept."""

    bench: Path
    work: Path
    again: tuple[str, ...]
    steps: tuple[str, ...]
    half: int | None
    crush_n: int
    json: Path | None
    plot: Path | None
    folds: bool


class Bench:
    """The collections and systems of one run, made when they are first needed."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.encoder = MiniLMEncoder()
        self.cache = VectorCache(self.encoder, model="bench", path=choices.work / "vectors.sqlite")
        self._views: dict[str, list[View]] = {}

    def views(self, world: str) -> list[View]:
        """166 databases, or 243 with the pool's."""
        if world not in self._views:
            self._views[world] = list(read_views(self.choices.bench, pool=bool(world)))
        return self._views[world]

    @cached_property
    def sets(self) -> dict[str, list[Item]]:
        """The questions of each test set."""
        return {
            name: questions_of(self.choices.bench / path, self.choices.half) for name, path in SETS.items()
        }

    @property
    def routers(self) -> Path:
        """Folder of the trained versions."""
        return self.choices.work / "routers"

    def version(self, world: str, kind: str = "full") -> str:
        """Of the router trained for a collection, or the base where none was."""
        name = f"{world}{kind}"
        known = {manifest.version for manifest in ArtifactStore(self.routers, self.routers).versions()}
        return name if name in known else BASE

    def router(self, version: str | None) -> HybridRouter:
        """Ours with a version of the learned leg, None for the retrieval leg alone."""
        return HybridRouter(
            self.encoder,
            self.cache,
            versions=None if version is None else versions(self.routers, version),
        )

    def judged(self, system: System, world: str, sample: int | None = None) -> Item:
        """Figures of every set over a collection, whole and by half, and questions a second."""
        result: Item = {}
        for name, items in self.sets.items():
            asked = items if sample is None else _sampled(items, sample)
            rankings, seconds = timed(system, [item["question"] for item in asked])
            result[f"{world}{name}"] = judged(self.choices.bench, asked, rankings) | {
                "qps": len(asked) / seconds
            }
            for half in (0, 1):
                pairs = [
                    pair for pair in zip(asked, rankings, strict=True) if half_of(pair[0]["question"]) == half
                ]
                if pairs:
                    split = [list(side) for side in zip(*pairs, strict=True)]
                    result[f"{world}{name}"][f"half_{half}"] = judged(self.choices.bench, *split)
        return result


def _sampled(items: Sequence[Item], size: int) -> list[Item]:
    """The same ones in every run."""
    return random.Random(SEED).sample(items, min(size, len(items)))  # noqa: S311  questions, no secret


def _train(bench: Bench) -> Item:
    result: Item = {}
    kinds = [
        ("", "full", TableOrder.DRAWN),
        ("pool_", "full", TableOrder.DRAWN),
        ("", "any_order", TableOrder.ANY),
    ]
    for world, kind, order in kinds:
        if bench.version(world, kind) != BASE:
            raise SystemExit(f"remove {bench.routers} to train again")
        settings = TrainingSettings(order=order, seed=SEED)
        result[f"{world}{kind}"] = trained(
            bench.routers,
            f"{world}{kind}",
            bench.views(world),
            encoder=bench.cache,
            settings=settings,
            progress=_quiet,
        )
    return result


def _quiet(_progress: object) -> None:
    """Training says nothing here: the whole step is a matter of minutes."""


def _ours(bench: Bench) -> Item:
    result: Item = {}
    for world in WORLDS:
        version = bench.version(world)
        result |= bench.judged(Ours(bench.router(version), bench.views(world)), world)
        result[f"{world}version"] = version
    return result


def _ablations(bench: Bench) -> Item:
    """Each without one thing; all over both collections, but the order of tables, trained for one alone."""
    result: Item = {}
    for world in WORLDS:
        views, full = bench.views(world), bench.version(world)
        systems: dict[str, System] = {
            "no generative leg": Ours(bench.router(None), views),
            "not trained on the catalog": Ours(bench.router(BASE), views),
            "no retrieval leg": Ours(bench.router(full), views, without_retrieval=True),
        }
        if bench.version(world, "any_order") != BASE:
            systems["no DFS order"] = Ours(bench.router(bench.version(world, "any_order")), views)
        for name, system in systems.items():
            result.setdefault(name, {}).update(bench.judged(system, world))
    return result


def _bm25(bench: Bench) -> Item:
    return _both_ways(bench, "BM25", lambda views, mean: Bm25(views, mean=mean))


def _sxfmr(bench: Bench) -> Item:
    return _both_ways(
        bench,
        "SXFMR",
        lambda views, mean: Dense(views, MiniLMEncoder(EncoderSettings(remembered=1)), mean=mean),
    )


def _both_ways(bench: Bench, name: str, make: Callable[[Sequence[View], bool], System]) -> Item:
    result: Item = {}
    for mean in (False, True):
        judged_ones = result.setdefault(f"{name}, mean" if mean else name, {})
        for world in WORLDS:
            judged_ones.update(bench.judged(make(bench.views(world), mean), world))
    return result


def _crush(bench: Bench) -> Item:
    """On a fixed sample of each set; ours on the same sample beside it."""
    sample = bench.choices.crush_n
    held = Imagination(bench.choices.work / "crush.jsonl")
    missing = held.missing(
        item["question"] for items in bench.sets.values() for item in _sampled(items, sample)
    )
    if missing:
        asyncio.run(_imagine(missing, held, bench.choices.work / "model.log"))
    result: Item = {"n_each": sample}
    for world in WORLDS:
        views = bench.views(world)
        systems: dict[str, System] = {
            "crush_bm25": Crush(Bm25(views), views, held.pieces),
            "crush_sxfmr": Crush(Dense(views, bench.encoder), views, held.pieces),
            "ours on the sample": Ours(bench.router(bench.version(world)), views),
        }
        for name, system in systems.items():
            result.setdefault(name, {}).update(bench.judged(system, world, sample))
    return result


async def _imagine(missing: Sequence[str], held: Imagination, log: Path) -> None:
    server = Meter()
    with model_server(server, log):
        model = ChatModel(ModelSettings(), f"{server.target}/v1")
        gate = asyncio.Semaphore(8)

        async def ask(question: str) -> None:
            async with gate:
                deadline = Deadline(time.monotonic() + 600, time.monotonic)
                answer = await model.complete(Prompt(IMAGINE, question), deadline=deadline, max_tokens=120)
            held.keep(question, answer.text)

        tasks = [asyncio.create_task(ask(question), name="imagine") for question in missing]
        for task in track(tasks, "imagining schemas"):
            await task
        await model.aclose()


def _speed(bench: Bench) -> Item:
    texts = [item["question"] for items in bench.sets.values() for item in items]
    random.Random(SEED).shuffle(texts)  # noqa: S311  an order, no secret
    result: Item = {}
    for world in WORLDS:
        for name, version in (("ours", bench.version(world)), ("retrieval leg alone", None)):
            router, views = bench.router(version), bench.views(world)
            alone = cost.latency(router, views, texts[: cost.ASKED + cost.WARM])
            result[f"{world}{name}"] = alone | {"throughput_qps": cost.throughput(router, views, texts[:512])}
    result["memory_mb"] = cost.resident_mb()
    return result


def _adding(bench: Bench) -> Item:
    return cost.adding(bench.views("pool_"))


def _growth(bench: Bench) -> Item:
    points = {
        name: cost.growth(bench.routers, learned=name == "ours") for name in ("ours", "retrieval leg alone")
    }
    return {"points": points}


RUN: dict[str, Callable[[Bench], Item]] = {
    "train": _train, "ours": _ours, "ablations": _ablations, "bm25": _bm25, "sxfmr": _sxfmr, "crush": _crush,
    "speed": _speed, "adding": _adding, "growth": _growth,
}  # fmt: skip


def main() -> int:
    """Runs what is missing, prints the tables and returns the exit status (2: no benchmark data)."""
    choices = _choices()
    if choices.folds:
        Console(width=170).print(report.folds(FOLDS))
        return 0
    if not (choices.bench / "score.py").is_file():
        print(f"no benchmark in {choices.bench}: give its folder with --bench", file=sys.stderr)
        return 2
    choices.work.mkdir(parents=True, exist_ok=True)
    console, bench = Console(width=170), Bench(choices)
    machine = describe(ROOT)
    found: dict[str, Item] = {}
    for step in STEPS:
        file = choices.work / f"{step}{'' if choices.half is None else choices.half}.json"
        if step in choices.steps and (step in choices.again or not file.is_file()):
            console.print(f"{step} …", style="dim")
            kept = RUN[step](bench) | {
                "commit": machine.commit,
                "dirty": machine.dirty,
                "load": report.load(),
            }
            file.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
            if step in looks.LOOKING:
                looks.note(looks.FILE, step, kept, machine, half=choices.half)
        if file.is_file():
            found[step] = json.loads(file.read_text(encoding="utf-8"))
    for table in report.tables(found):
        console.print(table)
    if choices.json:
        report.write(choices.json, found, machine, seed=SEED, half=choices.half)
    if choices.plot:
        report.plot(choices.plot, found)
    return 0


def _choices() -> Choices:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--bench", type=Path, default=ROOT.parent / "shared" / "bench", help="benchmark folder"
    )
    parser.add_argument(
        "--work", type=Path, default=cache_dir() / "bench-routing", help="where results are kept"
    )
    parser.add_argument(
        "--only", default="", help="run these steps, again if need be, and no other: " + ",".join(STEPS)
    )
    parser.add_argument("--half", type=int, choices=(0, 1), help="only one half of the questions, by a hash")
    parser.add_argument("--crush-n", type=int, default=100, help="questions of each set for CRUSH")
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--plot", type=Path, help="draw them here")
    parser.add_argument("--folds", action="store_true", help="show the figures of the folds; measure nothing")
    args = parser.parse_args()
    only = tuple(step for step in args.only.split(",") if step)
    if unknown := set(only) - set(STEPS):
        parser.error(f"no such step: {', '.join(sorted(unknown))}")
    return Choices(
        args.bench,
        args.work,
        only,
        only or STEPS,
        args.half,
        args.crush_n,
        args.json,
        args.plot,
        args.folds,
    )


if __name__ == "__main__":
    sys.exit(main())
