"""Runs the benchmark: see `benchmarks.quality.ablations`.

    python -m benchmarks.quality.ablations [--sets train,dev] [--arms ARMS] [--n N] [--k K]

A run that was cut off goes on where it stopped when the same command is given again; `--plan` says what is left and
asks nothing, `--score` reports what is answered so far. With `--until-settled` an arm is asked no more questions than
tell what it is worth (`benchmarks.quality.sequential`).
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from rich.console import Console

from benchmarks.quality.ablations import report
from benchmarks.quality.ablations.arms import ARMS, WHOLE, Arm, Trial
from benchmarks.quality.ablations.drawing import SETS, drawn, growing
from benchmarks.quality.ablations.replay import Completions, Replay, file_for
from benchmarks.quality.ablations.results import ArmFigures, Outcome, figures, outcomes
from benchmarks.quality.candidates.command import ROOT, check_bench, common_parser, finished, told_command
from benchmarks.quality.candidates.journal import Answer, Journal, identity
from benchmarks.quality.candidates.judging import Scorer
from benchmarks.quality.candidates.model_server import model_server
from benchmarks.quality.candidates.questions import QuestionSet, Selection, by_name
from benchmarks.quality.candidates.running import Pass, run
from benchmarks.quality.candidates.site import Site, site
from benchmarks.wire.machine import cpu_seconds, describe
from pgparley.config import cache_dir, load


@dataclass(frozen=True, slots=True)
class Options:
    """What is measured, on what, and where the results go."""

    bench: Path
    work: Path
    sets: tuple[QuestionSet, ...]
    arms: tuple[Arm, ...]
    selection: Selection
    k: int
    plan: bool
    score: bool
    until_settled: bool
    json: Path | None
    page: Path | None
    outcomes: Path | None


def main() -> int:
    """Measures, prints the tables, returns the exit status (2: no data, wrong options, another run; 130: stopped)."""
    return finished(_options, _run, Console(width=180))


def _options() -> Options:
    parser = common_parser("benchmarks.quality.ablations", __doc__)
    parser.set_defaults(work=cache_dir() / "bench-ablations", k=3)
    parser.add_argument("--sets", default=SETS[0].name, help=f"of {', '.join(each.name for each in SETS)}")
    parser.add_argument("--arms", help=f"comma-separated, of {', '.join(arm.name for arm in ARMS)}")
    parser.add_argument("--n", type=int, default=100, help="questions a set, drawn by --seed")
    parser.add_argument("--until-settled", action="store_true", help="ask an arm no more than settles it")
    parser.add_argument("--page", type=Path)
    parser.add_argument("--outcomes", type=Path, help="a line for each set, arm and question")
    given = parser.parse_args()
    check_bench(given.bench)
    return Options(
        given.bench,
        given.work,
        by_name(given.sets, SETS, "set", lambda each: each.name),
        by_name(given.arms, ARMS, "arm", lambda arm: arm.name),
        Selection(given.n, given.seed, given.half),
        given.k,
        given.plan,
        given.score,
        given.until_settled,
        given.json,
        given.page,
        given.outcomes,
    )


async def _run(options: Options, console: Console) -> None:
    machine = describe(ROOT)
    async with site(options.work, options.bench) as place:
        model = load(None).embedded_model.path
        kept = Completions(await asyncio.to_thread(file_for, options.work, model))
        scorer = Scorer(options.bench, place.dsn, options.work / "scoring")
        replay = Replay(place.tools.model, kept)
        passes = [one for of in options.sets for one in _passes(options, of, replay)]
        for each in passes:
            console.print(
                f"{each.set_name:6s} {each.system.name:20s} {len(each.left)} of {len(each.asked)} left"
            )
        if options.plan:
            return
        if not options.score and any(each.left for each in passes):
            with model_server(place.meter, options.work / "model.log") as server:
                replay.clock = partial(cpu_seconds, (server,))
                await _warm_up(next(each for each in passes if each.left), place)
                for each in passes:
                    for part in _parts(each, options):
                        await _measure(part, place, replay, machine.commit, console)
                        more = len(part.asked) < len(each.asked)
                        if more and await asyncio.to_thread(_settled, part, passes, options, scorer):
                            console.print(f"{part.set_name} {part.system.name}: settled by {len(part.asked)}")
                            break
        kept.close()
        judged = {of.name: await asyncio.to_thread(_judged, of, passes, scorer) for of in options.sets}
    _report(options, _origin(options, passes), judged, console)


def _origin(options: Options, passes: Sequence[Pass]) -> report.Run:
    """How the figures of these passes came about."""
    commits = tuple(sorted({answer.commit for each in passes for answer in each.answers}))
    command = told_command("benchmarks.quality.ablations", sys.argv[1:])
    return report.Run(describe(ROOT), command, options.selection.seed, options.k, commits)


def _passes(options: Options, of: QuestionSet, replay: Replay) -> list[Pass]:
    asked = drawn(options.bench, of, options.selection)
    made = []
    for arm in options.arms:
        trial = Trial.of(arm, options.k, replay)
        name = f"{trial.name}-{identity(trial.settings, trial.sources)}"
        made.append(
            Pass(of.name, trial, asked, Journal(options.work / "answers" / of.name / f"{name}.jsonl"))
        )
    return made


def _parts(one: Pass, options: Options) -> list[Pass]:
    """The pass, or where an arm is asked until it is settled, its growing samples."""
    if not options.until_settled or one.system.name == WHOLE:
        return [one]
    samples = growing(options.bench, _set_of(one, options), options.selection)
    return [replace(one, asked=asked) for asked in samples]


def _settled(part: Pass, passes: Sequence[Pass], options: Options, scorer: Scorer) -> bool:
    """Whether what was asked of an arm tells what it is worth."""
    own = (each for each in passes if each.set_name == part.set_name and each.system.name == WHOLE)
    whole = [replace(each, asked=part.asked) for each in own]
    found = _judged(_set_of(part, options), [*whole, part], scorer)
    return figures(part.system.name, "", found[part.system.name], found.get(WHOLE, {})).settled


def _set_of(one: Pass, options: Options) -> QuestionSet:
    return next(each for each in options.sets if each.name == one.set_name)


async def _warm_up(one: Pass, place: Site) -> None:
    """Answers a question for nothing, so that the first that counts is not charged for loading networks and schemas."""
    task = await place.task(one.left[0])
    await one.system.prepare(task)
    # It is asked again, and then told what becomes of it.
    with contextlib.suppress(Exception):
        await one.system.answer(task)


async def _measure(one: Pass, place: Site, replay: Replay, commit: str, console: Console) -> None:
    left = len(one.left)

    def told(answer: Answer) -> None:
        nonlocal left
        left -= 1
        seconds = f"{answer.cost.seconds:.1f} s, {answer.cost.model_seconds:.1f} of them the model's"
        console.print(
            f"{one.set_name} {one.system.name} {answer.id}: {seconds}, {left} left {answer.error or ''}",
            markup=False,
            highlight=False,
        )

    await run(one, place.task, replay.take, commit, told)


def _judged(of: QuestionSet, passes: Sequence[Pass], scorer: Scorer) -> dict[str, dict[str, Outcome]]:
    own = [each for each in passes if each.set_name == of.name and each.answers]
    databases = {each.question.id: str(each.question.database) for one in own for each in one.asked}
    return outcomes(scorer, of, databases, {each.system.name: each.answers for each in own})


def _report(
    options: Options, origin: report.Run, judged: dict[str, dict[str, dict[str, Outcome]]], console: Console
) -> None:
    found: dict[str, list[ArmFigures]] = {}
    for set_name, arms in judged.items():
        whole = arms.get(WHOLE, {})
        found[set_name] = [
            figures(arm.name, arm.lacks, arms[arm.name], whole) for arm in options.arms if arm.name in arms
        ]
        console.print(report.table(set_name, found[set_name]))
    if options.json is not None:
        report.write_json(origin, found, options.json)
    if options.page is not None:
        report.write_page(origin, found, options.page)
    if options.outcomes is not None:
        report.write_outcomes(judged, options.outcomes)


if __name__ == "__main__":
    sys.exit(main())
