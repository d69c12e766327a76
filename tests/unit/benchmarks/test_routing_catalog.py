"""The made-up catalog: the same every time, of the size asked for, with names that tell tables apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.quality.routing.catalog import ComposingEncoder, catalog, questions, vocabulary


def test_the_same_numbers_give_the_same_catalog_and_a_larger_one_begins_so() -> None:
    small, again, large = list(catalog(300)), list(catalog(300)), catalog(3000)
    assert small == again
    # The last database is cut to the size asked for.
    assert list(islice(large, len(small) - 1)) == small[:-1]
    assert list(catalog(300, seed=5)) != small


@pytest.mark.parametrize("tables", [1, 37, 2000])
def test_it_has_as_many_tables_as_asked_for_with_distinct_names(tables: int) -> None:
    snapshots = list(catalog(tables))
    assert sum(len(snapshot.tables) for snapshot in snapshots) == tables
    assert len({snapshot.database for snapshot in snapshots}) == len(snapshots)
    for snapshot in snapshots:
        assert len({table.key for table in snapshot.tables}) == len(snapshot.tables)
        for table in snapshot.tables:
            assert len({column.name for column in table.columns}) == len(table.columns) >= 2
            assert {column for key in table.foreign_keys for column in key.columns} <= {
                column.name for column in table.columns
            }


def test_it_is_about_the_size_that_it_says() -> None:
    snapshots = list(catalog(10_000))
    columns = sum(len(table.columns) for snapshot in snapshots for table in snapshot.tables)
    assert 900 <= len(snapshots) <= 1100
    assert 90_000 <= columns <= 110_000


def test_questions_are_the_same_every_time() -> None:
    assert questions(20) == questions(20) != questions(20, seed=1)
    assert "{" not in "".join(questions(200))


class Counting:
    """One dimension a word, and how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors."""
        self.asked += len(texts)
        return np.eye(len(texts), dtype=np.float32)


def test_vectors_are_unit_composed_of_words_and_ask_the_encoder_once() -> None:
    real = Counting()
    encoder = ComposingEncoder(real)
    one, two, three, four = vocabulary()[:4]
    texts = [f"{one} {two}", f"{two} {one}", f"{three} {four}"]
    vectors = encoder.encode(texts)
    assert real.asked == len(vocabulary())
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert vectors[0] @ vectors[1] > 0.7
    assert vectors[0] @ vectors[2] < 0.3
    assert not np.array_equal(vectors[0], vectors[1])
    assert np.array_equal(vectors, ComposingEncoder(Counting()).encode(texts))
