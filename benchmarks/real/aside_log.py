"""A log of every time that the half set aside was looked at, kept beside the results.

Whatever is chosen after a look is chosen on those questions: the log says how often that could have been.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.real.scoring import Figures
from benchmarks.wire.machine import Machine


def note(file: Path, figures: Figures, machine: Machine) -> None:
    """Adds a line: when, at which commit, and what was seen."""
    line = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": machine.commit,
        "dirty": machine.dirty,
        "n": figures.n,
        "acc1": round(figures.acc1.value, 4),
        "set_acc": round(figures.set_acc.value, 4),
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as kept:
        kept.write(json.dumps(line) + "\n")
