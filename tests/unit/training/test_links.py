"""What first statements link, and abstaining on the wrong ones by confidence."""

from __future__ import annotations

import pytest

from benchmarks.quality.linking.linked import Known
from engine.core.elements import WHOLE_TABLE
from tests.support.schemas import MUSIC
from training.links import linked

SINGER = ("public", "singer")
GOLD = frozenset({(*SINGER, WHOLE_TABLE), (*SINGER, "country")})


@pytest.mark.parametrize(
    ("sql", "table", "column"),
    [
        ("SELECT country FROM singer", True, True),
        ("SELECT artist_name FROM singer", True, False),
        ("SELECT name FROM stadium", False, False),
        ("SELECT nothing FROM singer", True, False),
    ],
)
def test_links_are_what_the_statement_reads(sql: str, table: bool, column: bool) -> None:  # noqa: FBT001
    question = Known("q", "music", "Countries of singers", GOLD)
    found = linked([("q", sql, 0.4), ("?", sql, 0.1)], [question], {"music": MUSIC})
    assert (found.databases, found.free.margins.tolist()) == (("music",), [0.4, 0.4])
    assert {kind.value: known.tolist() for kind, known in found.right.items()} == {
        "table": [table],
        "column": [column],
    }
    assert found.free.wrong.tolist() == [not table, not column]
