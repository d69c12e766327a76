"""Runs the benchmark of personalisation: see `benchmarks.quality.personal`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import asdict

from rich.console import Console

import benchmarks.quality.personal as described
from benchmarks.harness.command import Options, by_name, measuring, parser, told_command
from benchmarks.harness.intervals import mean, ratio
from benchmarks.harness.model import model_server
from benchmarks.harness.questions import AMBIQT
from benchmarks.harness.report import Grid, Part, Run, printed, shown, write_result
from benchmarks.harness.site import site
from benchmarks.quality.personal.measuring import Measuring, Outcome

MODULE = "benchmarks.quality.personal"


def main() -> int:
    """Measures, prints the table, returns the exit status (2: no data, wrong options, another run; 130: stopped)."""
    made = parser(MODULE, described.__doc__, k=6)
    made.set_defaults(n=10)
    return measuring(made, Options, _run)


async def _run(options: Options, console: Console) -> None:
    async with site(options.work, options.bench) as place:
        made = [Measuring(of, options, place) for of in by_name(options.sets, AMBIQT, "set")]
        left = sum(each.left for each in made)
        console.print(f"{left} answers to give")
        if options.plan:
            return
        if left and not options.score:
            with model_server(place.meter, options.work / "model.log"):
                for each in made:
                    await each.measure(lambda text: console.print(text, markup=False))
        outcomes = [outcome for each in made for outcome in await asyncio.to_thread(each.outcomes)]
    printed(console, [_grid(outcomes)])
    console.print(found := summary(outcomes))
    if options.json is not None:
        run = Run(
            "personal",
            told_command(MODULE, sys.argv[1:]),
            options.seed,
            {"k": options.k, "half": options.half},
        )
        part = Part(len(outcomes), [asdict(each) for each in outcomes], found)
        write_result(options.json, run, {"pairs": part})


def summary(outcomes: Sequence[Outcome]) -> dict[str, float | None]:
    """The flat numbers, of all pairs and of each set's; a ratio and its bounds are None where nothing was right."""
    found: dict[str, float | None] = {}
    for name, of in _groups(outcomes):
        owners = [each.database for each in of]
        given, without = ([each.with_first for each in of], [each.without_first for each in of])
        gain = ratio(given, without, owners)
        for key, value in (("gain", gain), ("with", mean(given, owners)), ("without", mean(without, owners))):
            for part, suffix in (("value", ""), ("low", "_low"), ("high", "_high")):
                found[f"personal{name}_{key}{suffix}"] = getattr(value, part, None)
        found[f"personal{name}_n"] = len(of)
    return found


def _groups(outcomes: Sequence[Outcome]) -> list[tuple[str, list[Outcome]]]:
    """All together, and each set by itself."""
    sets = {of.name: [each for each in outcomes if each.set_name == of.name] for of in AMBIQT}
    groups = [("", list(outcomes)), *((f"_{name[-1]}", some) for name, some in sets.items())]
    return [group for group in groups if group[1]]


def _grid(outcomes: Sequence[Outcome]) -> Grid:
    rows = []
    for name, of in _groups(outcomes):
        owners = [each.database for each in of]
        whats = ("shown", "first_right", "without_first", "with_first")
        shares = [shown(mean([getattr(each, what) for each in of], owners)) for what in whats]
        gain = ratio([each.with_first for each in of], [each.without_first for each in of], owners)
        rows.append((name.strip("_") or "all", str(len(of)), *shares, shown(gain, 1, 2)))
    columns = (
        "set",
        "pairs",
        "shown at first",
        "first right: 1st meeting",
        "2nd, without",
        "2nd, with",
        "gain",
    )
    return Grid("personal", columns, rows)


if __name__ == "__main__":
    sys.exit(main())
