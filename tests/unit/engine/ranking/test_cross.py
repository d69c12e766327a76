"""The cross-encoder: what it reads, that training lowers its cost, and the model that comes with the program."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from engine.core.candidate import Candidate
from engine.models.cross import PAIR_TOKENS, CrossEncoder, tokenized
from engine.models.cross_network import Scores
from engine.models.encoder import MiniLMEncoder
from engine.ranking.ranker import TwoStages, packaged, phrases
from engine.settings import EncoderSettings
from training.ranker import Example, Trainer, arrays_of, listwise

EXAMPLES = (
    Example(
        "How many singers are there?",
        (("show number of singer", "from singer"), ("show singer name", "from singer")),
    ),
    Example(
        "Names of all singers", (("show singer name", "from singer"), ("show singer country", "from singer"))
    ),
)


@pytest.fixture(scope="module")
def trainer() -> Trainer:
    return Trainer(seed=1, steps=12)


def test_every_phrase_has_its_tokens_and_marks_belong_to_none(trainer: Trainer) -> None:
    pairs = tokenized(trainer.tuned.tokenizer, [("a question", ("one two", "three")), ("short", ("x",))])
    assert pairs.phrases == 2
    assert pairs.parts[0].tolist() == [0, 1, 1, 0, 2, 2, 0, 3, 0]
    assert pairs.mask[1].tolist() == [1, 1, 1, 1, 1, 0, 0, 0, 0]
    assert pairs.ids.shape == pairs.parts.shape == (2, 9)


def test_a_long_statement_is_cut(trainer: Trainer) -> None:
    pairs = tokenized(trainer.tuned.tokenizer, [("question", tuple(f"phrase {n}" for n in range(200)))])
    assert pairs.ids.shape == (1, PAIR_TOKENS)


def test_the_listwise_cost_is_lowest_where_the_right_one_is_highest() -> None:
    def cost(whole: list[float]) -> float:
        found = Scores(torch.tensor(whole), torch.zeros(3, 1), torch.ones(3, 1))
        return float(listwise(found, [3]))

    assert cost([3.0, 0.0, 0.0]) < cost([0.0, 0.0, 0.0]) < cost([0.0, 3.0, 0.0])


def test_training_lowers_the_cost_and_the_artifact_scores_as_the_network_did(trainer: Trainer) -> None:
    costs = [trainer.learn(EXAMPLES) for _ in range(12)]
    assert costs[-1] < 0.8 * costs[0]
    pairs = [(each.question, said) for each in EXAMPLES for said in each.statements]
    with torch.no_grad():
        found = trainer.scores(tokenized(trainer.tuned.tokenizer, pairs))
    wanted = torch.stack([found.whole, found.phrase_total], dim=1).numpy()
    read = CrossEncoder(arrays_of(trainer.tuned.layers, trainer.tuned.heads)).scores(pairs)
    # Half precision, and products of 8-bit integers where the processor has them.
    assert np.abs(read - wanted).max() < 0.5
    assert (read.argmax(0) == wanted.argmax(0)).all()


CASES = (
    ("How many singers are there?", "SELECT COUNT(*) FROM singer", "SELECT name FROM singer"),
    (
        "Which stadium has the largest capacity?",
        "SELECT name FROM stadium ORDER BY capacity DESC LIMIT 1",
        "SELECT name FROM stadium ORDER BY capacity LIMIT 1",
    ),
    (
        "Show the names of singers older than 30.",
        "SELECT name FROM singer WHERE age > 30",
        "SELECT name FROM singer WHERE age < 30",
    ),
    (
        "What is the average age of singers from each country?",
        "SELECT country, AVG(age) FROM singer GROUP BY country",
        "SELECT country, MAX(age) FROM singer GROUP BY country",
    ),
    ("List the title of every concert.", "SELECT title FROM concert", "SELECT year FROM concert"),
)


@pytest.mark.parametrize(("question", "right", "wrong"), CASES)
def test_the_model_that_comes_along_prefers_what_was_asked(question: str, right: str, wrong: str) -> None:
    ranker = TwoStages.of(packaged(), MiniLMEncoder(), EncoderSettings())
    given = [Candidate("music", sql, schema_score=1.0, logprob=-0.2) for sql in (wrong, right)]
    first, second = ranker.rank(question, given)
    assert second > first
    assert phrases(right) != phrases(wrong)
