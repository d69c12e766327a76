"""Fits the second look on databases that neither the router's fold nor the schema linker was trained on.

    python -m training.second_look LOOKS --record --bench FOLDER --folds FOLDER --work FOLDER
    python -m training.second_look LOOKS [--out engine/route/second_look.json]

A look is one question of the folds' journal (`training.routing_folds`) and, of each of the router's first databases,
its probability and what linking found there. Figures are by cross-validation over databases.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from rich.progress import track

from benchmarks.harness.intervals import mean
from benchmarks.harness.journal import locked
from benchmarks.harness.linker_split import Part, part_of
from benchmarks.harness.questions import Question
from benchmarks.harness.report import plain
from benchmarks.harness.site import Site, site
from benchmarks.harness.systems import asked_now
from benchmarks.quality.routing.folds import (
    Outcome,
    Placed,
    Variant,
    figures,
    fold_of,
    measured,
)
from engine.link.link import link_schemas
from engine.route.second_look import LOOKED_AT, features
from engine.values.state import Route
from training.command import parser, told
from training.fold_weights import cross_fitted, fitted

ROUTER = "router"


@dataclass(frozen=True, slots=True)
class Look:
    """One question. `rank`: of the right database by the router; `databases`: the first, with their features."""

    id: str
    variant: Variant
    database: str
    rank: int
    databases: tuple[str, ...]
    features: tuple[dict[str, float], ...]
    seconds: float


def main() -> int:
    """Records, or fits and prints the weights and figures as JSON; returns the exit status."""
    made = parser(__doc__)
    made.add_argument("looks", type=Path)
    made.add_argument("--record", action="store_true")
    made.add_argument("--folds", type=Path, help="the folder of training.routing_folds")
    made.add_argument("--work", type=Path, help="PostgreSQL and the engine's store")
    made.add_argument("--n", type=int, default=1000, help="questions of each variant at most")
    made.add_argument("--temperature", type=float, default=1.0, help="of the router that ships")
    given = made.parse_args()
    if given.record:
        with locked(given.work):
            asyncio.run(_record(given))
        return 0
    told(report(_read(given.looks), given.temperature), given.out)
    return 0


async def _record(given: argparse.Namespace) -> None:
    known = {(each.variant, each.id) for each in _read(given.looks)} if given.looks.exists() else set()
    wanted = [each for each in _wanted(given.folds, given.n) if (each.variant, each.id) not in known]
    async with site(given.work, given.bench) as place:
        with given.looks.open("ab") as file:
            for outcome in track(wanted, "Looking again"):
                look = await _look(outcome, place)
                file.write(msgspec.json.encode(look) + b"\n")
                file.flush()


def _wanted(folds: Path, most: int) -> Iterator[Outcome]:
    """Questions about databases that the linker was not trained on, in an order drawn by a hash.

    As a router answers them whose parts are weighed as the other folds say: so the one that ships is weighed.
    """
    held: dict[int, list[Outcome]] = defaultdict(list)
    for variant in Variant:
        for fold, cell in measured(folds, variant).items():
            held[fold] += cell
    unseen = [each for each in cross_fitted(held, positive=True) if part_of(each.database) is not Part.LINKER]
    unseen.sort(key=lambda each: hashlib.sha256(each.id.encode()).digest())
    for variant in Variant:
        yield from [each for each in unseen if each.variant is variant][:most]


async def _look(outcome: Outcome, place: Site) -> Look:
    logits = np.array([one.logit for one in outcome.first])
    raised = np.exp(logits - logits.max())
    first = outcome.first[:LOOKED_AT]
    routes = tuple(
        Route(home.database, home.snapshot, float(share), ())
        for home, share in (
            (place.places[one.database], share)
            for one, share in zip(first, raised / raised.sum(), strict=False)
        )
    )
    started = time.monotonic()
    state = asked_now(Question(outcome.id, outcome.question, None), 1)
    linked = await link_schemas(replace(state, routes=routes), place.tools)
    found = tuple(
        {ROUTER: float(np.log(max(route.probability, 1e-12))), **features(route)} for route in linked.routes
    )
    return Look(
        outcome.id, outcome.variant, outcome.database, outcome.rank,
        tuple(one.database for one in first), found, round(time.monotonic() - started, 3),
    )  # fmt: skip


def _read(file: Path) -> list[Look]:
    return [msgspec.json.decode(line, type=Look) for line in file.read_bytes().splitlines()]


def report(looks: Sequence[Look], temperature: float) -> dict[str, Any]:
    """The weights of all looks, for a router of this `temperature`, and what they bring where they had no say.

    Figures before and after, of each variant, and what recall at 1 gains.
    """
    outcomes = [_outcome(each) for each in looks]
    seen = [each for each in outcomes if each.rank <= LOOKED_AT]
    held = defaultdict(list)
    for each in seen:
        held[fold_of(each.database)].append(each)
    again = {(each.variant, each.id): each for each in cross_fitted(held)}
    weights = dict(zip(looks[0].features[0], fitted(seen).tolist(), strict=True))
    weights[ROUTER] *= temperature
    found: dict[str, Any] = {}
    for variant in Variant:
        before = [each for each in outcomes if each.variant is variant]
        if before:
            after = [again.get((each.variant, each.id), each) for each in before]
            gained = [(now.rank == 1) - (was.rank == 1) for was, now in zip(before, after, strict=True)]
            gain = mean(gained, [each.database for each in before])
            found[variant] = {"before": figures(before), "after": figures(after), "gain": gain}
    return {"weights": {name: round(value, 4) for name, value in weights.items()}, "figures": plain(found)}


def _outcome(look: Look) -> Outcome:
    placed = tuple(
        Placed(database, found[ROUTER], tuple(found.values()))
        for database, found in zip(look.databases, look.features, strict=True)
    )
    return Outcome(look.id, look.variant, "", look.database, look.rank, placed)


if __name__ == "__main__":
    sys.exit(main())
