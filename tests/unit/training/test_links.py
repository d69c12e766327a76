"""What first statements link, and abstaining on the wrong ones by confidence."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.quality.linking.linked import Known
from engine.core.elements import WHOLE_TABLE
from tests.support.schemas import MUSIC
from training.links import by_folds, figures, linked, summary_of

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
    databases, confidences, right = linked([("q", sql, 0.4), ("?", sql, 0.1)], [question], {"music": MUSIC})
    assert (databases, confidences.tolist()) == (["music"], [0.4])
    assert {kind: known.tolist() for kind, known in right.items()} == {"table": [table], "column": [column]}


def test_figures_by_hand() -> None:
    right = {kind: np.array([True, True, False, False]) for kind in ("table", "column")}
    flags = {kind: np.array([False, True, True, False]) for kind in ("table", "column")}
    found = figures(np.array([0.9, 0.2, 0.1, 0.3]), right, flags)
    names = ("em_of_all", "em", "tar", "far", "coverage", "auc")
    assert [found[f"table_{name}"] for name in names] == [0.5, 0.5, 0.25, 0.25, 0.5, 0.75]
    assert summary_of(found)["sbpp_auc"] == 0.75


def test_of_wrong_links_one_less_alpha_is_abstained_on() -> None:
    random = np.random.default_rng(0)
    right = random.random(4_000) < 0.8
    confidences = random.normal(right * 2.0)
    databases = [f"database_{number % 200}" for number in range(len(right))]
    found = by_folds(databases, confidences, {"table": right, "column": right})
    assert found["table_coverage"] == pytest.approx(0.9, abs=0.03)
    assert found["table_em"] > 0.95
