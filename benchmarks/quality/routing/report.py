"""What a routing run says: the tables, the flat summary, the JSON and the plot; and the table of the folds."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.table import Table

from benchmarks.quality.routing.collection import FIGURES, SETS, Item
from benchmarks.wire.machine import Machine

Found = dict[str, Item]
"""Results by step."""


def load() -> list[float]:
    """What else the machine does: its load averages."""
    return [round(value, 2) for value in os.getloadavg()]


def systems(found: Found) -> Iterator[tuple[str, Item]]:
    """Every judged system with its figures by set."""
    if "ours" in found:
        yield "ours", found["ours"]
    for step in ("bm25", "sxfmr", "crush", "ablations"):
        for name, result in found.get(step, {}).items():
            if isinstance(result, dict):
                yield name, result


def summary(found: Found) -> dict[str, float | None]:
    """The flat numbers; None where something was not measured."""
    ours = found.get("ours", {})
    flat: dict[str, float | None] = {
        f"{world}{name}_{key}": ours[f"{world}{name}"][key][0] if f"{world}{name}" in ours else None
        for world in ("", "pool_")
        for name in SETS
        for key in FIGURES
    }
    speed = found.get("speed", {}).get("ours", {})
    flat["throughput_qps"] = speed.get("throughput_qps")
    flat["p50_ms"] = speed.get("p50_ms")
    points = found.get("growth", {}).get("points", {}).get("ours", [])
    flat["p95_ms_100k_tables"] = points[-1]["p95_ms"] if points else None
    flat["add_database_s"] = found.get("adding", {}).get("largest_s")
    flat["train_minutes"] = found.get("train", {}).get("full", {}).get("train_minutes")
    return {key: value if value is None else round(value, 4) for key, value in flat.items()}


def tables(found: Found) -> Iterator[Table]:
    """For the terminal: recall, then cost."""
    grid = Table(
        "system", "set", "n", *FIGURES, "half 0 / half 1: db_r1", "per s", title="recall in %, 95 % intervals"
    )
    for name, result in systems(found):
        for key, figures in result.items():
            if isinstance(figures, dict) and "db_r1" in figures:
                cells = [
                    "{:.1f} [{:.1f}, {:.1f}]".format(*(100 * one for one in figures[each]))
                    for each in FIGURES
                ]
                halves = [f"{100 * figures[h]['db_r1'][0]:.1f}" for h in ("half_0", "half_1") if h in figures]
                grid.add_row(
                    name, key, str(figures["n"]), *cells, " / ".join(halves), f"{figures['qps']:.0f}"
                )
    yield grid
    costs = Table("what", "figures", title="cost")
    for step in ("train", "speed", "adding"):
        for key, value in found.get(step, {}).items():
            costs.add_row(f"{step}: {key}", _said(value))
    for name, points in found.get("growth", {}).get("points", {}).items():
        for point in points:
            costs.add_row(f"growth: {name}", _said(point))
    yield costs


def folds(file: Path) -> Table:
    """The figures of the training databases, each held out of its fold (`training.routing_folds`)."""
    found = json.loads(file.read_text(encoding="utf-8"))
    grid = Table(
        "leg", "questions", "among", "folds", "n", "db_r1", "db_r5",
        title=f"databases held out of their fold, {found['commit'][:9]}, {found['training']}; %, 95 % intervals",
    )  # fmt: skip
    for line in found["figures"]:
        each = line["figures"]
        recall = "{:.1f} [{:.1f}, {:.1f}]".format(*(100 * each[key] for key in ("r1", "low", "high")))
        among, held = str(line["among"]), "".join(map(str, line["folds"]))
        row = (line["leg"], line["variant"], among, held, str(each["n"]), recall, f"{100 * each['r5']:.1f}")
        grid.add_row(*row)
    return grid


def _said(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_said(one)}" for key, one in value.items())
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def write(file: Path, found: Found, machine: Machine, *, seed: int, half: int | None) -> None:
    """Everything; the commit of a step is that it was measured at."""
    whole = {
        "benchmark": "routing",
        "command": "make bench-routing",
        "machine": dataclasses.asdict(machine),
        "commit": machine.commit,
        "seed": seed,
        "n": {key: value["n"] for key, value in found.get("ours", {}).items() if key in SETS},
        "config": {"half": half, "intervals": "95 %, the benchmark scorer's"},
        "summary": summary(found),
        "steps": found,
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")


def plot(file: Path, found: Found) -> None:
    """Database recall@1 of every system with its interval, and milliseconds by the size of the catalog."""
    import matplotlib as mpl  # noqa: PLC0415 - only where a plot is wanted

    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415

    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.5), layout="constrained", width_ratios=(3, 1))
    # On a sample only, or the weaker of two ways: these stand in the table.
    shown = [
        (name, one)
        for name, one in systems(found)
        if name not in {"ours on the sample", "BM25, mean", "SXFMR, mean"}
    ]
    keys = [f"{world}{name}" for world in ("", "pool_") for name in SETS]
    width = 0.8 / max(1, len(shown))
    for place, (name, result) in enumerate(shown):
        points = [(at, result[key]["db_r1"]) for at, key in enumerate(keys) if key in result]
        left.bar(
            [at + (place - (len(shown) - 1) / 2) * width for at, _ in points],
            [100 * value for _, (value, _, _) in points],
            width * 0.9,
            yerr=[
                [100 * (value - low) for _, (value, low, _) in points],
                [100 * (high - value) for _, (value, _, high) in points],
            ],
            label=name,
            error_kw={"linewidth": 0.7},
        )
    left.set_xticks(range(len(keys)), keys)
    left.set_ylabel("database recall@1, %")
    left.set_title("Systems on the same questions, with 95 % intervals; higher is better")
    left.legend(fontsize="x-small", ncols=5, loc="upper center", bbox_to_anchor=(0.5, -0.08))
    for name, points in found.get("growth", {}).get("points", {}).items():
        sizes = [point["tables"] for point in points]
        right.plot(sizes, [point["p50_ms"] for point in points], marker="o", label=f"{name}, p50")
        right.plot(
            sizes, [point["p95_ms"] for point in points], marker="^", linestyle=":", label=f"{name}, p95"
        )
    right.set_xscale("log")
    right.set_xlabel("tables in the catalog (made up)")
    right.set_ylabel("ms a question")
    right.set_ylim(bottom=0)
    if "growth" in found:
        right.legend(fontsize="x-small")
    figure.savefig(file, dpi=130)
    plt.close(figure)
