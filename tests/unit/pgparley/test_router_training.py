"""Which tables of the catalog an answered question means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.routing.index import Index, build
from engine.routing.training import Example, Terrain
from pgparley.router_training import AnsweredQuestion, examples
from schema_catalog.types import Snapshot
from tests.support.schemas import table


def encode(texts: Sequence[str]) -> NDArray[np.float32]:
    return np.ones((len(texts), 2), dtype=np.float32)


SHOP = Snapshot(
    "shop",
    ("public", "old"),
    (table("item", "item_id"), table("sale", "sale_id"), replace(table("sale", "sale_id"), schema="old")),
)


@pytest.mark.parametrize(
    ("database", "tables", "numbers"),
    [
        ("shop", ("item", "old.sale"), (0, 2)),
        ("shop", ("public.sale",), (1,)),
        ("shop", ("sale",), None),
        ("shop", ("item", "gone"), None),
        ("gone", ("item",), None),
    ],
)
def test_tables_are_found_by_their_names(
    database: str, tables: tuple[str, ...], numbers: tuple[int, ...] | None
) -> None:
    terrain = Terrain.of(Index([build(SHOP, encode)]))
    found = examples(terrain, [AnsweredQuestion("How many?", database, tables)])
    assert found == ([] if numbers is None else [Example("How many?", 0, numbers)])
