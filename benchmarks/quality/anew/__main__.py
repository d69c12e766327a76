"""Asks a strong model anew: see `benchmarks.quality.anew`.

python -m benchmarks.quality.anew [--sets everyday,field,ambrosia] [--model URL [--name NAME] [--key KEY]]
    [--n N] [--json FILE] [--outcomes FILE]
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from statistics import median

from rich.console import Console

from benchmarks.harness.command import Options, by_name, measuring, parser, told_command
from benchmarks.harness.questions import Question
from benchmarks.harness.report import Grid, Part, Run, printed, write_lines, write_result
from benchmarks.harness.site import serving
from benchmarks.harness.systems import READER, asked_now
from benchmarks.quality.anew.sets import SETS, AskedSet, Put, Shown
from benchmarks.quality.models.recorded import answering_with, asking_for_readings, reply, shown
from engine.app import pipeline
from engine.app.prompt_log import RecordingModel
from engine.llm.client import ChatModel
from engine.values.deadline import Deadline
from engine.values.errors import NLError
from engine.values.messages import Asker
from engine.values.model_settings import ModelSettings
from engine.values.tools import Tools

MODULE = "benchmarks.quality.anew"
CALLS = 6
"""Of the model for a question at most, as for a user's."""

CANNOT = "There is nothing about it"


@dataclass(frozen=True, slots=True)
class AnewOptions(Options):
    """Those of every benchmark, and where the model is; without an address a stand-in that never can."""

    model: str | None
    name: str
    key: str | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a question. `asked`: the model was. `calls`: of it. `databases`: those that it was shown.

    `refusal`: in the asker's words. `error`: of the service, as where nobody has written the answer yet.
    """

    id: str
    set: str
    asked: bool
    calls: int
    databases: tuple[str, ...]
    rows: tuple[tuple[str, str], ...]
    confidences: tuple[float | None, ...]
    refusal: str | None
    error: str | None
    seconds: float


def main() -> int:
    """Measures, prints the figures, returns the exit status (2: a wrong option, another run; 130: stopped)."""
    made = parser(MODULE, __doc__, k=5)
    made.add_argument("--model", help="the service's base address; none: a stand-in that never can")
    made.add_argument("--name", default="strong", help="the model's name there")
    made.add_argument("--key", help="the service's key")
    return measuring(made, AnewOptions, _run)


async def _run(options: AnewOptions, console: Console) -> None:
    parts = {
        each.name: await _measured(each, options, console) for each in by_name(options.sets, SETS, "set")
    }
    rows = [
        (name, str(part.n), key, f"{value:.3f}")
        for name, part in parts.items()
        for key, value in part.summary.items()
    ]
    printed(console, [Grid("A model asked anew", ("set", "n", "figure", "value"), rows)])
    if options.json is not None:
        config = {"model": options.name if options.model else "a stand-in", "calls": CALLS, "k": options.k}
        write_result(
            options.json, Run("anew", told_command(MODULE, sys.argv[1:]), options.seed, config), parts
        )


async def _measured(of: AskedSet, options: AnewOptions, console: Console) -> Part:
    work = options.work / of.name
    await asyncio.to_thread(work.mkdir, parents=True, exist_ok=True)
    puts = of.puts(options.bench)[: options.n]
    async with serving(work, lambda running: of.made(running, options.bench)) as place:
        async with _model(place.tools, puts, options) as tools:
            outcomes = [await _asked(tools, of.name, put, options.k) for put in puts]
        found = [Shown(put, each.rows) for put, each in zip(puts, outcomes, strict=True)]
        right = await of.judged(place.cluster, options.bench, work, found)
    summary = {
        **right,
        "asked": float(sum(each.asked for each in outcomes)),
        "own_database_shown": float(
            sum(put.own in each.databases for put, each in zip(puts, outcomes, strict=True))
        ),
        "refused": float(sum(each.refusal is not None for each in outcomes)),
        "errors": float(sum(each.error is not None for each in outcomes)),
        "calls": sum(each.calls for each in outcomes) / len(outcomes),
        "own_ms": 1000 * median(each.seconds for each in outcomes),
    }
    console.print({of.name: summary})
    if options.outcomes is not None:
        write_lines(options.outcomes.with_suffix(f".{of.name}.jsonl"), outcomes)
    return Part(len(outcomes), summary, summary)


@asynccontextmanager
async def _model(tools: Tools, puts: Sequence[Put], options: AnewOptions) -> AsyncIterator[Tools]:
    if options.model is None:
        async with answering_with(tools, {put.text: reply(cannot=CANNOT) for put in puts}) as given:
            yield given
        return
    settings = ModelSettings(base_url=options.model, model=options.name)
    if options.key is not None:
        settings = replace(settings, api_key=options.key)
    model = ChatModel(settings, options.model)
    try:
        await model.find_out(Deadline(time.monotonic() + 60))
        yield asking_for_readings(tools, model)
    finally:
        await model.aclose()


async def _asked(tools: Tools, name: str, put: Put, k: int) -> Outcome:
    begun = asked_now(Question(put.id, put.text, put.db), k, CALLS)
    begun = replace(begun, ask=replace(begun.ask, asker=Asker(READER, put.connected)))
    model = RecordingModel(tools.model)
    began, error, refusal, calls = time.perf_counter(), None, None, 0
    rows: tuple[tuple[str, str], ...] = ()
    confidences: tuple[float | None, ...] = ()
    routes: tuple[str, ...] = ()
    try:
        state = await pipeline.run(begun, replace(tools, model=model))
        rows = tuple((each.database, each.sql) for each in shown(state))
        confidences = tuple(each.confidence for each in shown(state))
        routes, calls = tuple(each.database.name for each in state.routes), state.usage.calls
        refusal = None if state.refusal is None else state.refusal.explanation
        if not rows and refusal is None:
            refusal = "no route" if not state.routes else "no statement"
    except NLError as problem:
        error = problem.message
    seconds = round(time.perf_counter() - began, 3)
    asked = bool(model.sent)
    databases = routes if asked else ()
    return Outcome(put.id, name, asked, calls, databases, rows, confidences, refusal, error, seconds)


if __name__ == "__main__":
    sys.exit(main())
