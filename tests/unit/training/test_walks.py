"""Walks: connected, seeded, every table a start."""

from __future__ import annotations

from itertools import islice

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.routing.graph import Graph
from schema_catalog.types import Column, ForeignKey, Snapshot, Table, TableKind
from training.questioner import LENGTHS, Walk, walks


def table(name: str, *columns: str, refers: tuple[str, ...] = ()) -> Table:
    """Key `id`; `refers` names tables, each by a column `to_<table>`."""
    made = [Column("id", "integer"), *(Column(c, "text") for c in columns)]
    made += [Column(f"to_{target}", "integer") for target in refers]
    keys = tuple(ForeignKey((f"to_{target}",), "public", target, ("id",)) for target in refers)
    return Table("public", name, TableKind.TABLE, tuple(made), ("id",), foreign_keys=keys)


def snapshot(*tables: Table) -> Snapshot:
    return Snapshot("music", ("public",), tuple(sorted(tables, key=lambda t: t.name)))


def some(shape: Snapshot, number: int, seed: int = 1) -> list[Walk]:
    return list(islice(walks(shape, Graph.of(shape), np.random.default_rng(seed)), number))


MUSIC = snapshot(
    table("singer", "name", "country"),
    table("concert", "theme", refers=("stadium",)),
    table("sang", refers=("singer", "concert")),
    table("stadium", "place", "capacity"),
    table("archive", "note"),
)
SANG = next(number for number, each in enumerate(MUSIC.tables) if each.name == "sang")


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=14), st.integers(0, 5))
def test_a_walk_is_connected_and_visits_a_table_once(references: list[tuple[int, int]], seed: int) -> None:
    shape = snapshot(
        *(
            table(f"t{n}", "a", refers=tuple({f"t{target}" for source, target in references if source == n}))
            for n in range(8)
        )
    )
    graph = Graph.of(shape)
    for walk in some(shape, 12, seed):
        assert 1 <= len(walk) <= len(LENGTHS)
        assert len(set(walk)) == len(walk)
        assert all(set(graph.neighbours(t)).intersection(walk[:n]) for n, t in enumerate(walk) if n)


def test_a_seed_gives_the_same_walks_and_another_gives_others() -> None:
    assert some(MUSIC, 40) == some(MUSIC, 40)
    assert some(MUSIC, 40) != some(MUSIC, 40, seed=2)


def test_each_table_starts_a_walk_before_any_starts_a_second() -> None:
    starts = [walk[0] for walk in some(MUSIC, 10)]
    assert sorted(starts[:5]) == sorted(starts[5:]) == list(range(5))


def test_most_walks_are_short_and_some_are_long() -> None:
    lengths = [len(walk) for walk in some(MUSIC, 400) if walk[0] != SANG]
    share = [lengths.count(n) / len(lengths) for n in (1, 2, 3, 4)]
    assert share[0] > 0.4
    assert share[1] > share[3] > 0


def test_a_table_of_keys_alone_ends_no_walk() -> None:
    made = some(MUSIC, 200)
    assert any(SANG in walk for walk in made)
    assert all(walk[-1] != SANG for walk in made if len(walk) < len(LENGTHS))


def test_no_tables_no_walks() -> None:
    assert some(snapshot(), 3) == []


def test_a_table_without_columns_is_walked() -> None:
    bare = Table("public", "bare", TableKind.TABLE, ())
    assert some(snapshot(bare), 1) == [(0,)]
