"""Runs the benchmark: see `benchmarks.quality.candidates`.

    python -m benchmarks.quality.candidates [--only SETS] [--systems SYSTEMS] [--n N|all] [--half 0|1] [--split S]

Says first what it will ask and how long that takes. A run that was cut off goes on where it stopped when the same
command is given again; `--plan` says what is left and asks nothing, `--score` reports what is answered so far.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from benchmarks.quality.candidates import report
from benchmarks.quality.candidates.alone import Alone, Diversity, Sampling
from benchmarks.quality.candidates.command import ROOT, finished, told_command
from benchmarks.quality.candidates.evaluation import judged
from benchmarks.quality.candidates.figures import summary
from benchmarks.quality.candidates.gateway import gateways
from benchmarks.quality.candidates.journal import Answer, Journal, identity
from benchmarks.quality.candidates.judging import Scorer
from benchmarks.quality.candidates.model_server import model_server
from benchmarks.quality.candidates.options import PACES, Options, read_options
from benchmarks.quality.candidates.peers import PEERS, installed
from benchmarks.quality.candidates.questions import asked, by_name
from benchmarks.quality.candidates.running import Pass, run
from benchmarks.quality.candidates.site import Site, site
from benchmarks.quality.candidates.tasks import System
from benchmarks.wire.machine import describe
from engine.llm.settings import ModelSettings


def main() -> int:
    """Measures, prints the table, returns the exit status (2: no data, wrong options, another run; 130: stopped)."""
    return finished(lambda: read_options(__doc__), _run, Console(width=170))


async def _run(options: Options, console: Console) -> None:
    machine = describe(ROOT)
    async with site(options.work, options.bench) as place:
        systems = _systems(place, options)
        passes = _passes(options, systems)
        _announce(passes, console)
        if options.plan:
            return
        for each in () if options.score else passes:
            await _measure(each, place, options, machine.commit, console)
        passes = [each for each in passes if each.answers]
        scorer = Scorer(options.bench, place.dsn, options.work / "scoring")
        results = await asyncio.to_thread(judged, options, scorer, passes, console.print)
    missing = [
        f"{name}: not asked, or not installed (extra bench-peers)"
        for name in PEERS
        if not _has(systems, name)
    ]
    given = report.Run(
        machine,
        told_command("benchmarks.quality.candidates", sys.argv[1:]),
        options.selection.seed,
        {"k": options.k, "n": options.selection.n, "half": options.selection.half, "left out": missing}
        | {"split": options.selection.split},
        {"model": ModelSettings().model} | _versions(),
    )
    console.print(report.table(results))
    console.print(summary(results))
    if options.json is not None:
        report.write_json(given, results, options.json)
    if options.page is not None:
        report.write_page(given, results, options.page)
    if options.plot is not None:
        report.plot(results, options.plot)


def _systems(place: Site, options: Options) -> tuple[System, ...]:
    """What is compared, and what of that the options ask for."""
    found: list[System] = [*gateways(place.plain, options.k), Alone(), Sampling(), Diversity()]
    found += installed(place.meter.url, ModelSettings().model)
    return by_name(options.systems, found, "system", lambda system: system.name)


def _passes(options: Options, systems: Sequence[System]) -> list[Pass]:
    made = []
    for of in options.sets:
        chosen = asked(options.bench, of, options.selection)
        for system in systems:
            if of.name in system.sets and chosen:
                name = identity(system.settings, system.sources)
                journal = Journal(options.work / "answers" / of.name / f"{system.name}-{name}.jsonl")
                made.append(Pass(of.name, system, chosen, journal, PACES[system.name]))
    return made


def _announce(passes: Sequence[Pass], console: Console) -> None:
    total = 0.0
    for each in passes:
        pace, measured = each.pace
        minutes = len(each.left) * pace / 60
        total += minutes
        source = "measured" if measured else "assumed"
        console.print(
            f"{each.set_name:16s} {each.system.name:18s} {len(each.left):5d} of {len(each.asked):5d} questions to ask,"
            f" {pace:5.1f} s each ({source}): {minutes:6.1f} min",
            highlight=False,
        )
    console.print(
        f"Together about {total:.0f} min. Stop it when you like: the same command goes on from there."
    )


async def _measure(one: Pass, place: Site, options: Options, commit: str, console: Console) -> None:
    """Asks what is left of a pass, over a model server with an empty cache."""
    if not one.left:
        return
    columns = (TextColumn("{task.description}"), TextColumn("{task.completed}/{task.total}"))
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console) as progress:
        shown = progress.add_task(f"{one.set_name} {one.system.name}", total=len(one.left))

        def told(answer: Answer) -> None:
            progress.advance(shown)
            if answer.error is not None:
                progress.console.print(f"{answer.id}: {answer.error}", markup=False, highlight=False)

        server = model_server(place.meter, options.work / "model.log")
        with server:
            await run(one, place.task, place.meter.take, commit, told)


def _has(systems: Sequence[System], name: str) -> bool:
    return any(system.name == name for system in systems)


def _versions() -> dict[str, str]:
    found = {}
    for name in ("openai", "xllamacpp", "torch", "vanna", "langchain-classic", "langchain-openai"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


if __name__ == "__main__":
    sys.exit(main())
