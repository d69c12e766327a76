"""What the linker is trained on: varied schemas keep what is read, and wrong ones lack some of it."""

from __future__ import annotations

import numpy as np

from benchmarks.harness.linker_split import Part, part_of
from engine.core.elements import WHOLE_TABLE
from engine.routing.graph import Graph
from schema_catalog.types import ColumnKey, Snapshot
from tests.support.schemas import MUSIC
from training.linker_examples import Example, varied

GOLD: frozenset[ColumnKey] = frozenset(
    ("public", table, column)
    for table, column in (("singer", WHOLE_TABLE), ("singer", "country"), ("stadium", WHOLE_TABLE))
)
EXAMPLE = Example("Countries of singers, and how many stadiums there are", MUSIC, GOLD)


def elements(snapshot: Snapshot) -> set[ColumnKey]:
    columns = {(*table.key, column.name) for table, column in snapshot.columns()}
    return columns | {(*table.key, WHOLE_TABLE) for table in snapshot.tables}


def test_a_varied_schema_keeps_what_is_read_and_nothing_is_new() -> None:
    made = [varied(EXAMPLE, np.random.default_rng(seed)) for seed in range(40)]
    assert all(GOLD <= elements(each.snapshot) <= elements(MUSIC) for each in made)
    assert len({tuple(table.name for table in each.snapshot.tables) for each in made}) > 5
    assert len({frozenset(elements(each.snapshot)) for each in made}) > 5
    assert all(len(Graph.of(each.snapshot)) == len(each.snapshot.tables) for each in made)


def test_a_databases_part_is_always_the_same_and_most_train() -> None:
    parts = [part_of(f"database {number}") for number in range(2_000)]
    assert parts == [part_of(f"database {number}") for number in range(2_000)]
    shares = [parts.count(part) / len(parts) for part in (Part.LINKER, Part.PROBES, Part.CALIBRATION)]
    assert np.allclose(shares, (0.70, 0.15, 0.15), atol=0.03)
