"""What the folds' journals say: figures of every leg, and what other weights of a leg's addends would give."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from rich.table import Table

from benchmarks.quality.routing.collection import ROOT
from benchmarks.quality.routing.folds import Figures, Leg, Outcome, Variant, figures, measured
from benchmarks.wire.machine import describe
from engine.models import network
from engine.routing import scoring
from training.fold_weights import cross_fitted, fitted

WORLDS = (166, 243)

PARTS = {Leg.LEARNED: network.PARTS, Leg.RETRIEVAL: scoring.PARTS}


@dataclasses.dataclass(frozen=True, slots=True)
class Line:
    """A leg's figures on one variant; `reweighted`: its recall at 1 with weights chosen on the other folds."""

    leg: Leg
    variant: Variant
    among: int
    folds: tuple[int, ...]
    figures: Figures
    reweighted: float | None


@dataclasses.dataclass(frozen=True, slots=True)
class Multiplier:
    """A factor of a part's weight, of greatest likelihood over all folds and variants."""

    leg: Leg
    among: int
    part: str
    factor: float


def folder(work: Path, leg: Leg, run: str) -> Path:
    """Of a leg's outcomes; `run`: the training's."""
    return work / (run if leg is Leg.LEARNED else "untrained")


def lines(work: Path, run: str) -> Iterator[Line | Multiplier]:
    """Everything that was measured."""
    for leg in Leg:
        for among in WORLDS:
            held = {variant: measured(folder(work, leg, run), leg, variant, among) for variant in Variant}
            folds = sorted({fold for some in held.values() for fold in some})
            joined = {
                fold: [one for variant in Variant for one in held[variant].get(fold, ())] for fold in folds
            }
            others: list[Outcome] | None = None
            if leg in PARTS and len(folds) > 1:
                others = cross_fitted(joined, positive=True)
                known = [one for some in joined.values() for one in some]
                factors = fitted(known, positive=True).tolist()
                yield from (Multiplier(leg, among, *pair) for pair in zip(PARTS[leg], factors, strict=True))
            for variant, some in held.items():
                outcomes = [one for fold in some.values() for one in fold]
                again = None if others is None else [one for one in others if one.variant is variant]
                if outcomes:
                    yield Line(
                        leg,
                        variant,
                        among,
                        tuple(some),
                        figures(outcomes),
                        figures(again).r1 if again else None,
                    )


def tables(work: Path, run: str) -> Iterator[Table]:
    """For the terminal."""
    grid = Table(
        "leg", "questions", "among", "folds", "n", "databases", "R@1", "mean of databases", "R@5", "other weights: R@1",
        title="databases found, held out of their fold; %, 95 % intervals over databases",
    )  # fmt: skip
    weights = Table("leg", "among", "part", "times", title="weights of greatest likelihood, all folds")
    for line in lines(work, run):
        if isinstance(line, Multiplier):
            weights.add_row(line.leg, str(line.among), line.part, f"{line.factor:.2f}")
            continue
        found = line.figures
        grid.add_row(
            line.leg, line.variant, str(line.among), "".join(map(str, line.folds)), str(found.n), str(found.databases),
            f"{100 * found.r1:.1f} [{100 * found.low:.1f}, {100 * found.high:.1f}]", f"{100 * found.by_database:.1f}",
            f"{100 * found.r5:.1f}", "" if line.reweighted is None else f"{100 * line.reweighted:.1f}",
        )  # fmt: skip
    yield grid
    yield weights


def factors(file: Path) -> dict[str, float]:
    """Part → what its weight is to be multiplied by, of the learned leg among Spider's databases, as `write` put it."""
    written = json.loads(file.read_text(encoding="utf-8"))["weights"]
    known = [Multiplier(**each) for each in written]
    return {each.part: each.factor for each in known if (each.leg, each.among) == (Leg.LEARNED, WORLDS[0])}


def write(file: Path, work: Path, run: str) -> None:
    """The figures as JSON, with the commit at which they were written."""
    machine = describe(ROOT)
    found = list(lines(work, run))
    whole = {
        "benchmark": "routing on folds",
        "command": "python -m training.routing_folds",
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": machine.commit,
        "dirty": machine.dirty,
        "training": run,
        "figures": [dataclasses.asdict(one) for one in found if isinstance(one, Line)],
        "weights": [dataclasses.asdict(one) for one in found if isinstance(one, Multiplier)],
    }
    file.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
