"""Runs the benchmark: see `benchmarks.quality.dialogue`.

    python -m benchmarks.quality.dialogue [--sets SETS] [--systems SYSTEMS] [--n N] [--k K] [--recorded]

A run that was cut off goes on where it stopped when the same command is given again; `--plan` says what is left and
asks nothing, `--score` reports what was talked about so far, `--recorded` talks about that alone which needs no
completion that is not kept.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console

from benchmarks.quality.ablations.replay import Completions, Replay, file_for
from benchmarks.quality.candidates.command import ROOT, check_bench, common_parser, finished, told_command
from benchmarks.quality.candidates.judging import Scorer
from benchmarks.quality.candidates.model_server import model_server
from benchmarks.quality.candidates.questions import Selection, by_name
from benchmarks.quality.candidates.site import Site, site
from benchmarks.quality.dialogue import report
from benchmarks.quality.dialogue.evaluation import evaluated
from benchmarks.quality.dialogue.measuring import Measuring, Pass, Setting, passes
from benchmarks.quality.dialogue.records import Conversation
from benchmarks.quality.dialogue.service_engine import NothingRecorded
from benchmarks.quality.dialogue.systems import SETS, SYSTEMS, DialogueSet, System
from benchmarks.quality.dialogue.verdicts import Verdicts
from benchmarks.wire.machine import cpu_seconds, describe
from pgparley.config import cache_dir, load


@dataclass(frozen=True, slots=True)
class Options:
    """What is measured, on what, and where the results go. `n`: questions a set; None: each set's own number."""

    bench: Path
    work: Path
    sets: tuple[DialogueSet, ...]
    systems: tuple[System, ...]
    n: int | None
    seed: int
    half: int | None
    k: int
    plan: bool
    score: bool
    recorded: bool
    json: Path | None
    page: Path | None
    plot: Path | None
    outcomes: Path | None


def main() -> int:
    """Measures, prints the tables, returns the exit status (2: no data, wrong options, another run; 130: stopped)."""
    return finished(_options, _run, Console(width=200))


def _options() -> Options:
    parser = common_parser("benchmarks.quality.dialogue", __doc__)
    parser.set_defaults(work=cache_dir() / "bench-dialogue", k=5)
    parser.add_argument("--sets", help=f"comma-separated, of {', '.join(each.name for each in SETS)}")
    parser.add_argument("--systems", help=f"comma-separated, of {', '.join(each.name for each in SYSTEMS)}")
    sizes = ", ".join(f"{each.name} {each.n}" for each in SETS)
    parser.add_argument("--n", type=int, help=f"questions a set, drawn by --seed (default: {sizes})")
    parser.add_argument(
        "--recorded", action="store_true", help="start no model: use what completions are kept"
    )
    parser.add_argument("--page", type=Path)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--outcomes", type=Path, help="a line for each system, set and question")
    given = parser.parse_args()
    check_bench(given.bench)
    return Options(
        given.bench,
        given.work,
        by_name(given.sets, SETS, "set", lambda each: each.name),
        by_name(given.systems, SYSTEMS, "system", lambda each: each.name),
        given.n,
        given.seed,
        given.half,
        given.k,
        given.plan,
        given.score,
        given.recorded,
        given.json,
        given.page,
        given.plot,
        given.outcomes,
    )


async def _run(options: Options, console: Console) -> None:
    made = [one for of in options.sets for one in _passes(options, of)]
    for each in made:
        console.print(
            f"{each.of.name:9s} {each.system.name:22s} {len(each.left)} of {len(each.asked)} dialogues left"
        )
    if options.plan:
        return
    async with site(options.work, options.bench) as place:
        scorer = Scorer(options.bench, place.dsn, options.work / "scoring")
        verdicts = Verdicts(scorer, options.work / "verdicts.jsonl")
        if not options.score and any(each.left for each in made):
            await _measure(options, made, place, verdicts, console)
        results = await asyncio.to_thread(evaluated, made, verdicts)
    command = told_command("benchmarks.quality.dialogue", sys.argv[1:])
    given = report.Run(describe(ROOT), command, options.seed, options.k)
    for table in report.tables(results):
        console.print(table)
    console.print(report.summary(results))
    if options.json is not None:
        report.write_json(given, results, options.json)
    if options.page is not None:
        report.write_page(given, results, options.page)
    if options.outcomes is not None:
        report.write_outcomes(results, options.outcomes)
    if options.plot is not None:
        report.plot(results, options.plot)


def _passes(options: Options, of: DialogueSet) -> list[Pass]:
    selection = Selection(options.n or of.n, options.seed, options.half, skip=of.looked_at)
    return passes(of, options.systems, Setting(options.bench, options.work, selection, options.k))


async def _measure(
    options: Options, made: Sequence[Pass], place: Site, verdicts: Verdicts, console: Console
) -> None:
    kept = Completions(await asyncio.to_thread(file_for, options.work, load(None).embedded_model.path))
    missing = NothingRecorded(place.tools.model) if options.recorded else None
    replay = Replay(missing or place.tools.model, kept)
    commit = describe(ROOT).commit
    measuring = Measuring(place, replay, verdicts, options.seed, options.k, commit, missing)
    with _model(options, place, replay):
        for each in made:
            await measuring.measure(each, partial(_told, each, console))
            if not each.of.first_reply:
                # Judged together here, so that a user who rejects does not wait for one after another.
                wanted = {one.id: one.statements for one in each.conversations}
                await asyncio.to_thread(verdicts.judge, each.of.questions, wanted)
    kept.close()


@contextmanager
def _model(options: Options, place: Site, replay: Replay) -> Iterator[None]:
    """The model's server, unless only recorded completions may be used."""
    if options.recorded:
        yield
        return
    with model_server(place.meter, options.work / "model.log") as server:
        replay.clock = partial(cpu_seconds, (server,))
        yield


def _told(one: Pass, console: Console, conversation: Conversation | None) -> None:
    if conversation is None:
        console.print(f"{one.of.name} {one.system.name}: not recorded")
        return
    said = ", ".join(turn.said for turn in conversation.turns)
    seconds = sum(turn.cost.seconds for turn in conversation.turns)
    console.print(
        f"{one.of.name} {one.system.name} {conversation.id}: {said}; {seconds:.1f} s, {len(one.left)} left"
        f" {conversation.error or ''}",
        markup=False,
        highlight=False,
    )


if __name__ == "__main__":
    sys.exit(main())
