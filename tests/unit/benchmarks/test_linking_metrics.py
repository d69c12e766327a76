"""What branching points are told from other decisions by."""

from __future__ import annotations

import numpy as np

from benchmarks.quality.linking.metrics import extra_abstention_rate


def test_extra_abstentions_are_of_all_decisions() -> None:
    flagged = np.array([True, False, True, False])
    branching = np.array([True, True, False, False])
    assert extra_abstention_rate(flagged, branching) == 0.25
