"""Runs the benchmark: see `benchmarks.quality.dialogue`.

    python -m benchmarks.quality.dialogue [--sets SETS] [--systems SYSTEMS] [--n N] [--k K]

A run that was cut off goes on where it stopped when the same command is given again; `--plan` says what is left and
asks nothing, `--score` reports what was talked about so far.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial

from rich.console import Console

from benchmarks.harness.command import Options, by_name, measuring, parser, told_command
from benchmarks.harness.intervals import Figure
from benchmarks.harness.machine import cpu_seconds, describe
from benchmarks.harness.model import model_server
from benchmarks.harness.questions import SPIDER
from benchmarks.harness.report import (
    Grid,
    Part,
    Run,
    printed,
    shown,
    write_lines,
    write_page,
    write_result,
)
from benchmarks.harness.running import replaying
from benchmarks.harness.scorer import Scorer, Verdicts
from benchmarks.harness.site import Site, site
from benchmarks.quality.dialogue.figures import (
    ANSWERABLE,
    ANSWERS,
    Abstention,
    Results,
    SystemFigures,
    evaluated,
)
from benchmarks.quality.dialogue.measuring import Measuring, Pass, passes
from benchmarks.quality.dialogue.records import Conversation
from benchmarks.quality.dialogue.systems import AMBIQT, DIALOGUE, MOST_ANSWERS, SETS, SYSTEMS, UNANSWERABLE

MODULE = "benchmarks.quality.dialogue"
COMPARED_AT = 2
"""Answers after which the gain is compared with simple feedback's."""


def main() -> int:
    """Measures, prints the tables, returns the exit status (2: no data, wrong options, another run; 130: stopped)."""
    return measuring(parser(MODULE, __doc__, k=5), Options, _run)


async def _run(options: Options, console: Console) -> None:
    sets, systems = by_name(options.sets, SETS, "set"), by_name(options.systems, SYSTEMS, "system")
    made = [one for of in sets for one in passes(of, systems, options)]
    for each in made:
        left = f"{len(each.left)} of {len(each.asked)} dialogues left"
        console.print(f"{each.of.name:9s} {each.system.name:22s} {left}")
    if options.plan:
        return
    async with site(options.work, options.bench) as place:
        scorer = Scorer(options.bench, place.dsn, options.work / "scoring")
        verdicts = Verdicts(scorer, options.work / "verdicts.jsonl")
        if not options.score and any(each.left for each in made):
            await _measure(options, made, place, verdicts, console)
        results = await asyncio.to_thread(evaluated, made, verdicts)
    config = {"k": options.k, "database": "given", "answers": MOST_ANSWERS}
    _tell(
        Run("dialogue", told_command(MODULE, sys.argv[1:]), options.seed, config), results, options, console
    )


async def _measure(
    options: Options, made: Sequence[Pass], place: Site, verdicts: Verdicts, console: Console
) -> None:
    with (
        replaying(place, options.work) as replay,
        model_server(place.meter, options.work / "model.log") as server,
    ):
        replay.clock = partial(cpu_seconds, (server,))
        measuring = Measuring(place, replay, verdicts, options.seed, options.k, describe().commit)
        for each in made:
            await measuring.measure(each, partial(_told, each, console))
            if not each.of.first_reply:
                # Judged together here, so that a user who rejects does not wait for one after another.
                wanted = {one.id: one.statements for one in each.conversations}
                await asyncio.to_thread(verdicts.judge, each.of.questions, wanted)


def _told(one: Pass, console: Console, conversation: Conversation) -> None:
    said = ", ".join(turn.said for turn in conversation.turns)
    seconds = sum(turn.cost.seconds for turn in conversation.turns)
    told = f"{said}; {seconds:.1f} s, {len(one.left)} left {conversation.error or ''}"
    line = f"{one.of.name} {one.system.name} {conversation.id}: {told}"
    console.print(line, markup=False, highlight=False)


