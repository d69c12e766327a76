"""Question by question: which arms found the right statement and at which place, or what changed since an earlier run.

    python -m benchmarks.quality.ablations.by_question OUTCOMES [--against EARLIER]

Reads what `benchmarks.quality.ablations --outcomes FILE` wrote. Without `--against` a line for each question on which
the arms differ: the place of the first right statement in each (`-`: none), and the arms without which it is not first.
With it, for each arm that both files have, the questions that were gained and lost.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from benchmarks.quality.ablations.arms import WHOLE
from benchmarks.quality.sequential import verdict


@dataclass(frozen=True, slots=True)
class Line:
    """One arm's outcome of one question; see `report.write_outcomes`."""

    set: str
    arm: str
    id: str
    place: int | None
    found: bool
    statements: tuple[str, ...]

    @property
    def first_statement(self) -> str:
        """What was shown first, empty where nothing was."""
        return self.statements[0] if self.statements else ""


Outcomes = Mapping[tuple[str, str], Mapping[str, Line]]
"""By set and question, and therein by arm."""


def read(file: Path) -> Outcomes:
    """The outcomes of a file."""
    found: dict[tuple[str, str], dict[str, Line]] = {}
    for text in file.read_bytes().splitlines():
        line = msgspec.json.decode(text, type=Line)
        found.setdefault((line.set, line.id), {})[line.arm] = line
    return found


def differing(outcomes: Outcomes) -> Iterator[str]:
    """The questions on which arms differ."""
    for (_, identity), arms in outcomes.items():
        places = {name: line.place for name, line in arms.items()}
        if len(set(places.values())) > 1:
            shown = " ".join(f"{name}:{place or '-'}" for name, place in places.items())
            owed = [name for name, place in places.items() if places.get(WHOLE) == 1 and place != 1]
            harmed = [name for name, place in places.items() if places.get(WHOLE) != 1 and place == 1]
            yield f"{identity} {shown}; right by {', '.join(owed) or '-'}; wrong by {', '.join(harmed) or '-'}"


def changed(now: Outcomes, before: Outcomes) -> Iterator[str]:
    """What became right or wrong, first and in the set, with the statements that were first."""
    for key, arms in now.items():
        for name, line in arms.items():
            earlier = before.get(key, {}).get(name)
            if earlier is None or line.place == earlier.place:
                continue
            yield f"{key[0]} {name} {key[1]}: place {earlier.place or '-'} -> {line.place or '-'}"
            yield f"    before: {earlier.first_statement}"
            yield f"    now:    {line.first_statement}"


def totals(now: Outcomes, before: Outcomes) -> Iterator[str]:
    """How many are right first and in the set of the questions that both files have, and what that settles."""
    pairs: dict[tuple[str, str], list[tuple[Line, Line]]] = {}
    for key, arms in now.items():
        for name, line in arms.items():
            earlier = before.get(key, {}).get(name)
            if earlier is not None:
                pairs.setdefault((key[0], name), []).append((earlier, line))
    for (set_name, arm), some in pairs.items():
        first = _change([(before.place == 1, now.place == 1) for before, now in some])
        found = _change([(before.found, now.found) for before, now in some])
        yield f"{set_name} {arm}: of {len(some)}, first right {first}, in the set {found}"


def _change(some: Sequence[tuple[bool, bool]]) -> str:
    """How many were right and are, and what that settles."""
    before, now = (sum(side) for side in zip(*some, strict=True))
    return f"{before} -> {now} ({verdict([two - one for one, two in some])})"


def main() -> int:
    """Prints; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("outcomes", type=Path)
    parser.add_argument("--against", type=Path)
    given = parser.parse_args()
    now = read(given.outcomes)
    if given.against is None:
        lines = differing(now)
    else:
        before = read(given.against)
        lines = (line for part in (changed(now, before), totals(now, before)) for line in part)
    for line in lines:
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
