"""What the linker is trained on: varied schemas keep what is read, and wrong ones lack some of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.harness.linker_split import Part, part_of
from engine.core.elements import WHOLE_TABLE
from engine.routing.graph import Graph
from schema_catalog.types import Column, ColumnKey, Snapshot, Table, TableKind
from tests.support.schemas import MUSIC
from training.linker_examples import NODES, Example, Neighbours, unanswerable, varied

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


def test_a_large_schema_is_made_to_fit() -> None:
    columns = tuple(Column(f"c{n}", "text") for n in range(60))
    more = tuple(Table("public", f"t{n}", TableKind.TABLE, columns) for n in range(5))
    large = replace(EXAMPLE, snapshot=replace(MUSIC, tables=MUSIC.tables + more))
    made = varied(large, np.random.default_rng(1)).snapshot
    assert len(elements(made)) <= NODES
    assert elements(made) >= GOLD


def test_a_schema_that_does_not_answer_lacks_something_that_is_read() -> None:
    other = Snapshot("shop", ("public",), (Table("public", "item", TableKind.TABLE, (Column("a", "text"),)),))
    neighbours = Neighbours({"music": MUSIC, "shop": other}, {"music": ("shop",), "shop": ("music",)})
    found = [unanswerable(EXAMPLE, neighbours, np.random.default_rng(seed)) for seed in range(40)]
    made = [each for each in found if each is not None]
    assert len(made) > 20
    assert all(not each.answerable and not each.gold for each in made)
    assert all(each.snapshot.tables and not elements(each.snapshot) >= GOLD for each in made)


def test_a_databases_part_is_always_the_same_and_most_train() -> None:
    parts = [part_of(f"database {number}") for number in range(2_000)]
    assert parts == [part_of(f"database {number}") for number in range(2_000)]
    shares = [parts.count(part) / len(parts) for part in (Part.LINKER, Part.PROBES, Part.CALIBRATION)]
    assert np.allclose(shares, (0.70, 0.15, 0.15), atol=0.03)
