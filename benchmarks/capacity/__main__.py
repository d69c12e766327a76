"""Runs the benchmark: see `benchmarks.capacity`.

    python -m benchmarks.capacity [--only PARTS] [--json FILE]

Three quarters of an hour on two processors with nothing beside it; the disk of the store is filled as root alone.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from benchmarks.capacity import cells
from benchmarks.capacity.day import DISK_MB, day
from benchmarks.capacity.stack import Stack, serving
from benchmarks.quality.routing.cost import growth
from benchmarks.wire.machine import describe
from benchmarks.wire.systems import ROOT
from pgparley.config import cache_dir

PARTS = ("asked", "embedded", "plain", "idle", "tables", "day")
ASKERS = (1, 10, 50, 200)
EMBEDDED_ASKERS = (1, 4)
WEIGHT = 10
"""CPUWeight of the engine in deploy/systemd, beside 100."""

SECONDS = 30.0
"""Of a cell; of one with the embedded model twice as many."""


def main() -> int:
    """Measures, prints each part as it is done, writes the results; returns the exit status."""
    options = _options()
    wanted = options.only.split(",")
    if unknown := set(wanted) - set(PARTS):
        sys.stderr.write(f"no such part: {', '.join(sorted(unknown))}; parts are {', '.join(PARTS)}\n")
        return 2
    console = Console()
    found = json.loads(options.json.read_text("utf-8")) if options.json and options.json.exists() else {}
    for name in wanted:
        console.print(f"{name} …")
        found[name] = _measured(name, options) | {"load_before": os.getloadavg()[0]} | asdict(describe(ROOT))
        console.print_json(json.dumps(found[name]))
        if options.json:
            options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.capacity",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", default=",".join(PARTS), help=f"comma-separated, of {', '.join(PARTS)}")
    parser.add_argument("--model-seconds", type=float, default=0.5, help="of the scripted model, a call")
    parser.add_argument("--idle", type=int, default=5000, help="idle sessions")
    parser.add_argument("--people", type=int, default=200, help="askers of the day")
    parser.add_argument(
        "--pause", type=float, default=100.0, help="seconds that each rests between questions, at the mean"
    )
    parser.add_argument("--minutes", type=float, default=9.0, help="that the day takes")
    parser.add_argument("--rounds", type=int, default=5, help="of plain SQL without and with askers")
    parser.add_argument("--json", type=Path, help="where results are kept; parts not measured now stay")
    return parser.parse_args()


def _measured(name: str, options: argparse.Namespace) -> dict[str, object]:
    model_seconds: float = options.model_seconds
    if name == "tables":
        return {"growth": growth(cache_dir() / "router", learned=True)}
    connections = options.idle + 100 if name == "idle" else 300
    seconds = None if name == "embedded" else model_seconds
    with (
        _folders() as (folder, store),
        serving(folder, connections=connections, waiting=400, seconds=seconds, store=store) as stack,
    ):
        return asyncio.run(_part(name, stack, options, full=store is not None))


async def _part(name: str, stack: Stack, options: argparse.Namespace, *, full: bool) -> dict[str, object]:
    model_seconds: float = options.model_seconds
    match name:
        case "asked":
            found = [asdict(await cells.asked(stack, n, SECONDS, model_seconds)) for n in ASKERS]
            await stack.script("0")
            return {"cells": [*found, asdict(await cells.asked(stack, ASKERS[1], SECONDS, 0.0))]}
        case "embedded":
            return {
                "cells": [asdict(await cells.asked(stack, n, 2 * SECONDS, None)) for n in EMBEDDED_ASKERS]
            }
        case "plain":
            beside = [
                await cells.plain(stack, n, options.rounds, 10.0, model_seconds, weight=weight)
                for n, weight in ((10, None), (200, None), *([(200, WEIGHT)] if os.geteuid() == 0 else []))
            ]
            return {"cells": [asdict(each) for each in beside]}
        case "idle":
            return asdict(await cells.idle(stack, options.idle, SECONDS, model_seconds))
        case _:
            made = await day(
                stack, options.people, 60 * options.minutes, options.pause, model_seconds, full=full
            )
            return asdict(made)


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
