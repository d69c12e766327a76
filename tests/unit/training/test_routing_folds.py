"""Routing on folds: the questions' variants, the journal and its figures, the choice of weights, a resumed course."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.harness.drawing import FOLDS, Item
from benchmarks.quality.routing import folds
from benchmarks.quality.routing.folds import Outcome, Placed, Variant, fold_of
from engine.route.candidate_space import CandidateSpace
from engine.route.index import build
from schema_catalog.types import Snapshot
from tests.support.schemas import table
from training import router
from training.fold_weights import cross_fitted, fitted, reweighted
from training.paraphrases import Paraphraser, reserved
from training.router import Course, Material, learned, worded
from training.router_batches import Batch
from training.router_network import NetworkTrainer
from training.wordnet import WordNet

CATALOG = [Snapshot(f"db{n}", ("public",), (table("thing", "thing_id name"),)) for n in range(4)]
WORDS = ("vocalist", "crooner", "soloist", "minstrel", "chanter", "warbler")
WORDNET = WordNet({("n", "1"): (("singer", *WORDS), ())}, {"singer": [("n", "1")]})
VOCABULARY = frozenset(WORDS)
ITEM: Item = {
    "id": "q1",
    "db": "music",
    "question": "What is the country of all singers?",
    "tables": ["singer"],
    "columns": ["singer.country"],
}


class Alike:
    """An encoder to which all texts are alike."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.ones((len(texts), 1), dtype=np.float32)


PARAPHRASER = Paraphraser(WORDNET, Alike(), VOCABULARY)


def test_every_fold_has_databases_and_a_database_keeps_its_fold() -> None:
    assert {fold_of(f"db_{number}") for number in range(60)} == set(range(FOLDS))
    assert [fold_of(name) for name in ("college_1", "college_2", "geo")] == [2, 2, 0]


def test_a_synonym_is_of_the_reserved_pairs_and_the_same_in_every_run() -> None:
    asked = [ITEM | {"id": f"q{number}"} for number in range(40)]
    texts = [PARAPHRASER.question(item, Variant.SYNONYMS) for item in asked]
    assert texts == [
        Paraphraser(WORDNET, Alike(), VOCABULARY).question(item, Variant.SYNONYMS) for item in asked
    ]
    taken = {str(text).removesuffix("s?").split()[-1] for text in texts} - {"singer"}
    assert taken
    assert all(reserved("singer", word) for word in taken)


def test_no_training_question_is_reworded_by_a_reserved_pair() -> None:
    items = [ITEM | {"id": f"q{number}"} for number in range(60)]
    found, plain = worded(items, WORDNET, seed=0, spared=reserved)
    taken = {item["question"].removesuffix("s?").split()[-1] for item in found[plain:]} - {"singer"}
    assert taken
    assert not any(reserved("singer", word) for word in taken)


def outcome(key: str, database: str, logits: dict[str, tuple[float, float]]) -> Outcome:
    placed = sorted(
        (Placed(name, sum(parts), parts) for name, parts in logits.items()), key=lambda p: -p.logit
    )
    rank = [each.database for each in placed].index(database) + 1
    return Outcome(key, Variant.PLAIN, "?", database, rank, tuple(placed))


def misled(key: str, right: float) -> Outcome:
    """The first addend tells the right database, the second, too heavy, mostly another."""
    return outcome(key, "a", {"a": (right, 0.0), "b": (0.0, right + 1 if int(key) % 3 else -1.0)})


def test_weights_of_the_other_folds_mend_what_one_addend_spoils() -> None:
    held = {fold: [misled(str(n), 1 + n / 10) for n in range(30)] for fold in (0, 1)}
    before = folds.figures([one for some in held.values() for one in some])
    multipliers = fitted(held[0])
    assert multipliers[0] > multipliers[1]
    assert reweighted(held[1][1], multipliers).rank == 1
    assert folds.figures(cross_fitted(held)).r1.value > before.r1.value


class Counting(NetworkTrainer):
    """A trainer that keeps what it is given instead of learning it."""

    def __init__(self) -> None:
        self.given: list[tuple[int, ...]] = []

    def learn(self, field: CandidateSpace, batch: Batch, rate: float) -> tuple[float, float]:
        self.given.append((len(field.databases), *batch.databases))
        return rate, 0.0


def test_a_course_leaves_out_its_databases_and_is_the_same_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(router, "LEAST_DATABASES", 2)
    parts = {each.database: build(each, Alike().encode) for each in CATALOG}
    items = [
        {"db": each.database, "question": f"{n} {each.database}", "tables": [each.tables[0].name]}
        for each in CATALOG
        for n in range(5)
    ]
    states = [np.zeros((3 + number % 4, 2), dtype=np.float16) for number in range(len(items))]
    material, apart = (
        Material([*items, *items], [*states, *states], len(items)),
        frozenset({CATALOG[0].database}),
    )
    first, again = Counting(), Counting()
    losses = list(learned(first, material, parts, Course(10, 3, apart)))
    assert [step for step, *_ in losses] == list(range(10))
    assert list(learned(again, material, parts, Course(10, 3, apart))) == losses
    assert again.given == first.given
    assert all(given[0] < len(CATALOG) for given in first.given)
