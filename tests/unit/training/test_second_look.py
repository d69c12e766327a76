"""The fit of the second look: a feature that tells the right database gets a weight, and figures are held out."""

from __future__ import annotations

import numpy as np

from benchmarks.quality.routing.folds import Variant, fold_of
from training.second_look import ROUTER, Look, report

DATABASES = [f"shop_{number}" for number in range(40)]


def looks(told: float) -> list[Look]:
    """Questions whose router is unsure between two; `told`: how often "named" stands beside the right one."""
    rng = np.random.default_rng(1)
    found = []
    for number, database in enumerate(DATABASES * 6):
        rank = int(rng.integers(1, 3))
        right = float(rng.random() < told)
        sides = [{ROUTER: -0.6, "named": 0.0}, {ROUTER: -0.8, "named": 0.0}]
        sides[rank - 1]["named"] = right
        pair = (database, "twin") if rank == 1 else ("twin", database)
        found.append(Look(str(number), Variant.PLAIN, database, rank, pair, tuple(sides), 0.1))
    return found


def test_what_tells_the_right_database_gets_a_weight_and_helps_where_it_had_no_say() -> None:
    assert len({fold_of(database) for database in DATABASES}) > 1
    made = report(looks(0.8), 1.0)
    before, after = (made["figures"]["plain"][key]["r1"]["value"] for key in ("before", "after"))
    assert made["weights"]["named"] > 1.0
    assert after > before + 0.2
