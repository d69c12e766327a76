"""Runs the benchmark of the wire: see `benchmarks.wire`."""

from __future__ import annotations

import argparse
import fnmatch
import subprocess
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from benchmarks.wire import cells, extras, report, rounds
from benchmarks.wire.machine import describe
from benchmarks.wire.systems import (
    INSTALL_PGBOUNCER,
    ROOT,
    SCALE,
    Server,
    System,
    gateway,
    pgbouncer,
    pgbouncer_version,
    postgres,
)

_EXTRAS = ("idle", "nl_overhead")


@dataclass(frozen=True, slots=True)
class Options:
    """What is measured, and where the results go."""

    plan: rounds.Plan
    only: str
    json: Path | None
    plot: Path | None


def main() -> None:
    """Measures, prints the table and the summary, writes what was asked for."""
    options = _options()
    console = Console(width=130)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pgparley-bench-")))
        folder.chmod(0o755)
        console.print(f"PostgreSQL, pgbench -S at scale {SCALE}…")
        server = stack.enter_context(postgres(folder / "data"))
        engine = stack.enter_context(extras.fake_engine(folder / "engine.sock"))
        systems, versions = _systems(stack, server, folder, engine, console)
        wanted = [cell for cell in cells.all_cells() if fnmatch.fnmatch(cell.name, options.only)]
        series = rounds.run(server, systems, wanted, options.plan, console.log)
        idle = [extras.idle(system) for system in systems if system.pids] if _asked("idle", options) else []
        one = next(system for system in systems if system.name == report.ONE)
        overhead = extras.overhead(one) if _asked("nl_overhead", options) else None
    results = report.Results(describe(ROOT), options.plan, versions, series, idle, overhead)
    console.print(report.table(results))
    console.print({"summary": report.summary(results), "idle": idle, "nl_overhead": overhead})
    if options.json is not None:
        report.write_json(results, options.json)
    if options.plot is not None:
        report.plot(results, options.plot)


def _systems(
    stack: ExitStack, server: Server, folder: Path, engine: Path, console: Console
) -> tuple[list[System], dict[str, str]]:
    systems = [System(report.DIRECT, server.port)]
    versions = {"pgbench": _version(server)}
    if (version := pgbouncer_version()) is None:
        console.print(f"[yellow]{INSTALL_PGBOUNCER}")
    else:
        console.print(f"{version}, session mode")
        versions["pgbouncer"] = version
        systems.append(stack.enter_context(pgbouncer(server, folder)))
    systems += [stack.enter_context(gateway(server, engine, workers)) for workers in (1, 2)]
    return systems, versions


def _version(server: Server) -> str:
    command = [server.tool("pgbench"), "--version"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _asked(name: str, options: Options) -> bool:
    return fnmatch.fnmatch(name, options.only)


def _options() -> Options:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.wire", description=__doc__)
    parser.add_argument("--rounds", type=int, default=9, help="clean rounds of each cell")
    parser.add_argument(
        "--most", type=int, default=27, help="rounds of a cell at most, dropped ones included"
    )
    parser.add_argument(
        "--seconds", type=float, default=1.0, help="length of one run; of many clients, three times that"
    )
    parser.add_argument("--noise", type=float, default=0.06, help="share of the machine that others may take")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="*", help=f"cells whose name matches; also {', '.join(_EXTRAS)}")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plot", type=Path)
    given = parser.parse_args()
    plan = rounds.Plan(given.rounds, max(given.most, given.rounds), given.seconds, given.noise, given.seed)
    return Options(plan, given.only, given.json, given.plot)


if __name__ == "__main__":
    main()
