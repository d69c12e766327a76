"""The linker over any model's states, and the encoder that comes with the program."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from engine.link.nodes import NodeStates
from engine.link.schema_linker import CLOSE, FORMAT, NAME, Kind, TrainedLinker, packaged
from engine.models.encoder import loaded_model
from engine.models.linker import LinkerEncoder, layered, library_layers
from engine.models.packaged import read
from engine.question.question import Question
from engine.values.elements import WHOLE_TABLE
from engine.values.settings import EncoderSettings
from schema_catalog.types import Column, Snapshot, Table, TableKind
from tests.support.schemas import MUSIC

SINGER = ("public", "singer")
LAYERS = 7


class Scripted:
    """`HiddenStates` with log-odds by name, -2 for the others; None where there are none."""

    def __init__(self, odds: dict[tuple[str, str], float] | None) -> None:
        self._odds = odds

    def read(self, question: Question, snapshot: Snapshot) -> NodeStates | None:
        del question
        if self._odds is None:
            return None
        nodes = tuple(
            (*table.key, name)
            for table in snapshot.tables
            for name in (WHOLE_TABLE, *(column.name for column in table.columns))
        )
        odds = np.array([self._odds.get(node[1:], -2.0) for node in nodes], dtype=np.float32)
        return NodeStates(nodes, odds, 0.75)


def test_links_are_the_decisions_and_a_columns_probability_is_within_its_tables() -> None:
    odds = {("singer", "*"): 2.0, ("singer", "country"): 1.0, ("stadium", "name"): 3.0}
    links = TrainedLinker(Scripted(odds)).link(Question("?"), MUSIC)
    assert links is not None
    assert links.linked == {(*SINGER, WHOLE_TABLE), (*SINGER, "country")}
    assert links.probabilities[*SINGER, WHOLE_TABLE] == pytest.approx(1 / (1 + np.exp(-2)))
    assert links.probabilities[*SINGER, "country"] == pytest.approx(1 / (1 + np.exp(-2)) / (1 + np.exp(-1)))
    assert links.probabilities["public", "stadium", "name"] < links.probabilities["public", "stadium", "*"]
    assert links.answerable == 0.75


def test_what_is_decided_by_little_is_a_branching_point() -> None:
    sure = {
        (table.name, name): -9.0 for table in MUSIC.tables for name in ("*", *(c.name for c in table.columns))
    }
    close = CLOSE[Kind.TABLE]
    odds = sure | {("singer", "*"): close + 0.01, ("concert", "*"): 0.01 - close, ("singer", "country"): 2.0}
    links = TrainedLinker(Scripted(odds)).link(Question("?"), MUSIC)
    assert links is not None
    found = {point.element[1:]: point.linked for point in links.branching}
    assert found == {("concert", "*"): False, ("singer", "country"): True}


def test_a_schema_that_does_not_fit_has_no_links() -> None:
    assert TrainedLinker(Scripted(None)).link(Question("?"), MUSIC) is None


@pytest.fixture(scope="module")
def model() -> LinkerEncoder:
    return LinkerEncoder(read(packaged(), NAME, FORMAT), EncoderSettings())


def test_the_packaged_model_links_the_table_that_is_asked_for(model: LinkerEncoder) -> None:
    links = TrainedLinker(model).link(Question("How many singers are there?"), MUSIC)
    assert links is not None
    assert links.linked == {(*SINGER, WHOLE_TABLE)}
    assert links.answerable > 0.5


def test_what_the_asker_may_not_read_is_no_node(model: LinkerEncoder) -> None:
    readable = frozenset((*t.key, c.name) for t, c in MUSIC.columns() if c.name != "country")
    left = MUSIC.restricted_to(frozenset(key for key in readable if key[1] != "concert"))
    links = TrainedLinker(model).link(Question("The countries of singers and the titles of concerts"), left)
    assert links is not None
    elements = links.probabilities.keys() | links.linked
    assert not any(element[1] == "concert" or element[2] == "country" for element in elements)
    assert (*SINGER, "artist_name") in elements


def test_the_fast_pass_has_nearly_the_librarys_states() -> None:
    bert = loaded_model(EncoderSettings())[0].auto_model
    ids = torch.tensor([[101, 2129, 2116, 8453, 102, 3220, 102], [101, 3782, 102, 3220, 102, 0, 0]])
    mask, added = ids != 0, torch.full((2, 7, 384), 0.05)
    with torch.inference_mode():
        expected = list(library_layers(bert, 2, ids, mask, added))
        found = list(layered(bert, 2)(ids, mask, added))
        without = list(layered(bert, 2)(ids, mask, torch.zeros_like(added)))
    assert len(found) == len(expected) == LAYERS
    for ours, theirs in zip(found, expected, strict=True):
        assert torch.cosine_similarity(ours[mask], theirs[mask]).min() > 0.98
    assert [bool((one == other).all()) for one, other in zip(found, without, strict=True)] == [True] * 5 + [
        False,
        False,
    ]


def wide(tables: int) -> Snapshot:
    columns = tuple(Column(f"measured value {n}", "text") for n in range(40))
    made = (Table("public", f"t{n}", TableKind.TABLE, columns) for n in range(tables))
    return replace(MUSIC, tables=(MUSIC.tables[1], *made))


def test_a_large_schema_is_read_in_windows_and_one_too_large_not_at_all(model: LinkerEncoder) -> None:
    large = model.read(Question("How many singers are there?"), wide(8))
    assert large is not None
    assert len(large.nodes) == 5 + 8 * 41
    tables = [n for n, node in enumerate(large.nodes) if node[2] == WHOLE_TABLE]
    assert int(np.argmax(large.log_odds[tables])) == 0
    assert model.read(Question("How many singers are there?"), wide(80)) is None
    assert model.read(Question("How many singers are there?"), replace(MUSIC, tables=())) is None
