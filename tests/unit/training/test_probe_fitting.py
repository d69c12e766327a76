"""Probes are fitted by databases, calibrated on others, and what they promise is kept on a third part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks.quality.linking.linked import Linked
from engine.core.elements import WHOLE_TABLE
from engine.models.packaged import Manifest, PackagedError, write
from engine.schema_linking.branching import FORMAT, NAME, Kind, TrainedBranching, kind_of
from tests.support.doubting_linker import DIMENSION, asked
from tests.support.schemas import MUSIC
from training.probe_fitting import Collected, Recipe, artifact, collected, out_of_fold

QUICK = Recipe(directions=DIMENSION, width=8, epochs=80, rate=1e-2)


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Threads that wait for each other over so little cost more than the work."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def probes_part() -> Collected:
    return collected(asked(10, 1))


@pytest.fixture(scope="module")
def folder(probes_part: Collected, tmp_path_factory: pytest.TempPathFactory) -> Path:
    arrays, figures = artifact(probes_part, collected(asked(20, 2)), QUICK, seed=1)
    assert figures["auc_layer_2"] > 0.9 > figures["auc_layer_0"]
    assert arrays["chosen"][0] == 2
    path = tmp_path_factory.mktemp("branching")
    write(path, Manifest(NAME, FORMAT, "doubting", "", "", 240, 0.0), arrays)
    return path


def test_a_fold_is_predicted_by_probes_of_other_databases(probes_part: Collected) -> None:
    """Other labels in a database change nothing of what is predicted there."""
    brief = replace(QUICK, epochs=4)
    before = out_of_fold(probes_part, brief, seed=1)
    own = np.array([name == "db3" for name in probes_part.databases])[probes_part.decisions.questions]
    known = probes_part.decisions
    turned = replace(probes_part, decisions=replace(known, wrong=known.wrong ^ own))
    after = out_of_fold(turned, brief, seed=1)
    assert np.array_equal(before[:, own], after[:, own])
    assert not np.array_equal(before, after)


def flagged(folder: Path, alpha: float) -> Iterator[tuple[Linked, np.ndarray]]:
    branching = TrainedBranching.of(folder, "doubting", alpha=alpha)
    for one in asked(30, 3):
        yield one, branching.flagged(one.states, [decision for decision, _ in one.forced], one.snapshot)


@pytest.mark.parametrize("alpha", [0.1, 0.3])
def test_branching_points_of_each_kind_are_flagged_as_promised(folder: Path, alpha: float) -> None:
    kept: dict[Kind, list[bool]] = {kind: [] for kind in Kind}
    vain: list[bool] = []
    for one, flags in flagged(folder, alpha):
        for (decision, wrong), flag in zip(one.forced, flags, strict=True):
            (kept[kind_of(decision)] if wrong else vain).append(bool(flag))
    for shares in kept.values():
        assert np.mean(shares) >= 1 - alpha - 4 * np.sqrt(alpha * (1 - alpha) * 2 / len(shares))
        assert np.mean(shares) > np.mean(vain) + 0.3


def test_with_another_linker_it_is_void(folder: Path) -> None:
    with pytest.raises(PackagedError, match=r"of the linker doubting, not of another: train it"):
        TrainedBranching.of(folder, "another")


def test_points_say_what_was_decided_and_what_else_may_be_meant(folder: Path) -> None:
    branching = TrainedBranching.of(folder, "doubting", alpha=0.05)
    found = [(one, branching.points(one.states, one.free, MUSIC)) for one in asked(4, 5)]
    assert sum(len(points) for _, points in found) > 10
    for one, points in found:
        decided = {decision.element: decision.linked for decision in one.free}
        for point in points:
            assert decided[point.element] == point.linked
            assert len(point.alternatives) <= 3
            for other in point.alternatives:
                assert (other[2] == WHOLE_TABLE) == (point.element[2] == WHOLE_TABLE)
                assert decided.get(other, False) != point.linked


def test_too_few_calibration_points_flag_everything(folder: Path) -> None:
    one = asked(1, 7)[0]
    branching = TrainedBranching.of(folder, "doubting", alpha=0.0001)
    assert branching.flagged(one.states, one.free, MUSIC).all()
