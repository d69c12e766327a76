"""A log of every time that the router was measured on the development questions, kept beside the results.

Whatever is chosen after a look is chosen on those questions: the log says how often that could have been. Choices are
made on folds of the training databases instead (`training.routing_folds`).
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.quality.routing.collection import ROOT, SETS, Item
from benchmarks.wire.machine import Machine

FILE = ROOT / "benchmarks" / "results" / "routing-looks.jsonl"

LOOKING = frozenset({"ours", "ablations", "crush"})
"""Steps that ask a router of ours the development questions."""


def note(file: Path, step: str, result: Item, machine: Machine, *, half: int | None) -> None:
    """Adds a line for a step that was run: when, at which commit, and each router's database recall@1 by set."""
    line = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": machine.commit,
        "dirty": machine.dirty,
        "step": step,
        "half": half,
        "database_r1": _recalls(result),
    }
    with file.open("a", encoding="utf-8") as kept:
        kept.write(json.dumps(line) + "\n")


def _recalls(result: Item) -> dict[str, object]:
    """Recall of every set among Spider's databases; of several systems, by name."""
    found: dict[str, object] = {
        name: round(result[name]["db_r1"][0], 4) for name in SETS if isinstance(result.get(name), dict)
    }
    nested = {
        name: _recalls(one) for name, one in result.items() if name not in SETS and isinstance(one, dict)
    }
    return found | {name: one for name, one in nested.items() if one}
