"""Asks a strong model's recorded answers through the pipeline: see `benchmarks.quality.models`.

python -m benchmarks.quality.models [--sets ambrosia,spider,defog,idk] [--json FILE] [--outcomes FILE]
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import Any

from rich.console import Console

from benchmarks.harness.command import Options, by_name, measuring, parser, told_command
from benchmarks.harness.drawing import Item
from benchmarks.harness.questions import Question
from benchmarks.harness.report import Grid, Part, Run, printed, write_lines, write_result
from benchmarks.harness.scorer import scored
from benchmarks.harness.site import DATA, Site, load, named, prepared, serving
from benchmarks.harness.systems import asked_now
from benchmarks.quality.models.own_time import SIZES, made, own
from benchmarks.quality.models.recorded import answering_with, recorded, reply, shown
from benchmarks.quality.models.servers import answering
from engine.app import pipeline
from engine.ask.explanation import explained
from engine.values.errors import NLError
from engine.values.tools import Tools
from pgparley.cluster import Cluster
from schema_catalog.types import Database

MODULE = "benchmarks.quality.models"

CALLS = 6
"""Of the model for a question at most, as for a user's; its effort bounds them further."""


@dataclass(frozen=True, slots=True)
class RecordedSet:
    """Questions of the recording. `judge`: the scorer's subcommand, empty where each is to be refused.

    `figures`: of the scorer's, by their names in the summary.
    """

    name: str
    judge: str = ""
    file: str = ""
    figures: Mapping[str, str] | None = None


