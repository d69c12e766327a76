"""How right the schema linker is: its links against what gold statements read, and its calibration.

Owns the figures and the slopes of the log-odds. What is chosen, is chosen on `Part.PROBES`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.intervals import auc
from benchmarks.harness.linker_split import Part
from engine.link.nodes import HiddenStates, NodeStates
from engine.link.schema_linker import Decision, decide
from engine.models.linker import calibrated
from engine.question.question import Question
from engine.values.elements import WHOLE_TABLE
from training.linker_examples import Example, Neighbours, questions, unanswerable
from training.logit import either, fitted


@dataclass(frozen=True, slots=True)
class Reading:
    """An example with what the model makes of it."""

    example: Example
    states: NodeStates


def readings(model: HiddenStates, examples: Iterable[Example]) -> list[Reading]:
    """Of the examples whose schema fits the model."""
    found = ((example, model.read(Question(example.question), example.snapshot)) for example in examples)
    return [Reading(example, states) for example, states in found if states is not None]


def links(found: Sequence[Reading]) -> dict[str, float]:
    """Exact matches of tables and of columns; branching points a question."""
    walks = [decide(each.states, each.example.snapshot) for each in found]
    linked = [frozenset(step.element for step in walk if step.linked) for walk in walks]
    forced = [_wrong(decide(each.states, each.example.snapshot, each.example.gold), each) for each in found]
    figures = {"branching_points": float(np.mean(forced))}
    for name, tables in (("table_em", True), ("column_em", False)):
        pairs = [
            [{one for one in part if (one[2] == WHOLE_TABLE) == tables} for part in (own, each.example.gold)]
            for own, each in zip(linked, found, strict=True)
        ]
        figures[name] = float(np.mean([own == gold for own, gold in pairs]))
    return figures | {"questions": float(len(found))}


def _wrong(taken: Iterable[Decision], reading: Reading) -> int:
    return sum(each.linked != (each.element in reading.example.gold) for each in taken)


def negatives(examples: Sequence[Example], seed: int) -> list[Example]:
    """The questions with schemas that do not answer them, as in training; of each one at most."""
    rng = np.random.default_rng(seed)
    neighbours = Neighbours.of({each.snapshot.database: each.snapshot for each in examples})
    made = (unanswerable(example, neighbours, rng) for example in examples)
    return [example for example in made if example is not None]


@dataclass(frozen=True, slots=True)
class Judged:
    """Readings of questions with schemas that answer them, and with schemas that do not."""

    right: Sequence[Reading]
    wrong: Sequence[Reading]

    @staticmethod
    def of_part(model: HiddenStates, bench: Path, part: Part, seed: int) -> Judged:
        """Of every second of one part's questions: most stand there in two wordings, one after the other."""
        examples = questions(bench, part)[::2]
        return Judged(readings(model, examples), readings(model, negatives(examples, seed)))

    def rescaled(self, scales: NDArray[np.float32]) -> Judged:
        """With the log-odds calibrated by `scales`."""
        return Judged(*(_rescaled(some, scales) for some in (self.right, self.wrong)))

    def figures(self) -> dict[str, float]:
        """Of the links of the right schemas, and of telling these from the wrong."""
        found = links(self.right) | {"answerable_auc": _answerable(self.right, self.wrong)}
        return {name: round(value, 4) for name, value in found.items()}


def _rescaled(some: Sequence[Reading], scales: NDArray[np.float32]) -> list[Reading]:
    return [Reading(each.example, calibrated(each.states, scales)) for each in some]


def calibration(judged: Judged) -> NDArray[np.float32]:
    """A slope and a bias for the log-odds of tables, of read tables' columns, and of the schema, (3, 2)."""
    tables, columns = [], []
    for each in judged.right:
        for node, odds in zip(each.states.nodes, each.states.log_odds.tolist(), strict=True):
            if node[2] == WHOLE_TABLE:
                tables.append((odds, node in each.example.gold))
            elif (*node[:2], WHOLE_TABLE) in each.example.gold:
                columns.append((odds, node in each.example.gold))
    chances = [(each.states.answerable, each.example.answerable) for each in (*judged.right, *judged.wrong)]
    schemas = [(float(np.log(chance / (1 - chance))), true) for chance, true in chances]
    return np.array([_fitted(each) for each in (tables, columns, schemas)], dtype=np.float32)


def _fitted(pairs: Sequence[tuple[float, bool]]) -> list[float]:
    """The slope and the bias of a logistic regression (Platt scaling)."""
    return list(fitted([either([value, 1.0], true=true) for value, true in pairs], [1.0, 0.0], 0.0))


def _answerable(right: Sequence[Reading], wrong: Sequence[Reading]) -> float:
    scores = np.array([each.states.answerable for each in (*right, *wrong)], dtype=np.float64)
    return auc(scores, np.arange(len(scores)) < len(right))
