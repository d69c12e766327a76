"""Runs the benchmark of personalisation: see `benchmarks.quality.personal`."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

import benchmarks.quality.personal as described
from benchmarks.quality.candidates.command import ROOT, check_bench, common_parser, finished
from benchmarks.quality.candidates.model_server import model_server
from benchmarks.quality.candidates.questions import by_name
from benchmarks.quality.candidates.site import site
from benchmarks.quality.personal.measuring import Measuring, Options
from benchmarks.quality.personal.report import AMBIQT, summary, table, write
from benchmarks.wire.machine import describe

PACE = 13.0
"""Seconds an answer, for the estimate: two processors, nothing else running."""


def main() -> int:
    """Measures, prints the table, returns the exit status (2: no data, wrong options, another run; 130: stopped)."""
    return finished(_options, _run, Console(width=150))


async def _run(options: Options, console: Console) -> None:
    machine = describe(ROOT)
    async with site(options.work, options.bench) as place:
        made = [Measuring(of, options, place) for of in options.sets]
        left = sum(each.left for each in made)
        console.print(f"{left} answers to give, about {left * PACE / 60:.0f} min. Stop it when you like.")
        if options.plan:
            return
        if left and not options.score:
            with model_server(place.meter, options.work / "model.log"):
                for each in made:
                    await each.measure(machine.commit, lambda text: console.print(text, markup=False))
        outcomes = [outcome for each in made for outcome in await asyncio.to_thread(each.outcomes)]
    console.print(table(outcomes))
    found = summary(outcomes)
    console.print(found)
    write(options, found, outcomes, asdict(machine))


def _options() -> Options:
    parser = common_parser("benchmarks.quality.personal", described.__doc__)
    parser.add_argument("--only", help=f"sets, comma-separated, of {', '.join(each.name for each in AMBIQT)}")
    parser.add_argument("--n", type=int, default=10, help="pairs a set")
    parser.add_argument(
        "--into", type=Path, help="a result of the candidates benchmark whose summary gets the figures"
    )
    given = parser.parse_args()
    if given.n < 1:
        raise ValueError(f"--n is a number of pairs, not {given.n}")
    check_bench(given.bench)
    sets = by_name(given.only, AMBIQT, "set", lambda each: each.name)
    names = ("bench", "work", "n", "seed", "half", "k", "plan", "score", "json", "into")
    return Options(sets=sets, **{name: getattr(given, name) for name in names})


if __name__ == "__main__":
    sys.exit(main())
