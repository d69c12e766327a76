"""What the measurement of synonyms gives to databases, and how it counts."""

from __future__ import annotations

import pytest

from benchmarks.quality.routing.folds import Leg, Outcome, Variant
from tests.support.schemas import MUSIC
from training.catalog_synonyms import MOST, given, line, with_synonyms


def test_a_name_is_said_with_each_of_its_words_replaced() -> None:
    told = with_synonyms(MUSIC, {"name": {"title", "label"}, "performer": {"player"}})
    said = {column.name: column.synonyms for column in told.tables[1].columns}
    assert said == {
        "singer_id": (),
        "artist_name": ("artist label", "artist title"),
        "performer_name": ("player name", "performer label", "performer title"),
        "country": (),
    }
    many = with_synonyms(MUSIC, {"country": {f"land {number}" for number in range(50)}})
    assert len(many.tables[1].columns[3].synonyms) == MOST


def test_gains_are_counted_for_one_variant_and_one_half() -> None:
    told, other = (next(name for name in "abcdefgh" if given(name) is half) for half in (True, False))

    def outcomes(*ranks: int) -> list[Outcome]:
        places = [
            (told, Variant.PLAIN),
            (told, Variant.PLAIN),
            (other, Variant.PLAIN),
            (told, Variant.SYNONYMS),
        ]
        return [
            Outcome("q", variant, "?", name, r, ()) for (name, variant), r in zip(places, ranks, strict=True)
        ]

    found = line(Leg.RETRIEVAL, outcomes(2, 1, 1, 3), outcomes(1, 1, 2, 1), Variant.PLAIN, half=True)
    assert (found.n, found.databases, found.before, found.after) == (2, 1, 0.5, 1.0)
    assert (found.low, found.high) == pytest.approx((0.5, 0.5))
    assert (
        line(Leg.RETRIEVAL, outcomes(2, 1, 1, 3), outcomes(1, 1, 2, 1), Variant.PLAIN, half=False).after == 0
    )
