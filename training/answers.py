"""Makes what the judgement of readings is fitted on: what becomes of a strong model's recorded answers.

    python -m training.answers --out FILE [--answers FILES]

`FILES` have the form of the benchmark's own (`strong/answers.jsonl`), with those of `benchmarks.quality.anew`. Each
answer is played through the pipeline. A line of what is made is a question, by its id, with what is known of each
reading and whether it is right; no statement and no word of a question. Clear questions of AMBROSIA's half B are left
out, and so are those that nothing answers.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.harness.command import check_bench, finished
from benchmarks.harness.drawing import Item, in_half_a, read_items
from benchmarks.harness.questions import Question
from benchmarks.harness.report import write_lines
from benchmarks.harness.scorer import scored
from benchmarks.harness.site import DATA, Site, load, named, prepared, serving
from benchmarks.harness.systems import asked_now
from benchmarks.quality.anew.sets import (
    everyday_items,
    everyday_made,
    field_made,
    field_ranks,
    right_everyday,
)
from benchmarks.quality.models.recorded import answering_with, recorded
from engine.app import pipeline
from engine.judge.features import route_features
from engine.judge.judge import known
from engine.values.errors import NLError
from engine.values.state import State
from engine.values.tools import Tools
from pgparley.cluster import Cluster
from pgparley.config import cache_dir
from schema_catalog.types import Database
from training.command import parser
from training.lists import UNRANKED, QuestionList, Written

WIDTH, CALLS = 5, 6
"""Readings of a question at most, and calls of the model, as for a user."""

JUDGES = {
    "ambrosia": ("readings", "ambrosia/questions.jsonl"),
    "spider": ("ex", "spider/dev.jsonl"),
    "defog": ("ex", "defog/questions.jsonl"),
}
"""The scorer's subcommand and questions of a set; the databases of the others are servers' own."""


@dataclass(frozen=True, slots=True)
class Played:
    """An answer, and the state that it came to before anything was ranked; None where there is none."""

    item: Item
    state: State | None

    @property
    def statements(self) -> list[str]:
        """Those that were to be ranked."""
        return [] if self.state is None else [each.sql for each in self.state.candidates]


def chosen(bench: Path, files: Sequence[Path]) -> list[Item]:
    """The answers that are played."""
    clear = {item["id"] for item in read_items(bench / "ambrosia/questions.jsonl") if not item["ambiguous"]}
    items = [*recorded(bench), *(item for file in files for item in read_items(file))]
    return [item for item in items if item["readings"] and (item["id"] not in clear or in_half_a(item["db"]))]


@asynccontextmanager
async def played(work: Path, bench: Path, items: Sequence[Item]) -> AsyncIterator[tuple[Site, list[Played]]]:
    """The answers' states, and the site that they are of."""

    async def fill(running: Cluster) -> Sequence[Database]:
        own = await field_made(running, bench) if any(item["set"] == "field" for item in items) else []
        await prepared(running, DATA)
        await asyncio.to_thread(load, running, bench, tuple(JUDGES))
        inside = sorted({item["db"] for item in items if item["set"] in JUDGES})
        return [*own, *await everyday_made(running), *(named(running, name) for name in inside)]

    said = {
        item["question"]: json.dumps(
            {"readings": [{"assumes": "", **each} for each in item["readings"]], "cannot": item["why_not"]}
        )
        for item in items
    }
    async with serving(work, fill) as place, answering_with(place.tools, said) as tools:
        yield place, [Played(item, await _state(tools, item)) for item in items]


async def _state(tools: Tools, item: Item) -> State | None:
    try:
        return await pipeline.run(
            asked_now(Question(item["id"], item["question"], item["db"]), WIDTH, CALLS), tools, UNRANKED
        )
    except NLError:
        return None


async def verdicts(place: Site, bench: Path, work: Path, of: Sequence[Played]) -> dict[str, list[bool]]:
    """Of each answer by its id, which of its statements are right."""
    found: dict[str, list[bool]] = {each.item["id"]: [] for each in of}
    golds = {item["id"]: item["golds"] for item in everyday_items()}
    for name in dict.fromkeys(each.item["set"] for each in of):
        own = [each for each in of if each.item["set"] == name]
        for turn in range(max(len(each.statements) for each in own)):
            there = {each.item["id"]: each.statements[turn] for each in own if len(each.statements) > turn}
            given = [{"id": key, "candidates": [{"sql": sql}]} for key, sql in there.items()]
            if name in JUDGES:
                judge, file = JUDGES[name]
                folder = work / "scoring" / name
                report = await asyncio.to_thread(
                    scored, bench, judge, bench / file, given, folder, dsn=place.dsn
                )
                right = {item["id"]: _first(item) for item in report["items"]}
            elif name == "field":
                right = {
                    key: rank == 1
                    for key, rank in (await field_ranks(place.cluster, bench, work, given)).items()
                }
            else:
                databases = {each.item["id"]: each.item["db"] for each in own}
                right = {
                    key: await right_everyday(place.cluster, databases[key], sql, golds[key])
                    for key, sql in there.items()
                }
            for key in there:
                found[key].append(right[key])
    return found


def _first(item: Mapping[str, Any]) -> bool:
    return bool(item["first"] if "first" in item else item["rank"] == 1)


def listed(each: Played, right: Sequence[bool], tools: Tools) -> QuestionList:
    """What is known of an answer's statements. Runs networks: not for the event loop."""
    made = QuestionList(each.item["id"], WIDTH, (), each.item["db"])
    if each.state is None or not each.state.candidates:
        return made
    _, features = known(each.state, tools)
    candidates = tuple(
        Written(right=one, features={name: round(value, 4) for name, value in of.items() if value})
        for one, of in zip(right, features, strict=True)
    )
    route = {name: round(value, 4) for name, value in route_features(each.state.routes[0]).items()}
    return replace(made, candidates=candidates, route=route)


def known_alone(each: QuestionList) -> dict[str, Any]:
    """A list without what is as by default."""
    said = asdict(each)
    said["candidates"] = [{key: value for key, value in one.items() if value} for one in said["candidates"]]
    return {key: value for key, value in said.items() if value}


async def _record(given: argparse.Namespace, console: Console) -> None:
    items = chosen(given.bench, given.answers)
    async with played(given.work, given.bench, items) as (place, found):
        right = await verdicts(place, given.bench, given.work, found)
        lists = [await asyncio.to_thread(listed, each, right[each.item["id"]], place.tools) for each in found]
    write_lines(given.out, map(known_alone, lists))
    console.print(f"{len(lists)} answers in {given.out}", highlight=False)


def _options() -> argparse.Namespace:
    made = parser(__doc__)
    made.add_argument("--work", type=Path, default=cache_dir() / "bench-answers", help="for the databases")
    made.add_argument(
        "--answers", type=Path, nargs="+", default=[], help="answers beside the benchmark's own"
    )
    given = made.parse_args()
    check_bench(given.bench)
    if given.out is None:
        raise ValueError("--out says which file to write")
    return given


def main() -> int:
    """Plays all; returns the exit status (2: no data, another run; 130: stopped)."""
    return finished(_options, _record)


if __name__ == "__main__":
    sys.exit(main())
