"""Databases are split once for what trains the linker, probes it and calibrates it."""

from __future__ import annotations

import numpy as np

from benchmarks.harness.linker_split import Part, part_of


def test_a_databases_part_is_always_the_same_and_most_train() -> None:
    parts = [part_of(f"database {number}") for number in range(2_000)]
    assert parts == [part_of(f"database {number}") for number in range(2_000)]
    shares = [parts.count(part) / len(parts) for part in (Part.LINKER, Part.PROBES, Part.CALIBRATION)]
    assert np.allclose(shares, (0.70, 0.15, 0.15), atol=0.03)
