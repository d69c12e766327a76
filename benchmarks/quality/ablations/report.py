"""What a run says: tables on the terminal, the JSON, the page, and a line for each question and arm."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table as Grid

from benchmarks.quality.ablations.drawing import TRAIN
from benchmarks.quality.ablations.results import ArmFigures, Outcome
from benchmarks.quality.candidates.figures import Figure
from benchmarks.wire.machine import Machine

COLUMNS = (
    "without",
    "n",
    "first right",
    "in the set",
    "set",
    "gain, first",
    "gain, set",
    "settled: first, set",
    "seconds",
    "model's",
    "calls",
    "all of its seconds by these",
)


@dataclass(frozen=True, slots=True)
class Run:
    """How the figures came about. `command`: what repeats them. `commits`: of the trees that answered."""

    machine: Machine
    command: str
    seed: int
    k: int
    commits: tuple[str, ...]


Figures = Mapping[str, Sequence[ArmFigures]]
"""By set, the whole pipeline first."""


def summary(found: Figures) -> dict[str, float | None]:
    """The flat numbers, of the training databases; those of the development questions begin with `dev_`."""
    flat: dict[str, float | None] = {}
    for set_name, arms in found.items():
        before = "" if set_name == TRAIN.name else f"{set_name}_"
        for arm in arms:
            if arm.gain_acc1 is None:
                flat |= {f"{before}n": arm.n}
                flat |= {f"{before}acc1": _rounded(arm.acc1), f"{before}set_acc": _rounded(arm.set_acc)}
                continue
            flat[f"{before}{arm.name}_gain_acc1"] = _rounded(arm.gain_acc1)
            flat[f"{before}{arm.name}_gain_set"] = _rounded(arm.gain_set)
            flat[f"{before}{arm.name}_seconds_ratio"] = _rounded(arm.seconds_ratio)
    return flat


def _rounded(figure: Figure | None) -> float | None:
    return None if figure is None else round(figure.value, 4)


def write_json(run: Run, found: Figures, file: Path) -> None:
    """Everything but the answers, which stay in the journals."""
    whole: dict[str, Any] = {
        "benchmark": "ablations",
        "command": run.command,
        "machine": dataclasses.asdict(run.machine),
        "commit": run.machine.commit,
        "commits": run.commits,
        "seed": run.seed,
        "config": {"k": run.k, "database": "given"},
        "n": {f"{name}/{arm.name}": arm.n for name, arms in found.items() for arm in arms},
        "summary": summary(found),
        "tables": {name: [dataclasses.asdict(arm) for arm in arms] for name, arms in found.items()},
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")


def write_page(run: Run, found: Figures, file: Path) -> None:
    """The generated report."""
    commits = ", ".join(commit[:7] for commit in run.commits)
    lines = ["# Ablations", "", f"`{run.command}`, commit {commits}, seed {run.seed}, k = {run.k}."]
    for name, arms in found.items():
        lines += ["", f"## {name}", "", _line(COLUMNS), _line(("---",) * len(COLUMNS))]
        lines += [_line(_cells(arm)) for arm in arms]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def table(set_name: str, arms: Sequence[ArmFigures]) -> Grid:
    """For the terminal."""
    grid = Grid(*COLUMNS, title=set_name)
    for arm in arms:
        grid.add_row(*_cells(arm))
    return grid


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(arm: ArmFigures) -> tuple[str, ...]:
    failed = f" ({arm.failed} failed)" if arm.failed else ""
    return (
        arm.lacks,
        f"{arm.n}{failed}",
        _ranged(arm.acc1, 100, 1),
        _ranged(arm.set_acc, 100, 1),
        f"{arm.set_size:.2f}",
        _ranged(arm.gain_acc1, 100, 1),
        _ranged(arm.gain_set, 100, 1),
        ", ".join(each for each in (arm.settled_acc1, arm.settled_set) if each is not None),
        f"{arm.seconds:.1f}",
        f"{arm.model_seconds:.1f}",
        f"{arm.calls:.1f}",
        _ranged(arm.seconds_ratio, 1, 2),
    )


def _ranged(figure: Figure | None, scale: int, digits: int) -> str:
    if figure is None:
        return ""
    value, low, high = (f"{scale * each:.{digits}f}" for each in (figure.value, figure.low, figure.high))
    return f"{value} [{low}, {high}]"


def write_outcomes(found: Mapping[str, Mapping[str, Mapping[str, Outcome]]], file: Path) -> None:
    """A line of JSON for each set, arm and question: what `benchmarks.quality.ablations.by_question` reads."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(each) + "\n" for each in _outcome_lines(found)), encoding="utf-8")


def _outcome_lines(found: Mapping[str, Mapping[str, Mapping[str, Outcome]]]) -> Iterator[dict[str, Any]]:
    for set_name, arms in found.items():
        for arm, outcomes in arms.items():
            for each in outcomes.values():
                yield {
                    "set": set_name,
                    "arm": arm,
                    "id": each.id,
                    "db": each.database,
                    "first": each.first,
                    "found": each.found,
                    "place": each.place,
                    "seconds": round(each.cost.seconds, 3),
                    "model_seconds": round(each.cost.model_seconds, 3),
                    "calls": each.cost.calls,
                    "error": each.error,
                    "statements": each.statements,
                }
