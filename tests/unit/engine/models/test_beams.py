"""What answering computes otherwise than training: the decoder's steps in numpy, columns as 8-bit integers."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch.nn import functional

from engine.models.beams import StepWeights, begin
from engine.models.network import Ground, Network, Reading, Survey
from engine.route.candidate_space import CandidateSpace
from engine.values.schema_graph import Edge, EdgeKind
from training.sequences import Sequences

DIMENSION, TOKENS = 16, 5
LINKS = tuple(
    tuple(Edge(table, EdgeKind(kind), (), ()) for table, kind in edges.items())
    for edges in ({1: 0}, {0: 1, 2: 2}, {1: 2}, {1: 3}, {0: 3})
)
"""Two databases: tables 0 to 2 in a row, 3 and 4 linked."""


def unit(dice: np.random.Generator, *shape: int) -> NDArray[np.float32]:
    found = dice.standard_normal((*shape, DIMENSION), dtype=np.float32)
    return found / np.linalg.norm(found, axis=-1, keepdims=True)


def ground(dice: np.random.Generator) -> Ground:
    numbers = np.array
    return Ground.of(
        CandidateSpace(
            databases=numbers([0, 1]),
            tables=np.arange(5),
            whole=unit(dice, 2),
            texts=unit(dice, 5),
            columns=unit(dice, 12),
            table_starts=numbers([0, 3]),
            column_starts=numbers([0, 2, 5, 7, 10]),
            owners=numbers([0, 0, 0, 1, 1]),
            pairs=numbers([[0, 0], [1, 1], [2, 2], [0, 1], [1, 2], [3, 3], [4, 4], [3, 4]]),
            pair_starts=numbers([0, 5]),
            links=LINKS,
        )
    )


def survey_of(network: Network, nodes: Ground, dice: np.random.Generator) -> Survey:
    reading = Reading(
        torch.from_numpy(unit(dice, 2, TOKENS)),
        torch.from_numpy(unit(dice, 2)),
        torch.tensor([[1.0, 1, 1, 1, 1], [1, 1, 1, 0, 0]]),
    )
    words = torch.from_numpy(dice.random((2, 5), dtype=np.float32))
    coverage = torch.from_numpy(dice.random((2, 2), dtype=np.float32))
    with torch.inference_mode():
        return network.survey(reading, nodes, network.name(nodes), words, coverage)


def asked(seed: int) -> tuple[Network, Ground, Survey]:
    dice = np.random.default_rng(seed)
    torch.manual_seed(seed)
    network = Network(DIMENSION)
    with torch.no_grad():
        for value in network.parameters():
            value.add_(torch.randn_like(value), alpha=0.2)
    nodes = ground(dice)
    return network, nodes, survey_of(network, nodes, dice)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("row", "database", "columns"), [(0, 0, (0, 1, 2)), (1, 0, (2, 1)), (1, 1, (1, 0))])
def test_each_step_is_that_of_training(seed: int, row: int, database: int, columns: tuple[int, ...]) -> None:
    network, nodes, survey = asked(seed)
    beams = begin(StepWeights.of(network), nodes, survey, np.array([row]), np.array([database]))
    with torch.inference_mode():
        right = Sequences.begin(network, nodes, survey, np.array([row]), np.array([database]))
        for column in (*columns, None):
            expected = functional.log_softmax(right.logits(), dim=1).numpy()
            possible = expected > -1e6
            np.testing.assert_allclose(
                beams.log_probabilities()[possible], expected[possible], rtol=1e-4, atol=1e-4
            )
            assert np.all(beams.log_probabilities()[~possible] < -1e6)
            np.testing.assert_allclose(beams.state, right.step.state.numpy(), rtol=1e-4, atol=1e-5)
            if column is not None:
                beams = beams.follow(np.array([0]), np.array([column]))
                right = right.after(np.array([column]))


def test_databases_of_several_sizes_and_questions_go_together() -> None:
    network, nodes, survey = asked(2)
    weights, rows, databases = StepWeights.of(network), np.array([0, 1, 1]), np.array([1, 0, 1])
    together = begin(weights, nodes, survey, rows, databases)
    assert together.firsts.tolist() == [3, 0, 3]
    together = together.follow(np.array([2, 1, 0]), np.array([0, 1, 1]))
    assert together.numbers.tolist() == [2, 1, 0]
    for place, (number, column) in enumerate(((2, 0), (1, 1), (0, 1))):
        alone = begin(weights, nodes, survey, rows[[number]], databases[[number]])
        alone = alone.follow(np.array([0]), np.array([column]))
        shares = together.log_probabilities()[place]
        size = alone.chosen.shape[1]
        np.testing.assert_allclose(shares[:size], alone.log_probabilities()[0, :-1], rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(shares[-1], alone.log_probabilities()[0, -1], rtol=1e-4, atol=1e-4)
        assert np.all(shares[size:-1] < -1e6)