SETS = (
    RecordedSet(
        "ambrosia",
        "readings",
        "ambrosia/questions.jsonl",
        {
            "ambrosia_all": "ambiguous: all readings found",
            "ambrosia_first": "ambiguous: first is a right reading",
            "ambrosia_rows": "ambiguous: mean set size",
            "clear_first": "clear: first right",
            "clear_more_than_one": "clear: more than one shown",
        },
    ),
    RecordedSet(
        "spider", "ex", "spider/dev.jsonl", {"spider_acc1": "accuracy@1", "spider_set": "accuracy of the set"}
    ),
    RecordedSet("defog", "ex", "defog/questions.jsonl", {"defog_acc1": "accuracy@1"}),
    RecordedSet("idk"),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one question. `refusal`: the asker's words, None where statements are shown.

    `dropped`: what readings mean of which no row says anything.
    """

    id: str
    set: str
    statements: tuple[str, ...]
    refusal: str | None
    calls: int
    seconds: float
    error: str | None = None
    confidences: tuple[float, ...] = ()
    dropped: tuple[str, ...] = ()


def main() -> int:
    """Measures, prints the figures, returns the exit status (2: no data, another run; 130: stopped)."""
    return measuring(parser(MODULE, __doc__, k=5), Options, _run)


async def _run(options: Options, console: Console) -> None:
    items = recorded(options.bench)
    sets = by_name(options.sets, SETS, "set")
    databases = sorted({item["db"] for item in items})

    async def fill(running: Cluster) -> tuple[Database, ...]:
        await prepared(running, DATA)
        await asyncio.to_thread(load, running, options.bench, ("spider", "defog", "ambrosia"))
        return tuple(named(running, name) for name in (*databases, *await made(running, DATA)))

    said = {
        item["question"]: reply(
            *((each["meaning"], each["sql"]) for each in item["readings"]), cannot=item["why_not"]
        )
        for item in items
    }
    async with serving(options.work, fill) as place:
        async with answering_with(place.tools, said) as tools:
            asked = _warmed(items, sets, options.n)
            outcomes = [await _asked(tools, item, options.k) for item in asked][1:]
        services = await answering(place, [each for each in items if each["set"] == "spider"], said)
        measured = {size: await own(place, size) for size in SIZES}
        found = {each.name: _figures(each, outcomes, place, options) for each in sets}
    figures = {
        f"own_{name}_{size}": value for size, each in measured.items() for name, value in asdict(each).items()
    }
    told(found, outcomes, (services, figures), options, console)


def _warmed(items: Sequence[Item], sets: Sequence[RecordedSet], n: int | None) -> list[Item]:
    """The questions of the sets, `n` of each, the first one twice: once for loading networks."""
    kept = [item for each in sets for item in [one for one in items if one["set"] == each.name][:n]]
    return [kept[0], *kept]


async def _asked(tools: Tools, item: Item, k: int) -> Outcome:
    """What is shown of one question, before a threshold that would be the embedded model's."""
    question = Question(item["id"], item["question"], item["db"])
    began = time.perf_counter()
    try:
        state = await pipeline.run(asked_now(question, k, CALLS), tools)
    except NLError as error:
        return Outcome(item["id"], item["set"], (), None, 0, time.perf_counter() - began, error.message)
    seconds = time.perf_counter() - began
    refusal = None if state.refusal is None else state.refusal.words
    rows = shown(state)
    told = "\n".join(each.explanation for each in explained(replace(state, candidates=rows)).candidates)
    said = (each["meaning"].rstrip(".") for each in item["readings"])
    return Outcome(
        item["id"],
        item["set"],
        tuple(each.sql for each in rows),
        refusal,
        state.usage.calls,
        seconds,
        confidences=tuple(each.confidence for each in rows),
        dropped=tuple(each for each in said if each not in told),
    )


def _figures(of: RecordedSet, outcomes: Sequence[Outcome], place: Site, options: Options) -> dict[str, Any]:
    """The scorer's figures of a set, each with its interval; of one that is to be refused the share that is."""
    own = [each for each in outcomes if each.set == of.name]
    refused = sum(each.refusal is not None for each in own)
    if not of.judge:
        return {"n": len(own), "refused": refused}
    given = [{"id": each.id, "candidates": [{"sql": sql} for sql in each.statements]} for each in own]
    folder, questions = options.work / "scoring" / of.name, options.bench / of.file
    report = scored(options.bench, of.judge, questions, given, folder, dsn=place.dsn)
    return {"n": len(own), "refused": refused, **report["figures"], "intervals": report["intervals95"]}


def told(
    found: Mapping[str, dict[str, Any]],
    outcomes: Sequence[Outcome],
    beside: tuple[Mapping[str, bool], Mapping[str, float]],
    options: Options,
    console: Console,
) -> None:
    """Prints the figures and writes them where the options say so. `beside`: which services answer; our own time."""
    services, own = beside
    sets = [each for each in SETS if each.name in found]
    parts = {each.name: Part(found[each.name]["n"], found[each.name], _summary(each, found)) for each in sets}
    answerable = [each for each in outcomes if each.set != "idk"]
    counts = {
        "calls": sum(each.calls for each in outcomes) / len(outcomes),
        "errors": float(sum(each.error is not None for each in outcomes)),
        "rows": float(sum(len(each.statements) for each in outcomes)),
        "readings_dropped": float(sum(len(each.dropped) for each in outcomes)),
        "answerable_refused": float(sum(each.refusal is not None for each in answerable)),
    }
    parts["answers"] = Part(len(outcomes), [asdict(each) for each in outcomes if each.dropped], counts)
    times = {"own_ms_recorded": 1000 * median(each.seconds for each in outcomes), **own}
    parts["own"] = Part(len(outcomes), times, times)
    served = {"servers_tried": float(len(services)), "servers_answering": float(sum(services.values()))}
    parts["servers"] = Part(len(services), services, served)
    rows = [
        (name, str(part.n), key, f"{value or 0:.3f}")
        for name, part in parts.items()
        for key, value in part.summary.items()
    ]
    printed(console, [Grid("A strong model's recorded answers", ("set", "n", "figure", "value"), rows)])
    if options.outcomes is not None:
        write_lines(options.outcomes, outcomes)
    if options.json is not None:
        config = {"k": options.k, "calls": CALLS}
        run = Run("models", told_command(MODULE, sys.argv[1:]), options.seed, config)
        write_result(options.json, run, parts)


def _summary(of: RecordedSet, found: Mapping[str, dict[str, Any]]) -> dict[str, float]:
    own = found[of.name]
    if not of.judge:
        return {"idk_refused": own["refused"]}
    return {key: own[name] for key, name in (of.figures or {}).items()}


if __name__ == "__main__":
    sys.exit(main())
