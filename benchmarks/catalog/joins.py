"""Whether the joins that are proposed are those that foreign keys declare.

Databases are read without their foreign keys. Spider's training databases are loaded, so that values count, and have
no other keys either; of the pool's there are names, types and primary keys alone. Two columns are joined where a chain
of references leads from one to the other. What is missing in the data counts as wrong, so that precision is a lower
bound; `contradicted` counts what joins a column that is declared to refer elsewhere. Half of the databases, by a hash
of their names, were looked at when the rules were written. Needs no model.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, replace
from pathlib import Path

import asyncpg

from benchmarks.harness.drawing import read_items
from benchmarks.harness.schemas import POOL, SPIDER, snapshots
from benchmarks.harness.site import DATA
from pgparley.cluster import Cluster
from schema_catalog.join_names import implied_joins
from schema_catalog.join_values import proposed_joins
from schema_catalog.types import ColumnKey, Snapshot

Reference = tuple[ColumnKey, ColumnKey]


@dataclass(frozen=True, slots=True)
class Counts:
    """Databases with foreign keys, what is proposed in them, what of it is right, and what is declared and found."""

    databases: int = 0
    proposed: int = 0
    right: int = 0
    contradicted: int = 0
    declared: int = 0
    found: int = 0

    def __add__(self, other: Counts) -> Counts:
        """The sums."""
        return Counts(*map(sum, zip(astuple(self), astuple(other), strict=True)))

    @property
    def precision(self) -> float:
        """Of what is proposed, how much is declared."""
        return self.right / self.proposed

    @property
    def recall(self) -> float:
        """Of what is declared, how much is proposed."""
        return self.found / self.declared


def half(name: str) -> int:
    """0 or 1, by a hash."""
    return hashlib.sha256(name.encode()).digest()[0] % 2


def references(snapshot: Snapshot) -> set[Reference]:
    """The foreign keys of one column: (column, column that it refers to)."""
    return {
        ((*table.key, key.columns[0]), (key.ref_schema, key.ref_table, key.ref_columns[0]))
        for table in snapshot.tables
        for key in table.foreign_keys
        if len(key.columns) == 1
    }


def without_keys(snapshot: Snapshot, *, primary: bool = False) -> Snapshot:
    """`snapshot` without foreign keys, and without its other keys where not `primary`."""
    bare = [replace(table, foreign_keys=()) for table in snapshot.tables]
    if not primary:
        bare = [replace(table, primary_key=(), unique_keys=()) for table in bare]
    return replace(snapshot, tables=tuple(bare))


def counted(declared: set[Reference], proposed: set[Reference]) -> Counts:
    """The counts of one database."""
    equal, seen = _ends(declared), _ends(proposed)
    right = {(one, other) for one, other in proposed if equal.get(one, one) == equal.get(other, other)}
    found = {(one, other) for one, other in declared if seen.get(one, one) == seen.get(other, other)}
    referring = {one for one, _ in declared}
    contradicted = sum(one in referring for one, _ in proposed - right)
    return Counts(1, len(proposed), len(right), contradicted, len(declared), len(found))


def _ends(pairs: Iterable[Reference]) -> dict[ColumnKey, ColumnKey]:
    """For each column one that stands for all which chains of references join with it."""
    stands: dict[ColumnKey, ColumnKey] = {}
    for one, other in pairs:
        old, new = stands.get(one, one), stands.get(other, other)
        stands |= dict.fromkeys((one, other, *(k for k, v in stands.items() if v == old)), new)
    return stands


async def of_spider(running: Cluster, bench: Path) -> Mapping[int, Counts]:
    """By half, of Spider's training databases in `running`: as a catalog proposes joins, by names and values."""
    train = {
        item["db"]
        for file in ("train", "train_others")
        for item in read_items(bench / f"spider/{file}.jsonl")
    }
    found = {0: Counts(), 1: Counts()}
    connection = await asyncpg.connect(running.dsn(DATA))
    try:
        for name, snapshot in snapshots(bench, SPIDER).items():
            if name in train and (declared := references(snapshot)):
                proposed = await proposed_joins(connection, without_keys(snapshot))
                found[half(name)] += counted(declared, {(each.column, each.referred) for each in proposed})
    finally:
        await connection.close()
    return found


def of_pool(bench: Path) -> Mapping[int, Counts]:
    """By half, of the pool's databases of other sources than Spider: by names and types alone."""
    others = {item["db"] for item in read_items(bench / POOL) if item["source"] != "spider_test"}
    found = {0: Counts(), 1: Counts()}
    for name, snapshot in snapshots(bench, POOL).items():
        if name in others and (declared := references(snapshot)):
            implied = implied_joins(without_keys(snapshot, primary=True))
            found[half(name)] += counted(declared, {(each.column, each.referred) for each in implied})
    return found
