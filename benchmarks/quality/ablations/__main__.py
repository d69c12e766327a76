"""Runs the benchmark: see `benchmarks.quality.ablations`.

    python -m benchmarks.quality.ablations [--sets train,spider] [--arms ARMS] [--n N] [--k K]

A run that was cut off goes on where it stopped when the same command is given again; `--plan` says what is left and
asks nothing, `--score` reports what is answered so far.
"""

from __future__ import annotations

import sys

from rich.console import Console

from benchmarks.harness.answers import Judged, asked_and_judged, told
from benchmarks.harness.command import Options, by_name, measuring, parser, told_command
from benchmarks.harness.questions import AMBROSIA, SETS, TRAIN, Selection, asked, sources
from benchmarks.harness.report import Run, Summary
from benchmarks.harness.running import Pass, in_turns, replaying
from benchmarks.harness.site import site
from benchmarks.quality.ablations.arms import ARMS, WHOLE, system

MODULE = "benchmarks.quality.ablations"


def main() -> int:
    """Measures, prints the tables, returns the exit status (2: no data, wrong options, another run; 130: stopped)."""
    made = parser(MODULE, __doc__, k=3)
    made.set_defaults(n=100, sets=TRAIN.name)
    return measuring(made, Options, _run)


async def _run(options: Options, console: Console) -> None:
    selection = Selection(options.n, options.seed, options.half)
    sets = by_name(options.sets, (*SETS, AMBROSIA), "set")
    async with site(options.work, options.bench, sources(sets)) as place:
        with replaying(place, options.work) as replay:
            passes = [
                Pass.of_system(of, system(arm, options.k), asked(options.bench, of, selection), options.work)
                for of in sets
                for arm in by_name(options.systems, ARMS, "arm")
            ]
            found = await asked_and_judged(
                passes, WHOLE, place, options, console, replay=replay, order=in_turns
            )
    if found is not None:
        config = {"k": options.k, "half": options.half, "database": "given"}
        run = Run("ablations", told_command(MODULE, sys.argv[1:]), options.seed, config)
        told(run, found, summaries(found), options, console)


def summaries(found: Judged) -> dict[str, Summary]:
    """The flat numbers: of training questions by the arms' names, of other sets with theirs before."""
    made: dict[str, Summary] = {}
    for name, rows in found.rows.items():
        before = "" if name == TRAIN.name else f"{name}_"
        flat: dict[str, float | None] = {}
        for row in rows:
            if row.gain_acc1 is None or row.gain_set is None or row.seconds_ratio is None:
                flat |= {f"{before}acc1": row.acc1.value, f"{before}set_acc": row.set_acc.value}
                continue
            part = f"{before}{row.system}"
            flat |= {f"{part}_gain_acc1": row.gain_acc1.value, f"{part}_gain_set": row.gain_set.value}
            flat[f"{part}_seconds_ratio"] = row.seconds_ratio.value
        made[name] = flat
    return made


if __name__ == "__main__":
    sys.exit(main())
