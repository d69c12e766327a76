"""Fits the second look on databases that neither the router's fold nor the schema linker was trained on.

    python -m training.second_look LOOKS --record --bench FOLDER --folds FOLDER --work FOLDER
    python -m training.second_look LOOKS [--out engine/routing/second_look.json]

A look is one question of the folds' journal (`training.routing_folds`) and, of each of the router's first databases,
its probability and what linking found there. Figures are by cross-validation over databases.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from rich.progress import track

from benchmarks.quality.candidates.gateway import TIMEOUT
from benchmarks.quality.candidates.journal import locked
from benchmarks.quality.candidates.site import Site, site
from benchmarks.quality.candidates.tasks import READER
from benchmarks.quality.resampling import estimate
from benchmarks.quality.routing.folds import (
    Leg,
    Outcome,
    Placed,
    Variant,
    figures,
    fold_of,
    measured,
)
from engine.core.deadline import Deadline
from engine.core.state import Route, State
from engine.routing.second_look import LOOKED_AT, features
from engine.settings import Limits
from engine.stages.link import link
from engine.types import Asker, AskRequest
from training.fold_weights import cross_fitted, fitted
from training.linker_split import Part, part_of

AMONG = 166
ROUTER = "router"

SURE = 0.9
"""Probability from which the figures count a first database as sure."""


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
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("looks", type=Path)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--bench", type=Path)
    parser.add_argument("--folds", type=Path, help="the journal of training.routing_folds learned")
    parser.add_argument("--work", type=Path, help="PostgreSQL and the engine's store")
    parser.add_argument("--n", type=int, default=1000, help="questions of each variant at most")
    parser.add_argument("--temperature", type=float, default=1.0, help="of the router that ships")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.record:
        with locked(given.work):
            asyncio.run(_record(given))
        return 0
    text = json.dumps(report(_read(given.looks), given.temperature), indent=2) + "\n"
    sys.stdout.write(text)
    if given.out is not None:
        given.out.write_text(text, encoding="utf-8")
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
        for fold, cell in measured(folds, Leg.LEARNED, variant, AMONG).items():
            held[fold] += cell
    unseen = [
        each for each in cross_fitted(held, positive=True) if part_of(each.database) is not Part.LINKER
    ]
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
    state = State(
        AskRequest(Asker(READER, ""), outcome.question),
        1,
        Limits().calls,
        Deadline(started + TIMEOUT),
        started,
        routes,
    )
    linked = await link(state, place.tools)
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

    Figures before and after, of each variant: recall at 1 and 5, and the share of questions whose first database has a
    probability of `SURE` and how many of these are right.
    """
    outcomes = [_outcome(each) for each in looks]
    seen = [each for each in outcomes if each.rank <= LOOKED_AT]
    held = defaultdict(list)
    for each in seen:
        held[fold_of(each.database)].append(each)
    again = {(each.variant, each.id): each for each in cross_fitted(held)}
    names = tuple(looks[0].features[0])
    weights = dict(zip(names, fitted(seen).tolist(), strict=True))
    weights[ROUTER] *= temperature
    before = [Judged(each, _reached(look)) for each, look in zip(outcomes, looks, strict=True)]
    after = [
        replace(each, outcome=again.get((each.outcome.variant, each.outcome.id), each.outcome))
        for each in before
    ]
    return {
        "weights": {name: round(value, 4) for name, value in weights.items()},
        "figures": {
            variant.value: {
                "databases": len({look.database for look in looks}),
                "before": _figures(before, variant),
                "after": _figures(after, variant),
                "gain": _gain(before, after, variant),
            }
            for variant in Variant
        },
    }


@dataclass(frozen=True, slots=True)
class Judged:
    """A question as it came out. `reached`: the probability of all databases that were looked at."""

    outcome: Outcome
    reached: float

    @property
    def chance(self) -> float:
        """That the first database is right, as said."""
        raised = np.exp([one.logit - self.outcome.first[0].logit for one in self.outcome.first])
        return self.reached / float(raised.sum())


def _reached(look: Look) -> float:
    return float(sum(np.exp(found[ROUTER]) for found in look.features))


def _figures(judged: Sequence[Judged], variant: Variant) -> dict[str, float]:
    chosen = [each for each in judged if each.outcome.variant is variant]
    if not chosen:
        return {}
    found = figures([each.outcome for each in chosen])
    right = np.array([each.outcome.rank == 1 for each in chosen])
    chances = np.array([each.chance for each in chosen])
    sure = chances >= SURE
    return {
        **{name: round(value, 4) for name, value in asdict(found).items()},
        "brier": round(float(np.mean((chances - right) ** 2)), 4),
        "sure": round(float(sure.mean()), 4),
        "right_where_sure": round(float(right[sure].mean()) if sure.any() else 0.0, 4),
    }


def _gain(before: Sequence[Judged], after: Sequence[Judged], variant: Variant) -> list[float]:
    """What recall at 1 gains, and its 95 % interval, resampling databases."""
    pairs = [
        (was.outcome, now.outcome)
        for was, now in zip(before, after, strict=True)
        if was.outcome.variant is variant
    ]
    if not pairs:
        return []
    gained = [(now.rank == 1) - (was.rank == 1) for was, now in pairs]
    found = estimate(gained, [was.database for was, _ in pairs])
    return [round(value, 4) for value in (found.value, found.low, found.high)]


def _outcome(look: Look) -> Outcome:
    placed = tuple(
        Placed(database, found[ROUTER], tuple(found.values()))
        for database, found in zip(look.databases, look.features, strict=True)
    )
    return Outcome(look.id, look.variant, "", look.database, look.rank, placed)


if __name__ == "__main__":
    sys.exit(main())
