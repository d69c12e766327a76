"""The probes that come with the program: for the linker that comes with it, small, and of use on its states."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from engine.models.packaged import PackagedError, read
from engine.schema_linking import branching, linker
from engine.schema_linking.branching import TrainedBranching, packaged
from engine.schema_linking.linker import decide
from engine.schema_linking.nodes import NodeStates
from engine.schema_linking.probes import CONTEXT
from tests.support.doubting_linker import NODES
from tests.support.schemas import MUSIC

LINKER = read(linker.packaged(), linker.NAME, linker.FORMAT).manifest.weights_sha256
ARTIFACT = read(packaged(), branching.NAME, branching.FORMAT)


def given() -> NodeStates:
    """States as the linker's, in the number of layers and of numbers, that are noise."""
    random = np.random.default_rng(1)
    shape = (len(ARTIFACT.arrays["layers"]), len(NODES), ARTIFACT.arrays["w1"].shape[1] - CONTEXT)
    odds = random.normal(0.0, 3.0, len(NODES))
    return NodeStates(NODES, random.normal(size=shape).astype(np.float32), odds.astype(np.float32), 1.0)


def test_they_belong_to_the_linker_that_comes_with_the_program() -> None:
    TrainedBranching.of(packaged(), LINKER)
    with pytest.raises(PackagedError, match="train it on this one"):
        TrainedBranching.of(packaged(), LINKER[::-1])


def test_they_are_small() -> None:
    assert sum(file.stat().st_size for file in packaged().iterdir()) < 3_000_000


def test_less_may_be_missed_the_more_is_flagged() -> None:
    known = given()
    decisions = decide(known, MUSIC)
    alphas = (0.3, 0.1, 0.02)
    flags = [
        TrainedBranching.of(packaged(), LINKER, alpha=alpha).flagged(known, decisions, MUSIC)
        for alpha in alphas
    ]
    for fewer, more in pairwise(flags):
        assert not (fewer & ~more).any()
    assert flags[0].sum() < flags[-1].sum()


def test_calibration_suffices_for_one_in_a_hundred() -> None:
    for name in ("table", "column"):
        scores = ARTIFACT.arrays[name]
        assert scores.size >= 99
        assert (np.diff(scores) >= 0).all()
