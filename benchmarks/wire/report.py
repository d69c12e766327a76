"""What a run says: the tables, the flat summary, the JSON and the plot."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from benchmarks.wire.cells import MODES, Sample
from benchmarks.wire.extras import Idle, Overhead
from benchmarks.wire.machine import Machine
from benchmarks.wire.rounds import Plan, Ratio, Series

DIRECT, PEER, ONE, TWO = "direct", "pgbouncer", "gateway_1", "gateway_2"
SYSTEMS = (DIRECT, PEER, ONE, TWO)
LOADED = tuple(f"{mode}_c{clients}" for mode in MODES for clients in (8, 32))


@dataclass(frozen=True, slots=True)
class Results:
    """One whole run."""

    machine: Machine
    plan: Plan
    versions: dict[str, str]
    series: Sequence[Series]
    idle: Sequence[Idle]
    overhead: Overhead | None

    def find(self, cell: str) -> Series:
        """The rounds of `cell`, none where it was not measured."""
        return next((one for one in self.series if one.cell == cell), Series(cell))


def speed(sample: Sample) -> float:
    """Units a second."""
    return sample.speed


def proxy_cpu(sample: Sample) -> float:
    """Seconds of the relaying processes a unit."""
    return sample.proxy_cpu


def p50(sample: Sample) -> float | None:
    """Milliseconds."""
    return sample.p50


def p99(sample: Sample) -> float | None:
    """Milliseconds."""
    return sample.p99


def _median(ratio: Ratio | None) -> float | None:
    return None if ratio is None else round(ratio.median, 3)


def summary(results: Results) -> dict[str, float | None]:
    """The flat numbers: ratios of medians per round; None where something was not measured."""

    def ratio(cell: str, over: str, under: str, value: Any = speed) -> float | None:
        return _median(results.find(cell).ratio(over, under, value))

    def worst(values: Sequence[float | None], pick: Any) -> float | None:
        known = [value for value in values if value is not None]
        return pick(known) if known and len(known) == len(values) else None

    one_client = [f"{mode}_c1" for mode in MODES]
    return {
        "tps_ratio_min": worst([ratio(cell, TWO, PEER) for cell in LOADED], min),
        "tps_ratio_one_worker": worst([ratio(cell, ONE, PEER) for cell in LOADED], min),
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


def tables(results: Results) -> list[dict[str, Any]]:
    """A row for each cell and system."""
    rows = []
    for series in results.series:
        for system in SYSTEMS:
            if (middle := series.median(system, speed)) is None:
                continue
            cpu = series.median(system, proxy_cpu)
            row: dict[str, Any] = {"cell": series.cell, "system": system, "n": len(series.clean)}
            row["dropped"] = len(series.rounds) - len(series.clean)
            row["speed"] = round(middle, 3)
            row["proxy_cpu_us"] = None if system == DIRECT or cpu is None else round(cpu * 1e6, 2)
            for name, value in (("p50_ms", p50), ("p99_ms", p99)):
                row[name] = series.median(system, value)
            for name, under, value in (
                ("speed_by_direct", DIRECT, speed),
                ("speed_by_pgbouncer", PEER, speed),
                ("cpu_by_pgbouncer", PEER, proxy_cpu),
                ("p50_by_pgbouncer", PEER, p50),
            ):
                ratio = series.ratio(system, under, value)
                row[name] = None if ratio is None else _rounded(ratio)
            rows.append(row)
    return rows


def _rounded(ratio: Ratio) -> dict[str, float]:
    return {name: round(number, 3) for name, number in dataclasses.asdict(ratio).items()}


def write_json(results: Results, file: Path) -> None:
    """Everything, the single rounds included."""
    whole = {
        "benchmark": "wire",
        "command": "make bench-wire",
        "machine": dataclasses.asdict(results.machine),
        "commit": results.machine.commit,
        "seed": results.plan.seed,
        "n": min((len(series.clean) for series in results.series), default=0),
        "plan": dataclasses.asdict(results.plan),
        "versions": results.versions,
        "summary": summary(results),
        "tables": tables(results),
        "idle": [dataclasses.asdict(one) for one in results.idle],
        "nl_overhead": None if results.overhead is None else dataclasses.asdict(results.overhead),
        "rounds": [dataclasses.asdict(series) for series in results.series],
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(whole, indent=1) + "\n")


def table(results: Results) -> Table:
    """For the terminal."""
    shown = Table(
        "cell",
        "system",
        "n",
        "per s",
        "CPU µs",
        "by direct",
        "by PgBouncer",
        "95 %",
        "CPU by it",
        "p50 by it",
    )
    for row in tables(results):
        peer = row["speed_by_pgbouncer"]
        shown.add_row(
            row["cell"],
            row["system"],
            f"{row['n']}",
            f"{row['speed']:.4g}",
            "" if row["proxy_cpu_us"] is None else f"{row['proxy_cpu_us']:.1f}",
            _cell(row["speed_by_direct"]),
            _cell(peer),
            "" if peer is None else f"{peer['low']:.2f} to {peer['high']:.2f}",
            _cell(row["cpu_by_pgbouncer"]),
            _cell(row["p50_by_pgbouncer"]),
        )
    return shown


def _cell(ratio: dict[str, float] | None) -> str:
    return "" if ratio is None else f"{ratio['median']:.2f}"


def plot(results: Results, file: Path) -> None:
    """Speed by PgBouncer's, a bar a cell and a system, with its interval."""
    import matplotlib as mpl  # noqa: PLC0415 - only where a plot is wanted

    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415

    cells = [series for series in results.series if series.ratio(ONE, PEER, speed) is not None]
    figure, axes = plt.subplots(figsize=(11, 4.5), layout="constrained")
    shown = (
        (DIRECT, "direct", "#bbbbbb"),
        (ONE, "gateway, 1 worker", "#7aa6d6"),
        (TWO, "gateway, 2 workers", "#1f5fa8"),
    )
    for shift, (system, label, colour) in enumerate(shown):
        found = [series.ratio(system, PEER, speed) for series in cells]
        points = [(index, ratio) for index, ratio in enumerate(found) if ratio is not None]
        axes.bar(
            [index + (shift - 1) * 0.27 for index, _ in points],
            [ratio.median for _, ratio in points],
            0.25,
            yerr=[
                [ratio.median - ratio.low for _, ratio in points],
                [ratio.high - ratio.median for _, ratio in points],
            ],
            label=label,
            color=colour,
            error_kw={"linewidth": 0.8},
        )
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_xticks(range(len(cells)), [series.cell for series in cells], rotation=30, ha="right")
    axes.set_ylabel("speed by PgBouncer's")
    axes.set_title("Medians of interleaved rounds with 95 % intervals; higher is better")
    axes.legend()
    figure.savefig(file, dpi=130)
    plt.close(figure)
