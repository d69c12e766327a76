"""How known statements are counted that contradict their questions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.contradictions import Known, counted
from tests.support.schemas import MUSIC


class Alike:
    """An encoder to which all texts are the same."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.ones((len(texts), 1), dtype=np.float32)


def test_groups_and_rows() -> None:
    questions = [
        ("How many concerts are there per year?", "SELECT year, COUNT(*) FROM concert GROUP BY year"),
        ("How many concerts are there per year?", "SELECT title, COUNT(*) FROM concert GROUP BY title"),
        ("How many concerts are there per year?", "SELECT COUNT(*) FROM concert"),
        ("titles in alphabetical order", "SELECT title FROM concert ORDER BY title"),
        ("titles sorted by year", "SELECT title FROM concert ORDER BY year LIMIT 1"),
    ]
    assert counted([Known(question, MUSIC, sql) for question, sql in questions], Alike()) == {
        "asks for groups: has them": 2,
        "asks for groups: one number for all": 1,
        "groups taken out: found again": 1,
        "groups taken out: others, or none": 1,
        "asks for all rows: no LIMIT": 4,
        "asks for all rows: a LIMIT": 1,
    }
