"""Runs the benchmark of the wire: see `benchmarks.wire`."""

from __future__ import annotations

import argparse
import fnmatch
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from operator import attrgetter
from pathlib import Path

from rich.console import Console

import benchmarks.wire as described
from benchmarks.harness.command import plain_parser, told_command
from benchmarks.harness.report import Grid, Part, Run, printed, shown, write_result
from benchmarks.wire import cells, extras
from benchmarks.wire.cells import CLIENTS, MODES, Sample
from benchmarks.wire.extras import Idle, Overhead
from benchmarks.wire.rounds import Plan, Series, run
from benchmarks.wire.systems import SCALE, Server, System, gateway, pgbouncer, pgbouncer_version, postgres

MODULE = "benchmarks.wire"
DIRECT, PEER, ONE, TWO = SYSTEMS = ("direct", "pgbouncer", "gateway_1", "gateway_2")
_EXTRAS = ("idle", "nl_overhead")
_INSTALL = "PgBouncer is not installed (apt-get install pgbouncer): measuring without it."

Value = Callable[[Sample], float | None]


speed, proxy_cpu, p50, p99 = (attrgetter(name) for name in ("speed", "proxy_cpu", "p50", "p99"))


@dataclass(frozen=True, slots=True)
class Results:
    """One whole run."""

    series: Collection[Series]
    idle: Sequence[Idle]
    overhead: Overhead | None

    def ratio(self, cell: str, over: str, under: str, value: Value = speed) -> float | None:
        """The median of a cell's ratios, None where it was not measured."""
        found = next((one for one in self.series if one.cell == cell), Series(cell)).ratio(over, under, value)
        return None if found is None else found.value


def main() -> None:
    """Measures, prints the table and the summary; the results file is written anew after whatever was measured."""
    options = _options()
    console = Console(width=160)
    plan = Plan(
        options.rounds, max(options.most, options.rounds), options.seconds, options.noise, options.seed
    )
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pgparley-bench-")))
        folder.chmod(0o755)
        console.print(f"PostgreSQL, pgbench -S at scale {SCALE}…")
        server = stack.enter_context(postgres(folder / "data"))
        engine = stack.enter_context(extras.fake_engine(folder / "engine.sock"))
        systems, versions = _systems(stack, server, folder, engine, console)
        wanted = [cell for cell in cells.all_cells() if fnmatch.fnmatch(cell.name, options.only)]
        results = Results((), [], None)

        def keep(measured: Results) -> None:
            nonlocal results
            results = measured
            _write(results, plan, versions, options)

        def tell(said: str, series: Collection[Series]) -> None:
            console.log(said)
            keep(replace(results, series=series))

        run(server, systems, wanted, plan, tell)
        asked = {name for name in _EXTRAS if fnmatch.fnmatch(name, options.only)}
        if "idle" in asked:
            keep(replace(results, idle=[extras.idle(system) for system in systems if system.pids]))
        if "nl_overhead" in asked:
            one = next(system for system in systems if system.name == ONE)
            keep(replace(results, overhead=extras.overhead(one)))
    printed(console, [_grid(results)])
    console.print({"summary": summary(results), "idle": results.idle, "nl_overhead": results.overhead})


def _write(results: Results, plan: Plan, versions: dict[str, str], options: argparse.Namespace) -> None:
    if options.json is not None:
        made = Run(
            "wire", told_command(MODULE, sys.argv[1:]), plan.seed, asdict(plan) | {"versions": versions}
        )
        n = min((len(one.clean) for one in results.series), default=0)
        tables = {"cells": _rows(results), "idle": results.idle, "nl_overhead": results.overhead}
        tables |= {"rounds": [*results.series]}
        write_result(options.json, made, {"wire": Part(n, tables, summary(results))})


