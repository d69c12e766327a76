"""The measuring of the decoder: marks, paired figures, merged schemas, and the searches that are compared."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from benchmarks.quality.routing import decoding_report, table_marks
from benchmarks.quality.routing.asking import SYSTEMS, TODAY, Catalog, Question, Reader, asked
from benchmarks.quality.routing.decoding_report import Part
from benchmarks.quality.routing.merged_schemas import merged
from benchmarks.quality.routing.searches import Beam, Scene, Search, searched
from benchmarks.quality.routing.table_marks import Mark, Marked, average_precision, lines, marked, recall
from engine.models.beams import StepWeights
from engine.models.network import Network
from engine.models.pointer import surveyed
from engine.routing.graph import Graph
from engine.routing.index import build
from engine.routing.pointer_api import Asked
from schema_catalog.types import Column, ForeignKey, Snapshot, Table, TableKind

DIMENSION = 16


def table(name: str, *columns: str, to: str | None = None) -> Table:
    keys = (ForeignKey((f"{to}_id",), "public", to, ("id",)),) if to else ()
    names = ("id", *columns, *(f"{to}_id" for _ in keys))
    held = tuple(Column(each, "integer" if each.endswith("id") else "text") for each in names)
    return Table("public", name, TableKind.TABLE, held, ("id",), foreign_keys=keys)


MUSIC = Snapshot(
    "music",
    ("public",),
    (
        table("concert", "venue", to="singer"),
        table("label", "city"),
        table("singer", "name"),
        table("song", "title", to="singer"),
    ),
)
SHOP = Snapshot("shop", ("public",), (table("customer", "email"), table("purchase", "price", to="customer")))


def vectors(texts: Sequence[str]) -> NDArray[np.float32]:
    """A unit vector of each text's own."""
    found = np.stack(
        [
            np.random.default_rng(list(text.encode())).standard_normal(DIMENSION, dtype=np.float32)
            for text in texts
        ]
    )
    unit: NDArray[np.float32] = found / np.linalg.norm(found, axis=1, keepdims=True)
    return unit


@dataclass(frozen=True)
class Words:
    """A question's words as vectors."""

    sentence: NDArray[np.float32]
    tokens: NDArray[np.float32]


def read(texts: Sequence[str]) -> list[Words]:
    return [Words(vectors([text])[0], vectors(text.split())) for text in texts]


QUESTIONS = [
    Question("q1", "plain", "which singer gave a concert", "music", ("concert", "singer")),
    Question("q2", "plain", "price of a purchase", "shop", ("purchase",)),
    Question("q3", "plain", "city and title", "music", ("label", "song")),
]


def reader() -> Reader:
    torch.manual_seed(0)
    network = Network(DIMENSION)
    with torch.no_grad():
        for value in network.parameters():
            # Undecided, so that no set is too unlikely to be found.
            value.mul_(0.05).add_(torch.randn_like(value), alpha=0.05)
    return Reader(read, network.eval(), StepWeights.of(network), 1.0)


def scene_of(asking: Reader) -> tuple[Scene, NDArray[np.float32]]:
    """The questions over both databases, with the databases' log-probabilities."""
    with torch.inference_mode():
        catalog = Catalog.of([build(each, vectors) for each in (MUSIC, SHOP)], asking.network)
        terrain = catalog.terrain
        every = [
            Asked.of(one.text, words, terrain.index, terrain.field)
            for one, words in zip(QUESTIONS, read([one.text for one in QUESTIONS]), strict=True)
        ]
        survey = surveyed(asking.network, catalog.ground, catalog.names, every)
        shares: NDArray[np.float32] = torch.log_softmax(survey.root, dim=1).numpy()
    return Scene(asking.step, catalog.ground, catalog.free, survey), shares


def sets_of(way: Search, row: int) -> dict[tuple[int, frozenset[int]], float]:
    """Each set's log-probability given its database."""
    scene, shares = scene_of(reader())
    found = searched(way, scene, row, np.array([0, 1]), shares[row])
    assert found.milliseconds > 0
    return {
        (database, frozenset(one.tables)): one.log_probability
        for database, some in found.sets.items()
        for one in some
    }


def test_precision_is_taken_at_the_place_of_each_right_table() -> None:
    right = frozenset("ac")
    assert average_precision("abc", right) == pytest.approx((1 + 2 / 3) / 2)
    assert average_precision("ba", right) == pytest.approx(0.25)
    assert (recall("abc", right, 1), recall("abc", right, 3)) == (0.5, 1.0)


def test_a_mark_tells_the_place_of_the_right_set() -> None:
    sets = [frozenset("a"), frozenset("ab")]
    found = marked("x", "abc", sets, frozenset("ab"), given=True, milliseconds=2.0)
    assert found == Mark("x", given=True, table_r5=1, table_r15=1, table_map=1, set_rank=2, milliseconds=2)
    assert found.values() == (1.0, 1.0, 1.0, 1.0, 0.0, 0.5, 2.0)
    missing = marked("x", "abc", sets, frozenset("c"), given=True, milliseconds=2.0)
    assert missing.values()[3:6] == (0.0, 0.0, 0.0)


