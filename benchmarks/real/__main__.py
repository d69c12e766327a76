"""Runs the benchmark: see `benchmarks.real`.

    python -m benchmarks.real [--half open|aside] [--plan] [--score]
    python -m benchmarks.real --check

Asks the questions of a half of pgparley and of its model alone. A run that was cut off goes on where it stopped when
the same command is given again; `--plan` says what is left and asks nothing, `--score` reports what is answered so far.
`--check` runs the gold statements instead and shows what they find.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import asyncpg
from rich.console import Console

from benchmarks.quality.ablations.replay import Completions, Replay, file_for
from benchmarks.quality.candidates.command import ROOT, check_bench, finished, told_command
from benchmarks.quality.candidates.journal import Answer
from benchmarks.quality.candidates.model_server import model_server
from benchmarks.quality.candidates.running import Pass, run
from benchmarks.quality.candidates.site import STORE, Site, readable, serving
from benchmarks.real import aside_log, report
from benchmarks.real.databases import SCHEMAS, load
from benchmarks.real.gold import found_by
from benchmarks.real.packages import PackageError
from benchmarks.real.questions import Half, read_questions
from benchmarks.real.scoring import Judging, figures, refused
from benchmarks.real.systems import in_turns, passes
from benchmarks.wire.machine import cpu_seconds, describe
from pgparley.cluster import Cluster
from pgparley.config import cache_dir
from pgparley.config import load as configuration
from pgparley.demo.loading import SampleError
from schema_catalog.types import Database

LOOKS = ROOT / "benchmarks" / "results" / "real-looks.jsonl"


@dataclass(frozen=True, slots=True)
class Options:
    """What is asked, and where the results go."""

    bench: Path
    work: Path
    packages: Path
    half: Half
    k: int
    check: bool
    plan: bool
    score: bool
    json: Path | None
    page: Path | None


def main() -> int:
    """Measures, prints the table, returns the exit status (2: no data, wrong gold, another run; 130: stopped)."""
    return finished(_options, _run, Console(width=140))


def _options() -> Options:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.real",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    shared = ROOT.parent / "shared" / "bench"
    parser.add_argument("--bench", type=Path, default=shared, help="the scorer's folder")
    parser.add_argument(
        "--work", type=Path, default=cache_dir() / "bench-real", help="where answers are kept"
    )
    parser.add_argument("--packages", type=Path, default=cache_dir() / "data-packages", help="data packages")
    parser.add_argument("--half", type=Half, choices=[*Half], default=Half.OPEN)
    parser.add_argument("--k", type=int, default=3, help="candidates that pgparley is asked for")
    parser.add_argument("--check", action="store_true", help="run the gold statements, ask nothing")
    parser.add_argument("--plan", action="store_true", help="say what is left to ask")
    parser.add_argument("--score", action="store_true", help="ask nothing, report what is answered")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--page", type=Path, help="of the open half's failures")
    given = parser.parse_args()
    check_bench(given.bench)
    return Options(**vars(given))


async def _run(options: Options, console: Console) -> None:
    async def fill(running: Cluster) -> tuple[Database, ...]:
        try:
            loaded = await load(running, options.packages)
        except (PackageError, SampleError) as problem:
            raise ValueError(str(problem)) from problem
        if loaded:
            await _forget_store(running)
        return tuple(
            readable(Database(name, running.dsn(name), name, schemas[:1], schemas))
            for name, schemas in SCHEMAS.items()
        )

    async with serving(options.work, fill) as place:
        if options.check:
            await _checked(place, options, console)
        else:
            await _measured(place, options, console)


async def _forget_store(running: Cluster) -> None:
    """The catalog holds schemas and values of what was loaded before."""
    connection = await asyncpg.connect(running.dsn())
    try:
        await connection.execute(f"DROP DATABASE IF EXISTS {STORE}")
    finally:
        await connection.close()


async def _checked(place: Site, options: Options, console: Console) -> None:
    questions = read_questions()
    await found_by(place.cluster, questions, console)
    judging = Judging(options.bench, place.cluster, options.work / "scoring" / "gold")
    if wrong := await asyncio.to_thread(refused, judging, questions):
        raise ValueError("\n".join(["the scorer does not find right:", *wrong]))
    console.print(
        f"{len(questions)} questions, {sum(len(each.gold) for each in questions)} statements: all right"
    )


async def _measured(place: Site, options: Options, console: Console) -> None:
    questions = tuple(each for each in read_questions() if each.half is options.half)
    model = configuration(None).embedded_model.path
    kept = Completions(await asyncio.to_thread(file_for, options.work, model))
    replay = Replay(place.tools.model, kept)
    asked = passes(options.work, questions, options.k, replay)
    for each in asked:
        console.print(f"{each.set_name}: {len(each.left)} of {len(each.asked)} questions left")
    if options.plan:
        return
    if not options.score and any(each.left for each in asked):
        with model_server(place.meter, options.work / "model.log") as server:
            replay.clock = partial(cpu_seconds, (server,))
            for part in in_turns(asked[0].asked):
                for each in asked:
                    await _ask(replace(each, asked=part), place, replay, console)
    kept.close()
    answers = {each.set_name: each.answers for each in asked}
    judging = Judging(options.bench, place.cluster, options.work / "scoring" / options.half)
    outcomes = await asyncio.to_thread(judging.judge, questions, answers)
    found = figures(outcomes)
    if found is None:
        raise ValueError("nothing is answered yet")
    machine = describe(ROOT)
    if options.half is Half.ASIDE:
        aside_log.note(LOOKS, found, machine)
    console.print(report.table(found, options.half))
    commits = tuple(sorted({one.commit for some in answers.values() for one in some}))
    command = told_command("benchmarks.real", sys.argv[1:])
    made = report.Run(machine, command, options.k, options.half, commits)
    if options.json is not None:
        report.write_json(made, found, options.json)
    if options.page is not None and options.half is Half.OPEN:
        report.write_page(made, found, questions, outcomes, options.page)


async def _ask(one: Pass, place: Site, replay: Replay, console: Console) -> None:
    def told(answer: Answer) -> None:
        line = f"{one.set_name} {answer.id}: {answer.cost.seconds:.1f} s {answer.error or ''}"
        console.print(line, markup=False, highlight=False)

    await run(one, place.task, replay.take, describe(ROOT).commit, told)


if __name__ == "__main__":
    sys.exit(main())
