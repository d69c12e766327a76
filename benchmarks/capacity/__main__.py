"""Runs the benchmark: see `benchmarks.capacity`.

    python -m benchmarks.capacity [--only PARTS] [--json FILE]

Three quarters of an hour on two processors with nothing beside it; the disk of the store is filled as root alone.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.capacity import cells
from benchmarks.capacity.day import DISK_MB, day
from benchmarks.capacity.stack import Stack, serving
from benchmarks.harness.command import plain_parser, told_command
from benchmarks.harness.report import Part, Run, write_result

MODULE = "benchmarks.capacity"
PARTS = ("asked", "plain", "idle", "day")
ASKERS = (1, 10, 50, 200)
WEIGHT = 10
"""CPUWeight of the engine in deploy/systemd, beside 100."""


def main() -> int:
    """Measures, prints each part as it is done, writes the results; returns the exit status."""
    options = _options()
    wanted = options.only.split(",")
    if unknown := set(wanted) - set(PARTS):
        sys.stderr.write(f"no such part: {', '.join(sorted(unknown))}; parts are {', '.join(PARTS)}\n")
        return 2
    console, command = Console(), told_command(MODULE, sys.argv[1:])
    for name in wanted:
        console.print(f"{name} …")
        run = Run("capacity", command, options.seed, {"load_before": os.getloadavg()[0]})
        found = _measured(name, options)
        console.print(found)
        if options.json is not None:
            part = Part(options.people if name == "day" else None, found, summary(name, found))
            write_result(options.json, run, {name: part})
    return 0


def summary(name: str, found: Mapping[str, Any]) -> dict[str, float | None]:
    """The flat numbers of a part."""
    cells = found.get("cells", ())
    match name:
        case "asked":
            lost = sum(each.lost + each.anothers for each in cells)
            return {
                "questions_per_s_scripted": max(e.questions_a_second for e in cells),
                "lost_answers_asked": lost,
            }
        case "plain":
            return {"plain_sql_ratio_under_load": cells[-1].ratio}
        case "idle":
            return {"idle_nl_sessions": found["idle"].sessions, "idle_nl_kb": found["idle"].gateway_kb}
        case "day":
            growth = next(each.slope for each in found["day"].memory if each.part == "engine")
            lost = sum(each.lost + each.anothers for each in found["day"].parts)
            return {"lost_answers": lost, "engine_mb_growth": growth}
    return {}


def _options() -> argparse.Namespace:
    parser = plain_parser(MODULE, __doc__)
    parser.add_argument("--only", default=",".join(PARTS), help=f"comma-separated, of {', '.join(PARTS)}")
    parser.add_argument("--seconds", type=float, default=30.0, help="of a cell")
    parser.add_argument("--model-seconds", type=float, default=0.5, help="of the scripted model, a call")
    parser.add_argument("--askers", type=int, default=ASKERS[-1], help="at once at most")
    parser.add_argument("--idle", type=int, default=5000, help="idle sessions")
    parser.add_argument("--people", type=int, default=200, help="askers of the day")
    parser.add_argument("--pause", type=float, default=100.0, help="seconds that each rests, at the mean")
    parser.add_argument("--minutes", type=float, default=9.0, help="that the day takes")
    parser.add_argument("--rounds", type=int, default=5, help="of plain SQL without and with askers")
    return parser.parse_args()


def _measured(name: str, options: argparse.Namespace) -> dict[str, Any]:
    connections = options.idle + 100 if name == "idle" else 300
    with (
        _folders() as (folder, store),
        serving(
            folder, connections=connections, waiting=400, seconds=options.model_seconds, store=store
        ) as stack,
    ):
        return asyncio.run(_part(name, stack, options, full=store is not None))


async def _part(name: str, stack: Stack, options: argparse.Namespace, *, full: bool) -> dict[str, Any]:
    seconds, model_seconds = options.seconds, options.model_seconds
    some = [count for count in ASKERS if count <= options.askers]
    match name:
        case "asked":
            found = [await cells.asked(stack, count, seconds, model_seconds) for count in some]
            await stack.script("0")
            return {"cells": [*found, await cells.asked(stack, some[min(1, len(some) - 1)], seconds, 0.0)]}
        case "plain":
            weights = [(10, None), (some[-1], None), *([(some[-1], WEIGHT)] if os.geteuid() == 0 else [])]
            return {
                "cells": [
                    await cells.plain(stack, count, options.rounds, seconds / 3, model_seconds, weight=weight)
                    for count, weight in weights
                ]
            }
        case "idle":
            return {"idle": await cells.idle(stack, options.idle, seconds, model_seconds)}
    length = 60 * options.minutes
    return {"day": await day(stack, options.people, length, options.pause, model_seconds, full=full)}


@contextmanager
def _folders() -> Iterator[tuple[Path, Path | None]]:
    """A folder, and one on a disk of its own for the store; None where no disk can be mounted."""
    with tempfile.TemporaryDirectory() as name:
        disk = Path(name) / "disk"
        disk.mkdir()
        mounted = (
            os.geteuid() == 0
            and not subprocess.run(
                ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", str(disk)],
                check=False,
                capture_output=True,
            ).returncode
        )
        try:
            yield Path(name), disk / "store" if mounted else None
        finally:
            if mounted:
                with contextlib.suppress(OSError):
                    subprocess.run(["umount", str(disk)], check=False)


if __name__ == "__main__":
    sys.exit(main())
