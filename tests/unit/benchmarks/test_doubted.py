"""Known statements that are doubted, by their ids."""

from __future__ import annotations

from datetime import date

from benchmarks.catalog.doubted import measured
from tests.support.schemas import MUSIC


def test_what_is_doubted_is_told_with_its_reason() -> None:
    joined = "FROM concert c JOIN singer_in_concert s ON s.concert_id = c.concert_id WHERE s.singer_id > 3"
    items = [
        {"id": "a", "db": "music", "question": "", "gold": f"SELECT SUM(c.concert_id) {joined}"},
        {"id": "b", "db": "music", "question": "", "gold": f"SELECT MAX(c.concert_id) {joined}"},
    ]
    found = measured(items, {"music": MUSIC}, date(2026, 1, 1))
    assert found == (2, {"a": ("adds c.concert_id up once for each row of s",)})
