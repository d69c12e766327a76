"""Runs the benchmark: see `benchmarks.quality.candidates`.

    python -m benchmarks.quality.candidates [--sets SETS] [--systems SYSTEMS] [--n N] [--half 0|1] [--k K]

A run that was cut off goes on where it stopped when the same command is given again; `--plan` says what is left and
asks nothing, `--score` reports what is answered so far.
"""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from functools import partial

from rich.console import Console

from benchmarks.harness.answers import Judged, asked_and_judged, told
from benchmarks.harness.command import Options, by_name, measuring, parser, told_command
from benchmarks.harness.questions import AMBIQT, SETS, SPIDER, UNROUTED, Selection, asked
from benchmarks.harness.report import Grid, Part, Run, Summary, printed, write_result
from benchmarks.harness.running import Pass
from benchmarks.harness.site import Site, site
from benchmarks.harness.systems import ALONE, PLAIN, WHOLE, Alone, Gateway, System
from benchmarks.quality.candidates.coverage import SELECTED_AT, Covered, by_base, covered, selected
from engine.values.model_settings import ModelSettings

MODULE = "benchmarks.quality.candidates"
ONE = "one_candidate"


def main() -> int:
    """Measures, prints the tables, returns the exit status (2: no data, wrong options, another run; 130: stopped)."""
    made = parser(MODULE, __doc__, k=6)
    made.set_defaults(n=100)
    return measuring(made, Options, _run)


def systems(place: Site, k: int) -> tuple[System, ...]:
    """What is compared: `plain` is pgparley over the same model without grammars and likelihoods."""
    return (
        Gateway(WHOLE, k),
        Gateway(ONE, 1, 1, lacks="all but one call"),
        Gateway(PLAIN, k, adapt=partial(replace, model=place.plain), lacks="grammars, likelihoods"),
        Alone(),
    )


async def _run(options: Options, console: Console) -> None:
    selection = Selection(options.n, options.seed, options.half)
    async with site(options.work, options.bench) as place:
        compared = by_name(options.systems, systems(place, options.k), "system")
        passes = [
            Pass.of_system(of, system, asked(options.bench, of, selection), options.work)
            for of in by_name(options.sets, SETS, "set")
            for system in compared
            if of != UNROUTED or system.name == WHOLE
        ]
        found = await asked_and_judged(passes, WHOLE, place, options, console)
    if found is None:
        return
    config = {"k": options.k, "half": options.half, "model": ModelSettings().model}
    run = Run("candidates", told_command(MODULE, sys.argv[1:]), options.seed, config)
    told(run, found, summaries(found), options, console)
    _selection(run, found, options, console)


def summaries(found: Judged) -> dict[str, Summary]:
    """The flat numbers of each set."""
    made: dict[str, dict[str, float | None]] = {}
    for name in found.rows:
        row, alone = found.find(name, WHOLE), found.find(name, ALONE)
        plain = found.find(name, PLAIN)
        flat = made[name] = {}
        if row is not None and name in {each.name for each in AMBIQT}:
            flat |= {f"{name}_both5": row.set_acc.value, f"{name}_either5": row.either5.value}
        elif row is not None:
            flat |= {f"{name}_acc1": row.acc1.value, f"{name}_set_acc": row.set_acc.value}
            flat |= {f"{name}_set_size": row.set_size.value, f"{name}_mrr": row.mrr.value}
        if alone is not None:
            flat[f"{name}_alone_acc1"] = alone.acc1.value
        if plain is not None:
            flat |= {f"plain_{name}_acc1": plain.acc1.value, f"plain_{name}_set": plain.set_acc.value}
        if row is not None and alone is not None and alone.acc1.value:
            flat[f"{name}_acc1_ratio"] = row.acc1.value / alone.acc1.value
    if SPIDER.name in made:
        for key, over, under, what in (
            ("k6_time_ratio", WHOLE, ONE, "seconds"),
            ("k6_prefill_ratio", WHOLE, ONE, "prefilled"),
            ("first_time_ratio", ONE, ALONE, "seconds"),
            ("alone_time_ratio", WHOLE, ALONE, "seconds"),
        ):
            ratio = found.between(SPIDER.name, over, under, what)
            made[SPIDER.name][key] = None if ratio is None else ratio.value
    return dict(made)


def _selection(run: Run, found: Judged, options: Options, console: Console) -> None:
    """What selection would keep of pgparley's answers."""
    own = {name: list(some[WHOLE].values()) for name, some in found.outcomes.items() if WHOLE in some}
    ambiguous = [each for of in AMBIQT for each in own.pop(of.name, ())]
    tables = {name: [*covered(each, options.seed), *by_base(each, options.k)] for name, each in own.items()}
    printed(console, [_grid(name, each) for name, each in tables.items() if each])
    cost = selected(ambiguous, options.seed)
    console.print(cost)
    if options.json is not None:
        summary: dict[str, float | None] = {}
        gaps = [each.gap for some in tables.values() for each in some if each.divisions]
        if gaps:
            summary["coverage_gap_min"] = min(gaps)
        if cost is not None:
            summary |= {f"ambiqt_selected_{key}": value for key, value in asdict(cost).items() if key != "n"}
        for each in tables.get(SPIDER.name, ()):
            if each.divisions and each.promised == SELECTED_AT:
                summary |= {"spider_selected_set_acc": each.right, "spider_selected_set_size": each.shown}
        if summary:
            n = {name: len(each) for name, each in own.items()} | {"ambiqt": len(ambiguous)}
            write_result(options.json, run, {"selection": Part(n, [tables, cost], summary)})


def _grid(name: str, found: list[Covered]) -> Grid:
    columns = ("promised", "divisions (0: what ships)", "kept", "lowest", "right", "shown", "of")
    rows = [
        (
            *(f"{each.promised:.2f}", str(each.divisions), f"{each.kept:.3f}", f"{each.lowest:.3f}"),
            *(f"{each.right:.3f}", f"{each.shown:.2f}", f"{each.found:.2f}"),
        )
        for each in found
    ]
    return Grid(f"{name}: selection", columns, rows)


if __name__ == "__main__":
    sys.exit(main())
