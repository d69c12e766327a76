"""A whole run over sets and systems: asked, judged, told. Candidates, ablations and the real questions are such."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

import msgspec
from rich.console import Console

from benchmarks.harness import outcomes as made
from benchmarks.harness.command import Options
from benchmarks.harness.intervals import Figure
from benchmarks.harness.outcomes import Outcome, Row
from benchmarks.harness.questions import QuestionSet
from benchmarks.harness.replay import Replay
from benchmarks.harness.report import (
    Grid,
    Part,
    Run,
    Summary,
    printed,
    shown,
    write_lines,
    write_page,
    write_result,
)
from benchmarks.harness.running import Pass, answered, told_plan
from benchmarks.harness.scorer import Scorer, Verdicts
from benchmarks.harness.site import Site

COLUMNS = (
    "system", "without", "n", "first right", "in the set", "MRR", "set", "gain, first", "gain, set",
    "seconds", "median", "calls", "prefilled", "pgparley's seconds by these", "failed",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Judged:
    """A run's outcomes by set and system, and the same as figures."""

    outcomes: Mapping[str, Mapping[str, Mapping[str, Outcome]]]
    rows: Mapping[str, Sequence[Row]]

    def find(self, set_name: str, system: str) -> Row | None:
        """A system on a set, None where that was not measured."""
        return next((each for each in self.rows.get(set_name, ()) if each.system == system), None)

    def between(self, set_name: str, over: str, under: str, what: str) -> Figure | None:
        """A cost (`what`: a field of `Cost`) of one system by another's, over the questions that both answered."""
        some = self.outcomes.get(set_name, {})
        one, two = some.get(over, {}), some.get(under, {})
        return made.by_cost([(one[key], two[key]) for key in one if key in two], what)

    def commits(self, set_name: str) -> list[str]:
        """Of the trees that answered."""
        some = self.outcomes[set_name].values()
        return [each.answer.commit for found in some for each in found.values()]


async def asked_and_judged(
    passes: Sequence[Pass],
    whole: str,
    place: Site,
    options: Options,
    console: Console,
    *,
    replay: Replay | None = None,
    order: Callable[[Sequence[Pass]], Sequence[Pass]] = tuple,
) -> Judged | None:
    """Asks what is left unless told otherwise, and has it judged; None for a plan. `whole`: what others are beside."""
    told_plan(passes, console)
    if options.plan:
        return None
    if not options.score:
        await answered(order(passes), place, options.work, console, replay)
    verdicts = Verdicts(
        Scorer(options.bench, place.dsn, options.work / "scoring"), options.work / "verdicts.jsonl"
    )
    return await asyncio.to_thread(judged, passes, whole, verdicts)


def judged(passes: Sequence[Pass], whole: str, verdicts: Verdicts) -> Judged:
    """The outcomes and figures of what was answered. Blocks while the scorer works."""
    sets: Sequence[QuestionSet] = list(dict.fromkeys(each.of for each in passes))
    lacks = {each.system.name: each.system.lacks for each in passes}
    found = {of.name: made.outcomes(of, passes, verdicts) for of in sets}
    return Judged(
        {name: some for name, some in found.items() if some},
        {
            name: [
                made.row(system, lacks[system], each, {} if system == whole else some.get(whole, {}))
                for system, each in some.items()
            ]
            for name, some in found.items()
            if some
        },
    )


def told(
    run: Run, found: Judged, summaries: Mapping[str, Summary], options: Options, console: Console
) -> None:
    """Prints the tables and writes what was asked for. `summaries`: the flat numbers by set."""
    grids = [Grid(name, COLUMNS, [_cells(each) for each in rows]) for name, rows in found.rows.items()]
    if options.against is not None:
        before = [
            msgspec.json.decode(each, type=made.Earlier) for each in options.against.read_bytes().splitlines()
        ]
        columns = ("set", "system", "n", "first right", "in the set")
        grids.append(Grid("since the earlier run", columns, list(made.changes(found.outcomes, before))))
    printed(console, grids)
    console.print({key: value for each in summaries.values() for key, value in each.items()})
    if options.json is not None:
        parts = {
            name: Part(
                {each.system: each.n for each in rows},
                [asdict(each) for each in rows],
                summaries.get(name, {}),
                found.commits(name),
            )
            for name, rows in found.rows.items()
        }
        write_result(options.json, run, parts)
    if options.page is not None:
        write_page(options.page, run, grids)
    if options.outcomes is not None:
        items = [line for name, some in found.outcomes.items() for line in made.lines(name, some)]
        write_lines(options.outcomes, items)


def _cells(each: Row) -> tuple[str, ...]:
    crashed = f", {each.crashed} crashed" if each.crashed else ""
    return (
        each.system,
        each.lacks,
        str(each.n),
        shown(each.acc1),
        shown(each.set_acc),
        f"{each.mrr.value:.2f}",
        f"{each.set_size.value:.2f}",
        shown(each.gain_acc1),
        shown(each.gain_set),
        f"{each.seconds:.1f}",
        f"{each.seconds_median:.1f}",
        f"{each.calls:.1f}",
        f"{each.prefilled:.0f}",
        shown(each.seconds_ratio, 1, 2),
        f"{each.failed}{crashed}",
    )
