"""A linker that is sometimes wrong and then less sure, with questions whose links are known."""

from __future__ import annotations

import numpy as np

from benchmarks.quality.linking.abstaining import Decided
from benchmarks.quality.linking.linked import Known, decided
from engine.link.nodes import NodeStates
from engine.question.question import Question
from engine.values.elements import WHOLE_TABLE
from schema_catalog.types import ColumnKey
from tests.support.schemas import MUSIC

NODES = tuple(
    (*table.key, name)
    for table in MUSIC.tables
    for name in (WHOLE_TABLE, *(column.name for column in table.columns))
)


class Doubting:
    """A linker that is wrong about one node in ten, and by less than it is right about others."""

    def __init__(self, gold: dict[str, frozenset[ColumnKey]], seed: int) -> None:
        self._gold = gold
        self._random = np.random.default_rng(seed)

    def read(self, question: Question, snapshot: object) -> NodeStates | None:
        truth = np.array([1.0 if node in self._gold[question.text] else -1.0 for node in NODES])
        wrong = self._random.random(len(NODES)) < 0.1
        odds = truth * np.where(wrong, -0.5, 1.0) * self._random.uniform(0.2, 3.0, len(NODES))
        return NodeStates(NODES, odds.astype(np.float32), 0.9)


def asked(databases: int, seed: int) -> Decided:
    """Eight questions on each of so many databases, all with one schema."""
    random = np.random.default_rng(seed)
    questions = []
    for number in range(8 * databases):
        chosen = [MUSIC.tables[n] for n in np.flatnonzero(random.random(len(MUSIC.tables)) < 0.4)]
        columns = [(*t.key, c.name) for t in chosen for c in t.columns if random.random() < 0.4]
        gold = frozenset([*columns, *((*t.key, WHOLE_TABLE) for t in chosen)])
        questions.append(Known(str(number), f"db{number % databases}", f"question {number}", gold))
    linker = Doubting({each.text: each.gold for each in questions}, seed)
    return decided(questions, {each.database: MUSIC for each in questions}, linker)