def _systems(
    stack: ExitStack, server: Server, folder: Path, engine: Path, console: Console
) -> tuple[list[System], dict[str, str]]:
    systems = [System(DIRECT, server.port)]
    command = [server.tool("pgbench"), "--version"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    versions = {"pgbench": told}
    if (version := pgbouncer_version()) is None:
        console.print(f"[yellow]{_INSTALL}")
    else:
        console.print(f"{version}, session mode")
        versions["pgbouncer"] = version
        systems.append(stack.enter_context(pgbouncer(server, folder)))
    systems += [stack.enter_context(gateway(server, engine, workers)) for workers in (1, 2)]
    return systems, versions


def summary(results: Results) -> dict[str, float | None]:
    """The flat numbers: ratios of medians per round; None where something was not measured."""
    ratio = results.ratio

    def worst(values: Sequence[float | None], pick: Callable[[Sequence[float]], float]) -> float | None:
        known = [value for value in values if value is not None]
        return pick(known) if known and len(known) == len(values) else None

    loaded = [f"{mode}_c{clients}" for mode in MODES for clients in CLIENTS[1:]]
    one_client = [f"{mode}_c{CLIENTS[0]}" for mode in MODES]
    return {
        "tps_ratio_min": worst([ratio(cell, TWO, PEER) for cell in loaded], min),
        "tps_ratio_one_worker": worst([ratio(cell, ONE, PEER) for cell in loaded], min),
        "p50_ratio_c1": worst([ratio(cell, TWO, PEER, p50) for cell in one_client], max),
        "p50_ratio_c1_one_worker": worst([ratio(cell, ONE, PEER, p50) for cell in one_client], max),
        "p99_ratio_c1": worst([ratio(cell, TWO, PEER, p99) for cell in one_client], max),
        "copy_ratio": ratio("copy_out", TWO, PEER),
        "copy_cpu_ratio": ratio("copy_out", TWO, PEER, proxy_cpu),
        "select_ratio": ratio("select", TWO, PEER),
        "select_cpu_ratio": ratio("select", TWO, PEER, proxy_cpu),
        "reconnect_ratio_direct": ratio("reconnect_simple_c8", TWO, DIRECT),
        "reconnect_ratio_direct_one_worker": ratio("reconnect_simple_c8", ONE, DIRECT),
        "reconnect_ratio_pgbouncer": ratio("reconnect_simple_c8", TWO, PEER),
        "idle_kb": next((one.each_kb for one in results.idle if one.system == ONE), None),
        "idle_kb_pgbouncer": next((one.each_kb for one in results.idle if one.system == PEER), None),
        "nl_overhead_ms": None if results.overhead is None else results.overhead.difference_ms,
    }


def _rows(results: Results) -> list[dict[str, object]]:
    """A row for each cell and system that was measured."""
    return [
        {
            "cell": one.cell,
            "system": system,
            "n": len(one.clean),
            "dropped": len(one.rounds) - len(one.clean),
            "speed": one.median(system, speed),
            "proxy_cpu": None if system == DIRECT else one.median(system, proxy_cpu),
            "p50_ms": one.median(system, p50),
            "p99_ms": one.median(system, p99),
            "speed_by_direct": one.ratio(system, DIRECT, speed),
            "speed_by_pgbouncer": one.ratio(system, PEER, speed),
            "cpu_by_pgbouncer": one.ratio(system, PEER, proxy_cpu),
            "p50_by_pgbouncer": one.ratio(system, PEER, p50),
        }
        for one in results.series
        for system in SYSTEMS
        if one.median(system, speed) is not None
    ]


def _grid(results: Results) -> Grid:
    names = ("speed_by_direct", "speed_by_pgbouncer", "cpu_by_pgbouncer", "p50_by_pgbouncer")
    rows = []
    for row in _rows(results):
        cpu = row["proxy_cpu"]
        costs = ("" if cpu is None else f"{1e6 * cpu:.1f}", *(shown(row[name], 1, 2) for name in names))  # type: ignore[operator, arg-type]  # figures
        rows.append((f"{row['cell']}", f"{row['system']}", f"{row['n']}", f"{row['speed']:.4g}", *costs))
    columns = (
        "cell",
        "system",
        "n",
        "per s",
        "CPU µs",
        "by direct",
        "by PgBouncer",
        "CPU by it",
        "p50 by it",
    )
    return Grid("wire", columns, rows)


def _options() -> argparse.Namespace:
    parser = plain_parser(MODULE, described.__doc__)
    parser.add_argument("--rounds", type=int, default=9, help="clean rounds of each cell")
    parser.add_argument(
        "--most", type=int, default=27, help="rounds of a cell at most, dropped ones included"
    )
    parser.add_argument(
        "--seconds", type=float, default=1.0, help="of one run; of many clients, three times that"
    )
    parser.add_argument("--noise", type=float, default=0.06, help="share of the machine that others may take")
    parser.add_argument("--only", default="*", help=f"cells whose name matches; also {', '.join(_EXTRAS)}")
    return parser.parse_args()


if __name__ == "__main__":
    main()