def _tell(run: Run, results: Results, options: Options, console: Console) -> None:
    grids = [_grid(name, some) for name, some in results.figures.items()] + [_replies(results.abstention)]
    printed(console, grids)
    flat = summary(results)
    console.print(flat)
    if options.json is not None:
        tables = {name: [asdict(each) for each in some] for name, some in results.figures.items()}
        n = {f"{name}/{each.system}": each.n for name, some in results.figures.items() for each in some}
        commits = [
            each.conversation.commit
            for systems in results.dialogues.values()
            for some in systems.values()
            for each in some
        ]
        replies = [asdict(each) for each in results.abstention]
        parts = {"dialogue": Part(n, {"systems": tables, "first replies": replies}, flat, commits)}
        write_result(options.json, run, parts)
    if options.page is not None:
        write_page(options.page, run, grids)
    if options.outcomes is not None:
        sets = (systems for name, systems in results.dialogues.items() if name != AMBIQT)
        write_lines(options.outcomes, [each for one in sets for some in one.values() for each in some])


def summary(results: Results) -> dict[str, float | None]:
    """The flat numbers of what was measured. `efficiency`: shares, not points, an interaction."""
    ambiqt, spider = results.find(AMBIQT, DIALOGUE.name), results.find(SPIDER.name, DIALOGUE.name)
    replies = {each.set_name: each for each in results.abstention}
    flat: dict[str, Figure | None] = {}
    if ambiqt is not None:
        flat |= {f"ambiqt_acc_after_{n}": ambiqt.after[n] for n in ANSWERS}
        flat |= {f"ambiqt_of_reachable_after_{n}": ambiqt.of_reachable[n] for n in ANSWERS}
        flat |= {"ambiqt_reachable": ambiqt.reachable, "ambiqt_reachable_at_once": ambiqt.reachable_at_once}
        flat |= {"feedback_gain_ratio": ambiqt.gain_ratio[COMPARED_AT], "efficiency": ambiqt.efficiency}
    if spider is not None:
        flat |= {"spider_needless": spider.needless}
        flat |= {f"spider_acc_after_{n}": spider.after[n] for n in ANSWERS}
    if (unanswerable := replies.get(UNANSWERABLE.name)) is not None:
        flat["idk_wrongly_sure"] = unanswerable.sure
    if (answerable := replies.get(ANSWERABLE)) is not None:
        flat["answerable_refused"] = answerable.refused
    return {name: None if each is None else each.value for name, each in flat.items()}


def _grid(name: str, some: Sequence[SystemFigures]) -> Grid:
    columns = (
        *("system", "n", *(f"right after {n}" for n in ANSWERS), "in the set", "reachable", "at once"),
        *(
            f"of reachable after {COMPARED_AT}",
            "asked back",
            "needlessly",
            "interactions",
            "gain an interaction",
        ),
        *(f"gain by feedback's after {COMPARED_AT}", "rows read", "seconds a turn", "calls a turn", "failed"),
    )
    rows = [
        (
            *(each.system, str(each.n), *(shown(one, digits=0) for one in each.after)),
            *(shown(one, digits=0) for one in (each.set_acc, each.reachable, each.reachable_at_once)),
            *(shown(one, digits=0) for one in (each.of_reachable[COMPARED_AT], each.asked, each.needless)),
            *(shown(each.interactions, 1, 2), shown(each.efficiency), shown(each.gain_ratio[COMPARED_AT], 1)),
            *(f"{each.rows:.1f}", f"{each.seconds:.1f}", f"{each.calls:.1f}", str(each.failed)),
        )
        for each in some
    ]
    return Grid(name, columns, rows)


def _replies(some: Sequence[Abstention]) -> Grid:
    rows = [
        (
            *(each.set_name, str(each.n)),
            *(shown(one, digits=0) for one in (each.sure, each.asked, each.refused)),
            str(each.failed),
        )
        for each in some
    ]
    columns = ("set", "n", "statements, no question", "a question back", "neither", "failed")
    return Grid("first replies", columns, rows)


if __name__ == "__main__":
    sys.exit(main())
