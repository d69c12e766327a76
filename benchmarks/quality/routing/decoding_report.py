"""What the decoder's parts are worth: the tables for the terminal, and the JSON."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from rich.table import Table

from benchmarks.quality.resampling import Estimate, estimate
from benchmarks.quality.routing.collection import ROOT
from benchmarks.quality.routing.table_marks import MEASURES, Line, Marked, lines
from benchmarks.wire.machine import describe

_MILLISECONDS = MEASURES.index("milliseconds")


@dataclass(frozen=True, slots=True)
class Part:
    """The marks of one world; every system is compared with `against`."""

    world: str
    marks: Sequence[Marked]
    against: str


def tables(parts: Sequence[Part]) -> Iterator[Table]:
    """Means, and below each its difference with an interval."""
    for part in parts:
        for given in (True, False):
            title = f"{part.world}, database {'given' if given else 'not given'}; %, milliseconds of processor time"
            grid = Table("tables", "n", "system", *MEASURES, title=title)
            for line in lines(part.marks, against=part.against):
                if line.given == given:
                    cells = zip(line.means, line.differences, strict=True)
                    texts = [_text(number, *cell) for number, cell in enumerate(cells)]
                    grid.add_row(line.tables, f"{line.n} in {line.databases}", line.system, *texts)
            yield grid
    for part in parts:
        yield _routing(part)


def _routing(part: Part) -> Table:
    grid = Table("figure", "value", title=f"{part.world}: databases")
    for name, found in routing(part.marks).items():
        grid.add_row(name, f"{100 * found.value:.1f} [{100 * found.low:.1f}, {100 * found.high:.1f}]")
    grid.add_row(
        "right tables that the graph connects", f"{100 * np.mean([one.linked for one in part.marks]):.1f}"
    )
    grid.add_row("milliseconds before the search", f"{np.mean([one.milliseconds for one in part.marks]):.1f}")
    return grid


def routing(marks: Sequence[Marked]) -> dict[str, Estimate]:
    """Recall and mean average precision of databases: of one right database, one over its rank."""
    ranks, owners = np.array([one.database_rank for one in marks]), [one.database for one in marks]
    return {
        "database_r1": estimate((ranks == 1).astype(np.float64), owners),
        "database_r5": estimate((ranks <= 5).astype(np.float64), owners),  # noqa: PLR2004  recall at 5
        "database_map": estimate(1 / ranks, owners),
    }


def _text(number: int, mean: float, difference: Estimate) -> str:
    if number == _MILLISECONDS:
        return f"{mean:.2f}"
    if difference.low == difference.high == 0:
        return f"{100 * mean:.1f}"
    low, high = 100 * difference.low, 100 * difference.high
    return f"{100 * mean:.1f}\n{100 * difference.value:+.1f} [{low:+.1f}, {high:+.1f}]"


def write(file: Path, parts: Sequence[Part], *, run: str, folds: Sequence[int], every: int) -> None:
    """The figures as JSON, of one question in `every`; those of worlds that are not in `parts` stay as they are."""
    machine = describe(ROOT)
    held = json.loads(file.read_text(encoding="utf-8"))["worlds"] if file.is_file() else {}
    for part in parts:
        held[part.world] = {
            "written": datetime.now(UTC).isoformat(timespec="seconds"),
            "commit": machine.commit,
            "dirty": machine.dirty,
            "training": run,
            "folds": list(folds),
            "one_question_in": every,
            "n": len(part.marks),
            "against": part.against,
            "databases": {name: _rounded(one) for name, one in routing(part.marks).items()},
            "linked": round(float(np.mean([one.linked for one in part.marks])), 4),
            "milliseconds_before_search": round(float(np.mean([one.milliseconds for one in part.marks])), 2),
            "systems": [_plain(line) for line in lines(part.marks, against=part.against)],
        }
    whole = {
        "benchmark": "the router's decoder",
        "command": "python -m benchmarks.quality.routing.decoding",
        "cpu": machine.cpu,
        "worlds": held,
    }
    file.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")


def _plain(line: Line) -> dict[str, object]:
    found: dict[str, object] = {
        "system": line.system,
        "database_given": line.given,
        "tables": line.tables,
        "n": line.n,
        "databases": line.databases,
    }
    for name, mean, difference in zip(MEASURES, line.means, line.differences, strict=True):
        found[name] = [round(mean, 4), *_rounded(difference)]
    return found


def _rounded(one: Estimate) -> list[float]:
    return [round(value, 4) for value in dataclasses.astuple(one)]