def judged(number: int, tables: int, ours: float, other: float) -> Marked:
    marks = tuple(
        Mark(name, given=True, table_r5=value, table_r15=1, table_map=value, set_rank=1, milliseconds=1)
        for name, value in (("ours", ours), ("other", other))
    )
    return Marked(
        f"q{number}", "plain", f"db{number % 2}", tables, linked=True, database_rank=1 + number % 2,
        milliseconds=1, marks=marks,
    )  # fmt: skip


def test_systems_are_compared_question_by_question(tmp_path: Path) -> None:
    some = [judged(0, 1, 1.0, 0.5), judged(1, 2, 0.5, 0.5), judged(2, 3, 1.0, 0.5), judged(3, 4, 0.5, 0.5)]
    found = {(line.system, line.tables): line for line in lines(some, against="ours")}
    assert {name for _, name in found} == {"all", "1", "2", "3+"}
    whole = found["other", "all"]
    assert (whole.n, whole.databases, whole.means[0]) == (4, 2, 0.5)
    difference = whole.differences[0]
    assert (difference.value, difference.low, difference.high) == (-0.25, -0.5, 0.0)
    assert found["other", "3+"].n == 2
    assert all(one.value == 0 for one in found["ours", "all"].differences)
    file = tmp_path / "marks" / "journal.jsonl"
    table_marks.write(file, some)
    assert table_marks.read(file) == some


def test_the_report_keeps_what_another_run_wrote_of_another_world(tmp_path: Path) -> None:
    file = tmp_path / "decoding.json"
    some = [judged(0, 1, 1.0, 0.5), judged(1, 1, 0.5, 0.5)]
    for world in ("166", "large"):
        decoding_report.write(file, [Part(world, some, "ours")], run="r", folds=(0,), every=1)
    worlds = json.loads(file.read_text(encoding="utf-8"))["worlds"]
    assert set(worlds) == {"166", "large"}
    assert worlds["166"]["databases"]["database_map"][0] == 0.75
    assert len(list(decoding_report.tables([Part("166", some, "ours")]))) == 3


def test_a_merged_schema_links_each_side_as_before() -> None:
    whole = merged(MUSIC, Snapshot("big", ("public",), (table("account"), table("entry", to="account"))))
    keys = [each.key for each in whole.tables]
    assert keys == sorted(keys)
    graph = Graph.of(whole)
    for one, other in (("public concert", "public singer"), ("big entry", "big account")):
        first, second = (keys.index(tuple(name.split())) for name in (one, other))
        assert second in graph.neighbours(first)
    assert not set(graph.neighbours(keys.index(("big", "entry")))) & {
        number for number, key in enumerate(keys) if key[0] == "public"
    }


@pytest.mark.parametrize("row", range(len(QUESTIONS)))
def test_every_search_gives_a_set_the_probability_that_a_wide_one_gives_it(row: int) -> None:
    wide = sets_of(Search(width=64), row)
    ways = [Search(beam=Beam.PENALISED), Search(width=64, beam=Beam.PLAIN)]
    for way in ways:
        found = sets_of(way, row)
        assert found.keys() <= wide.keys()
        assert len(found) > 1
        for key, value in found.items():
            assert value == pytest.approx(wide[key], abs=0.05)


def test_a_narrow_beam_over_all_databases_leaves_some_out() -> None:
    assert len(sets_of(Search(width=1, beam=Beam.PLAIN), 0)) < len(sets_of(Search(width=1), 0))


def test_without_the_constraint_unlinked_tables_make_a_set() -> None:
    graph = Graph.of(MUSIC)
    bound, free = (sets_of(Search(width=64, constrained=constrained), 2) for constrained in (True, False))
    assert all(graph.connected(tables) for database, tables in bound if database == 0)
    assert any(not graph.connected(tables) for database, tables in free if database == 0)
    assert all(tables <= set(range(4)) for database, tables in free if database == 0)


def test_every_system_is_marked_on_every_question() -> None:
    asking = reader()
    with torch.inference_mode():
        catalog = Catalog.of([build(each, vectors) for each in (MUSIC, SHOP)], asking.network)
        found = list(asked(asking, catalog, QUESTIONS, SYSTEMS))
    assert [one.linked for one in found] == [True, True, False]
    for one in found:
        names = [mark.system for mark in one.marks if not mark.given]
        assert names == [each.name for each in SYSTEMS]
        given = {mark.system: mark for mark in one.marks if mark.given}
        assert TODAY in given
        assert "one beam of 20" not in given
        assert all(mark.table_r5 == 1 for mark in given.values())
        assert given["single tables alone"].set_rank is None
    assert found[2].marks[0].set_rank is None
