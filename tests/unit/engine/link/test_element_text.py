"""Names that are short for a question's words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.link.element_text import SHORT, compared
from schema_catalog.types import ColumnKey


class Apart:
    """An encoder to which a text is near to itself alone, by .9."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        known = list(dict.fromkeys(texts))
        return np.sqrt(0.9) * np.eye(len(known), dtype=np.float32)[[known.index(text) for text in texts]]


NAMES = {
    ("cat", "trk", "*"): "trk",
    ("cat", "trk", "dur_ms"): "trk dur ms",
    ("cat", "trk", "gnr_id"): "trk gnr id",
    ("sls", "cust", "seg"): "cust seg",
    ("sls", "cust", "region"): "cust region",
}


def near(text: str) -> dict[ColumnKey, float]:
    (found,) = compared([text], NAMES, Apart())
    return {key: cosine for key, cosine in found.similarities.items() if cosine > 0}


def test_what_is_short_for_a_word_is_near_to_it() -> None:
    assert near("tracks") == {("cat", "trk", "*"): pytest.approx(SHORT * 3 / 4)}
    assert near("genre") == {("cat", "trk", "gnr_id"): SHORT}
    assert near("customer segment") == {("sls", "cust", "seg"): SHORT}
    assert near("customer segment of") == {("sls", "cust", "seg"): pytest.approx(SHORT * 2 / 3)}
    assert near("region") == {}
    assert near("trk") == {("cat", "trk", "*"): pytest.approx(0.9)}
