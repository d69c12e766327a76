"""The page over 100,000 columns."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.catalog.large import PAGES, fill, measured, read
from pgparley.cluster import Cluster
from tests.conftest import Postgres

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

MOST = 0.3
"""Seconds from a search to its page."""


@pytest.fixture
def large(postgres: Postgres) -> Iterator[Cluster]:
    with postgres("large") as running:
        yield running


async def test_a_search_takes_at_most_300_ms(large: Cluster) -> None:
    await fill(large.dsn())
    quickest = {name: min(seconds) for name, seconds in await measured(large, rounds=8)}
    assert quickest.keys() == PAGES.keys()
    searches = {name: seconds for name, seconds in quickest.items() if name.startswith("search")}
    assert len(searches) == 4
    assert max(searches.values()) <= MOST, searches


async def test_the_views_answer_in_200_ms(large: Cluster) -> None:
    await fill(large.dsn())
    quickest = {name: min(seconds) for name, seconds in await read(large.dsn(), rounds=8)}
    assert quickest.pop("all columns") <= 10 * MOST
    assert max(quickest.values()) <= 0.2, quickest
