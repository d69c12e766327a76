"""What a run says: tables on the terminal, a page, and the results file.

    {"benchmark", "commit", "seed", "n", "summary": {flat numbers}, "parts": {name: how it was made, and its tables}}

A part is what one command measures as a whole, a set of questions mostly: it says its own commit, and a later run
replaces the parts that it measured and their keys of the summary.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table

from benchmarks.harness.intervals import Figure
from benchmarks.harness.machine import Machine, describe

Summary = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of words."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> list[str]:
        """Its lines, under a heading."""
        cells = (self.columns, ("---",) * len(self.columns), *self.rows)
        return [f"## {self.title}", "", *(f"| {' | '.join(row)} |" for row in cells), ""]


def shown(figure: Figure | None, scale: float = 100, digits: int = 1) -> str:
    """A figure with its interval, in percent unless told otherwise; nothing for None."""
    if figure is None:
        return ""
    value, low, high = (f"{scale * each:.{digits}f}" for each in (figure.value, figure.low, figure.high))
    return f"{value} [{low}, {high}]"


def printed(console: Console, grids: Iterable[Grid]) -> None:
    """Shows tables on the terminal."""
    for grid in grids:
        table = Table(*grid.columns, title=grid.title)
        for row in grid.rows:
            table.add_row(*row)
        console.print(table)


@dataclass(frozen=True, slots=True)
class Part:
    """What a run measured as a whole. `n`: questions, or rounds; `tables`: all figures; `commits`: that answered."""

    n: Any
    tables: Any
    summary: Summary = field(default_factory=dict)
    commits: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """How figures came about. `command`: what repeats them."""

    benchmark: str
    command: str
    seed: int
    config: Mapping[str, Any]
    machine: Machine = field(default_factory=describe)


def write_result(file: Path, run: Run, parts: Mapping[str, Part]) -> None:
    """Replaces these parts of the file, which may not be there yet, and their keys of the summary; the rest stays.

    Raises `ValueError` where `file` holds anything but a JSON object. The file is replaced in one step.
    """
    known = _read(file)
    kept = known.get("parts", {})
    origin = {
        "commit": run.machine.commit,
        "command": run.command,
        "seed": run.seed,
        "config": dict(run.config),
    }
    for name, part in parts.items():
        commits = {"commits": sorted(set(part.commits))} if part.commits else {}
        made = {
            **origin,
            **commits,
            "machine": asdict(run.machine),
            "n": part.n,
            "summary": dict(part.summary),
        }
        kept[name] = plain({**made, "tables": part.tables})
    summary = {key: value for part in kept.values() for key, value in part["summary"].items()}
    whole = {
        "benchmark": run.benchmark,
        "commit": run.machine.commit,
        "seed": run.seed,
        "n": {name: part["n"] for name, part in kept.items()},
        "summary": dict(sorted(summary.items())),
        "parts": kept,
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    written = file.with_name(f"{file.name}.new")
    written.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    written.replace(file)


def _read(file: Path) -> dict[str, Any]:
    try:
        return msgspec.json.decode(file.read_bytes(), type=dict[str, Any])
    except FileNotFoundError:
        return {}
    except msgspec.DecodeError as problem:
        raise ValueError(f"{file}: {problem}; remove it or restore it from the repository") from problem


def plain(value: Any) -> Any:
    """As JSON has it: numbers of four digits behind the point, what is no number None."""
    value = msgspec.to_builtins(value)
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, float):
        return round(value, 4) if math.isfinite(value) else None
    return value


def write_page(file: Path, run: Run, grids: Iterable[Grid]) -> None:
    """The report for reading: each table with the command that repeats it."""
    changed = " (tree changed since)" if run.machine.dirty else ""
    origin = (
        f"`{run.command}` at commit `{run.machine.commit[:9]}`{changed}, seed {run.seed}, {run.machine.cpu}."
    )
    lines = [
        f"# {run.benchmark.capitalize()}",
        "",
        origin,
        "95 % intervals resample databases; shares in percent.",
        "",
    ]
    lines += [line for grid in grids for line in grid.markdown()]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def write_lines(file: Path, items: Iterable[Any]) -> None:
    """An object a line; the file is there whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    written = file.with_name(f"{file.name}.new")
    written.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in items))
    written.replace(file)


def note(file: Path, **seen: Any) -> None:
    """Adds a line to a log of looks at questions that are set aside: when, at which commit, and what was seen.

    Whatever is chosen after a look is chosen on those questions: the log says how often that could have been.
    """
    machine = describe()
    date = datetime.now(UTC).isoformat(timespec="seconds")
    line = {"date": date, "commit": machine.commit, "dirty": machine.dirty, **plain(seen)}
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as kept:
        kept.write(json.dumps(line) + "\n")
