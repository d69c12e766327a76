"""Probes of the writer's states: what is planted is found on other databases, and what is not there is not."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.harness.intervals import auc
from training.doubt import probed, report
from training.states import LAYERS, Recorded, Written, kept, read

OWNERS = [f"database_{number // 8}" for number in range(320)]


def test_a_probe_finds_what_tells_right_from_wrong_on_databases_that_it_never_saw() -> None:
    random = np.random.default_rng(0)
    right = random.random(len(OWNERS)) < 0.6
    states = random.normal(size=(len(OWNERS), 96))
    assert abs(auc(probed(states, right, OWNERS), right) - 0.5) < 0.12
    # As large as the first direction that a probe sees, among others.
    states += np.outer(right * 4.0, random.normal(size=96))
    assert auc(probed(states, right, OWNERS), right) > 0.9


def test_a_recorded_statement_is_read_and_reported(tmp_path: Path) -> None:
    random = np.random.default_rng(0)

    def recorded(place: int) -> Recorded:
        written = Written(
            f"q{place}", OWNERS[place], ("SELECT", " 1"), (-0.1, -float(place % 2)), ((), ()), finished=True
        )
        return Recorded(written, random.normal(size=(3, len(LAYERS), 16)).astype(np.float16))

    for name in dict.fromkeys(OWNERS[:80]):
        kept([recorded(place) for place in range(80) if OWNERS[place] == name], tmp_path / f"{name}.npz")
    found, verdicts = read(tmp_path)
    assert (len(found), verdicts) == (80, {})
    assert found[0].written.sql == "SELECT 1"
    assert found[0].states.shape == (3, len(LAYERS), 16)
    told = report(found, {each.written.id: int(each.written.id[1:]) % 2 == 0 for each in found})
    assert told["sum"] == {"auc": 1.0, "within": 1.0, "within_low": 1.0, "within_high": 1.0}
