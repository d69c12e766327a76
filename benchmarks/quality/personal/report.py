"""What a run of the benchmark of personalisation says: the flat summary, the table and the JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.table import Table

from benchmarks.quality.candidates.figures import Figure, percentile, ratio
from benchmarks.quality.candidates.questions import SETS
from benchmarks.quality.personal.measuring import Options, Outcome

AMBIQT = tuple(each for each in SETS if each.name.startswith("ambiqt"))


def summary(outcomes: Sequence[Outcome]) -> dict[str, float | None]:
    """The flat numbers; a ratio and its bounds are None where nothing was right without."""
    found: dict[str, float | None] = {}
    for name, of in _groups(outcomes):
        gain = ratio([float(each.with_first) for each in of], [float(each.without_first) for each in of])
        for key, value in (
            ("gain", gain),
            ("with", _share(of, "with_first")),
            ("without", _share(of, "without_first")),
        ):
            for part in ("value", "low", "high") if value else ():
                suffix = "" if part == "value" else f"_{part}"
                number = round(getattr(value, part), 4)
                found[f"personal{name}_{key}{suffix}"] = number if math.isfinite(number) else None
            if value is None:
                found[f"personal{name}_{key}"] = None
        found[f"personal{name}_n"] = len(of)
    return found


def _groups(outcomes: Sequence[Outcome]) -> list[tuple[str, list[Outcome]]]:
    """All together, and each set by itself."""
    groups = [("", list(outcomes))] if outcomes else []
    each = (
        (f"_{of.name[-1]}", [outcome for outcome in outcomes if outcome.set_name == of.name]) for of in AMBIQT
    )
    return groups + [group for group in each if group[1]]


def _share(outcomes: Sequence[Outcome], what: str) -> Figure:
    """A share with its bootstrap interval: over the same resamples as the ratio."""
    values = [float(getattr(each, what)) for each in outcomes]
    share = ratio(values, [1.0] * len(values))
    return share or Figure(0.0, 0.0, percentile([0.0], 0.5))


def table(outcomes: Sequence[Outcome]) -> Table:
    """A line for all pairs together and one for each set."""
    grid = Table(
        "set", "pairs", "shown at first", "first right: 1st meeting", "2nd, without", "2nd, with", "gain"
    )
    for name, of in _groups(outcomes):
        gain = ratio([float(each.with_first) for each in of], [float(each.without_first) for each in of])
        shares = [_share(of, what) for what in ("shown", "first_right", "without_first", "with_first")]
        grid.add_row(name.strip("_") or "all", str(len(of)), *map(_shown, shares), _shown(gain))
    return grid


def _shown(figure: Figure | None) -> str:
    return "" if figure is None else f"{figure.value:.2f} [{figure.low:.2f}, {figure.high:.2f}]"


def write(
    options: Options, found: dict[str, float | None], outcomes: Sequence[Outcome], machine: dict[str, Any]
) -> None:
    """The whole to `options.json`, the summary into the file of `options.into`, where they are given."""
    if options.json is not None:
        asked = {"seed": options.seed, "n": options.n, "half": options.half, "k": options.k}
        whole = {
            "machine": machine,
            "config": asked,
            "summary": found,
            "pairs": [asdict(each) for each in outcomes],
        }
        options.json.write_text(json.dumps(whole, indent=1, default=str) + "\n", encoding="utf-8")
    if options.into is not None:
        whole = json.loads(options.into.read_text(encoding="utf-8"))
        whole["summary"] |= found
        options.into.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
