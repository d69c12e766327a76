"""The engine's networks in its own process and on Ray Serve: `python -m benchmarks.networks --url http://127.0.0.1:8000`.

The same calls in turn, here and there, one at a time and by several threads at once; medians with quartiles. Whoever
measures starts the applications (deploy/ray/models.yaml): how many replicas answer is theirs to say, with --replicas.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.encoder import QUESTIONS, ROOT, texts_of
from benchmarks.wire.machine import describe
from engine.app.networks import Networks, networks_of
from engine.models.encoder import MiniLMEncoder
from engine.models.pointer import packaged_base
from engine.ranking import ranker
from engine.ranking.ranker import cross_encoder
from engine.routing.artifact import BASE, ArtifactStore
from engine.settings import EncoderSettings, EngineSettings
from schema_catalog.types import Column, Snapshot, Table, TableKind

THREADS, EACH = 8, 4
"""Askers at once, and calls of each."""

TABLES, COLUMNS = 20, 8
"""Of the schema that is linked."""

PHRASES = ("select the name of customers", "sum of amount of orders", "grouped by region of customers")
CANDIDATES = 3

SCHEMA = Snapshot(
    "made",
    ("public",),
    tuple(
        Table(
            "public",
            f"table_{number}",
            TableKind.TABLE,
            tuple(Column(f"column_{number}_{each}", "text") for each in range(COLUMNS)),
        )
        for number in range(TABLES)
    ),
)

Call = Callable[[int], object]
"""A call; its number chooses the question."""


@dataclass(frozen=True, slots=True)
class Found:
    """Milliseconds of one call, and calls a second of `THREADS` at once."""

    median_ms: float
    quartiles_ms: tuple[float, float]
    per_second: float


def calls(networks: Networks, settings: EncoderSettings) -> dict[str, Call]:
    """The calls of a question, by name."""
    texts = texts_of(QUESTIONS)
    pointer = networks.pointer(ArtifactStore(Path("none"), packaged_base()).load(BASE))
    reader = networks.reader or cross_encoder(ranker.packaged(), settings)
    # Another one each time remembers nothing; texts of schemas are as long as questions here.
    encoder: MiniLMEncoder = networks.encoder

    def some(number: int, count: int) -> list[str]:
        start = number * count % (len(texts) - count)
        return texts[start : start + count]

    return {
        "encoder, 1 schema text": lambda number: encoder.encode(some(number, 1)),
        "encoder, 32 schema texts": lambda number: encoder.encode(some(number, 32)),
        "encoder, 1 question": lambda number: encoder.encode_tokens_many(some(number, 1)),
        "encoder, 32 questions": lambda number: encoder.encode_tokens_many(some(number, 32)),
        "router, 1 question": lambda number: pointer.read(some(number, 1)),
        f"ranker, {CANDIDATES} candidates": lambda number: reader.scores(
            [(texts[number], (*PHRASES, f"limited to {each}")) for each in range(CANDIDATES)]
        ),
        f"linker, {TABLES} tables": lambda number: networks.linker.link(texts[number], SCHEMA),
    }


def measured(here: Call, there: Call, rounds: int) -> tuple[Found, Found]:
    """Both in turn, one call at a time, then by `THREADS` at once."""
    alone: tuple[list[float], list[float]] = ([], [])
    rates: tuple[list[float], list[float]] = ([], [])
    with ThreadPoolExecutor(THREADS) as pool:
        for number in range(-1, rounds):
            for call, times, rate in zip((here, there), alone, rates, strict=True):
                began = time.perf_counter()
                call(number + 1)
                took = time.perf_counter() - began
                began = time.perf_counter()
                list(pool.map(call, range(THREADS * EACH)))
                if number >= 0:  # the first round warms up
                    times.append(1000 * took)
                    rate.append(THREADS * EACH / (time.perf_counter() - began))
    first, second = (_found(times, rate) for times, rate in zip(alone, rates, strict=True))
    return first, second


def _found(times: list[float], rates: list[float]) -> Found:
    low, middle, high = statistics.quantiles(times)
    return Found(round(middle, 1), (round(low, 1), round(high, 1)), round(statistics.median(rates), 1))


def main() -> None:
    """Prints both, and writes them where asked to."""
    parser = argparse.ArgumentParser(prog="benchmarks.networks")
    parser.add_argument("--url", required=True, help="as [encoder] base_url")
    parser.add_argument("--replicas", type=int, required=True, help="of each application")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    own = EncoderSettings(remembered=1)
    elsewhere = EncoderSettings(remembered=1, base_url=options.url)
    found: dict[str, Any] = {}
    with (
        networks_of(EngineSettings(Path(), "", encoder=own)) as here,
        networks_of(EngineSettings(Path(), "", encoder=elsewhere)) as there,
    ):
        calls_there = calls(there, elsewhere)
        for name, call in calls(here, own).items():
            both = measured(call, calls_there[name], options.rounds)
            found[name] = {"process": asdict(both[0]), "ray": asdict(both[1])}
            for where, each in zip(("process", "ray"), both, strict=True):
                low, high = each.quartiles_ms
                print(
                    f"{name:<26}{where:<9}{each.median_ms:>7.1f} ms ({low} to {high})"
                    f"{each.per_second:>8.1f} /s by {THREADS}"
                )
    if options.json is not None:
        report = {
            "machine": asdict(describe(ROOT)),
            "load": os.getloadavg(),
            "rounds": options.rounds,
            "replicas": options.replicas,
            "threads": THREADS,
            "calls": found,
        }
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
