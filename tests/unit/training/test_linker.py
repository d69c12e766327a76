"""Training the linker: its cost falls, a stopped run goes on where it was, the artifact reads as the network did."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.link.nodes import NodeStates, schema_input
from engine.models.linker import CALIBRATION, LinkerEncoder, calibrated
from engine.models.packaged import Manifest, Packaged
from engine.question.question import Question
from engine.values.elements import WHOLE_TABLE
from tests.support.schemas import MUSIC
from training.linker import Progress, Trainer
from training.linker_examples import Example
from training.linker_measures import Judged, Reading, calibration

SINGERS = Example(
    "How many singers?",
    MUSIC,
    frozenset({("public", "singer", WHOLE_TABLE), ("public", "singer", "country")}),
)
STADIUMS = Example(
    "Names of stadiums",
    MUSIC,
    frozenset({("public", "stadium", WHOLE_TABLE), ("public", "stadium", "name")}),
)


@pytest.fixture(scope="module")
def trainer() -> Trainer:
    return Trainer(seed=1, threads=1)


def test_training_lowers_the_cost_and_the_artifact_links_what_was_learnt(trainer: Trainer) -> None:
    given = [(each, schema_input(Question(each.question), each.snapshot)) for each in (SINGERS, STADIUMS)]
    costs = [trainer.learn(given, 0.2) for _ in range(8)]
    assert costs[-1][0] < 0.6 * costs[0][0]
    manifest = Manifest("linker", 1, "", "", "", 0, 0.0)
    states = LinkerEncoder(Packaged(manifest, trainer.artifact())).read(Question(SINGERS.question), MUSIC)
    assert states is not None
    odds = dict(zip(states.nodes, states.log_odds.tolist(), strict=True))
    assert odds["public", "singer", WHOLE_TABLE] > odds["public", "stadium", WHOLE_TABLE]


def test_a_stopped_run_goes_on_where_it_was(trainer: Trainer, tmp_path: Path) -> None:
    file = tmp_path / "checkpoint.pt"
    trainer.save(file, Progress(7, 12.5))
    other = Trainer(seed=2, threads=1)
    assert other.resume(file) == Progress(7, 12.5)
    arrays, again = trainer.artifact(), other.artifact()
    assert arrays.keys() == again.keys()
    assert all(np.array_equal(arrays[name], again[name]) for name in arrays)
    assert not file.with_suffix(".new").exists()


def scripted(example: Example, odds: dict[str, float], answerable: float) -> Reading:
    """A reading with log-odds by name, -2 for the others."""
    nodes = schema_input(Question(example.question), example.snapshot).nodes
    log_odds = np.array([odds.get(f"{node[1]}.{node[2]}", -2.0) for node in nodes], dtype=np.float32)
    return Reading(example, NodeStates(nodes, log_odds, answerable))


RIGHT = scripted(SINGERS, {"singer.*": 2.0, "singer.country": 1.0}, 0.9)
HALF = scripted(STADIUMS, {"stadium.*": 2.0, "stadium.capacity": 1.0}, 0.8)
ASTRAY = scripted(replace(SINGERS, gold=frozenset(), answerable=False), {"stadium.*": 1.0}, 0.3)


def test_calibration_scales_the_log_odds_to_what_was_seen() -> None:
    unsure = [scripted(SINGERS, {"singer.*": 8.0, "stadium.*": 8.0}, 0.9) for _ in range(10)]
    judged = Judged([*unsure, RIGHT, HALF], [ASTRAY])
    scales = calibration(judged)
    assert scales.shape == (3, 2)
    states = calibrated(unsure[0].states, scales)
    chance = 1 / (1 + np.exp(-states.log_odds[states.nodes.index(("public", "stadium", WHOLE_TABLE))]))
    assert 0.3 < chance < 0.7
    assert 0 < states.answerable < 1


def test_an_artifact_before_calibration_leaves_log_odds_alone(trainer: Trainer) -> None:
    scales = trainer.artifact()[CALIBRATION]
    assert calibrated(RIGHT.states, scales).log_odds.tolist() == RIGHT.states.log_odds.tolist()
    assert calibrated(RIGHT.states, scales).answerable == pytest.approx(RIGHT.states.answerable)
