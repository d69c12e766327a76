"""Runs the benchmark: see `benchmarks.quality.workday`.

    python -m benchmarks.quality.workday [--sets CASES] [--systems SYSTEMS] [--k K] [--plan] [--score]
    python -m benchmarks.quality.workday --strong [--k K]

`--strong`: what is right is given as a strong model's readings, alone and before what is right of another question;
counted is how much of it stands first.
A run that was cut off goes on where it stopped when the same command is given again on the same day: some cases are
relative to the day on which they were loaded.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from rich.console import Console

from benchmarks.harness.answers import Judged, judged
from benchmarks.harness.command import Options, by_name, measuring, parser, told_command
from benchmarks.harness.outcomes import Outcome, lines
from benchmarks.harness.questions import Asked, Question, QuestionSet
from benchmarks.harness.report import Grid, Part, Run, Summary, printed, write_lines, write_result
from benchmarks.harness.running import Pass, answered, in_turns, replaying, told_plan
from benchmarks.harness.scorer import Verdicts
from benchmarks.harness.site import Site, serving
from benchmarks.harness.systems import ALONE, WHOLE, Alone, Gateway, System
from benchmarks.quality.ablations.arms import by_origin
from benchmarks.quality.workday.cases import Cases, Judge
from benchmarks.quality.workday.strong import ARMS, CALLS, figures, survivals

MODULE = "benchmarks.quality.workday"
SURE = 0.5
"""A first statement that is wrong counts as wrongly sure above this confidence."""


@dataclass(frozen=True, slots=True)
class Row:
    """A mechanism's questions: `sure`: first statements that are wrong with a confidence above `SURE`."""

    mechanism: str
    system: str
    n: int
    first: int
    found: int
    sure: int
    none: int


@dataclass(frozen=True, slots=True)
class WorkdayOptions(Options):
    """Those of every benchmark, and whether it is measured what becomes of what is right."""

    strong: bool


def main() -> int:
    """Measures, prints the table, returns the exit status (2: no data, wrong options, another run; 130: stopped)."""
    made = parser(MODULE, __doc__, k=3)
    made.add_argument(
        "--strong", action="store_true", help="what becomes of right statements of a strong model"
    )
    return measuring(made, WorkdayOptions, _run)


async def _run(options: WorkdayOptions, console: Console) -> None:
    await (_strong if options.strong else _systems)(options, console)


async def _strong(options: Options, console: Console) -> None:
    """Prints what did not stand first or was changed, and what did it."""
    cases = Cases(options.bench, options.work)
    async with serving(options.work, cases.fill) as place:
        found = {
            name: await survivals(cases, place, options.k, beside=beside) for name, beside in ARMS.items()
        }
    told = {name: [each for each in some if not each.whole] for name, some in found.items()}
    parts = {
        name: Part(len(some), [*map(asdict, told[name])], figures(some, name)) for name, some in found.items()
    }
    columns = ("question", "became", "given", "by")
    grids = [
        Grid(name, columns, [(each.id, each.fate, each.sql, each.by) for each in some])
        for name, some in told.items()
    ]
    printed(console, grids)
    console.print({name: dict(part.summary) for name, part in parts.items()})
    if options.json is not None:
        config = {"k": options.k, "calls": CALLS}
        run = Run("workday", told_command(MODULE, sys.argv[1:]), options.seed, config)
        write_result(options.json, run, parts)


async def _systems(options: Options, console: Console) -> None:
    cases = Cases(options.bench, options.work)
    async with serving(options.work, cases.fill) as place:
        found = await _measured(cases, place, options, console)
    if found is None:
        return
    if "workday" not in found.outcomes:
        console.print("this tree has answered none of the questions yet: run it without --score")
        return
    kinds = {item["id"]: item["mechanism"] for item in cases.items}
    outcomes = found.outcomes["workday"]
    rows = [row for name, some in outcomes.items() for row in by_mechanism(name, some, kinds)]
    run = Run(
        "workday", told_command(MODULE, sys.argv[1:]), options.seed, {"k": options.k, "values": "all of text"}
    )
    columns = ("mechanism", "system", "n", "first", "in the set", "wrong and sure", "none shown")
    grid = Grid("A working day", columns, [tuple(map(str, asdict(each).values())) for each in rows])
    printed(console, [grid])
    if options.json is not None:
        n, flat = {name: len(each) for name, each in outcomes.items()}, summary(rows)
        write_result(
            options.json, run, {"workday": Part(n, [asdict(r) for r in rows], flat, found.commits("workday"))}
        )
    if options.outcomes is not None:
        write_lines(options.outcomes, lines("workday", outcomes))


async def _measured(cases: Cases, place: Site, options: Options, console: Console) -> Judged | None:
    asked = tuple(
        Asked(
            Question(item["id"], item["question"], f"workday_{item['case']}"), owner=f"workday_{item['case']}"
        )
        for item in cases.items[: options.n]
        if options.sets is None or item["case"] in options.sets.split(",")
    )
    told = [[each.question.id, each.question.text] for each in asked]
    of = QuestionSet("workday", json.dumps([cases.version, told]), dated=True)
    known: tuple[System, ...] = (Gateway(WHOLE, options.k), Alone(), *by_origin(options.k))
    systems = by_name(options.systems or f"{WHOLE},{ALONE}", known, "system")
    passes = [Pass.of_system(of, each, asked, options.work) for each in systems]
    told_plan(passes, console)
    if options.plan:
        return None
    if not options.score:
        with replaying(place, options.work) as replay:
            await answered(in_turns(passes), place, options.work, console, replay)
    verdicts = Verdicts(Judge(cases, place.cluster.dsn()))
    return await asyncio.to_thread(judged, passes, WHOLE, verdicts)


def by_mechanism(system: str, found: Mapping[str, Outcome], kinds: Mapping[str, str]) -> list[Row]:
    """The figures of each mechanism, and those of all questions last."""
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for key, outcome in found.items():
        groups[kinds[key]].append(outcome)
    return [_row(name, system, some) for name, some in (*groups.items(), ("all", list(found.values())))]


def _row(mechanism: str, system: str, some: Sequence[Outcome]) -> Row:
    counts = [(each.first, each.found, _wrongly_sure(each), not each.statements) for each in some]
    return Row(mechanism, system, len(some), *(sum(column) for column in zip(*counts, strict=True)))


def _wrongly_sure(outcome: Outcome) -> bool:
    first = next(iter(outcome.answer.proposals), None)
    return first is not None and not outcome.first and (first.confidence or 0.0) > SURE


def summary(rows: Sequence[Row]) -> Summary:
    """Shares of all questions: pgparley's, and what the model alone has right."""
    whole = {each.system: each for each in rows if each.mechanism == "all"}
    flat: dict[str, float | None] = {}
    if (own := whole.get(WHOLE)) is not None:
        flat = {name: getattr(own, name) / own.n for name in ("first", "found", "sure", "none")}
    if (alone := whole.get(ALONE)) is not None:
        flat["alone_first"] = alone.first / alone.n
    return flat


if __name__ == "__main__":
    sys.exit(main())
