"""The cross-encoder: what it reads, and the model that comes with the program."""

from __future__ import annotations

from typing import Any

import pytest

from engine.judge.ranker import TwoStages, packaged
from engine.models.cross import PAIR_TOKENS, tokenized
from engine.models.encoder import MiniLMEncoder, loaded_model
from engine.question.question import Question
from engine.statement.description import phrases
from engine.values.candidate import Candidate, Origin
from engine.values.settings import EncoderSettings


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return loaded_model(EncoderSettings()).tokenizer


def test_every_phrase_has_its_tokens_marks_belong_to_none_and_a_long_statement_is_cut(tokenizer: Any) -> None:
    pairs = tokenized(tokenizer, [("a question", ("one two", "three")), ("short", ("x",))])
    assert pairs.phrases == 2
    assert pairs.parts[0].tolist() == [0, 1, 1, 0, 2, 2, 0, 3, 0]
    assert pairs.mask[1].tolist() == [1, 1, 1, 1, 1, 0, 0, 0, 0]
    assert pairs.ids.shape == pairs.parts.shape == (2, 9)
    pairs = tokenized(tokenizer, [("question", tuple(f"phrase {n}" for n in range(200)))])
    assert pairs.ids.shape == (1, PAIR_TOKENS)


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


@pytest.fixture(scope="module")
def ranker() -> TwoStages:
    return TwoStages.of(packaged(), MiniLMEncoder(), EncoderSettings())


@pytest.mark.parametrize(("question", "right", "wrong"), CASES)
def test_the_model_that_comes_along_prefers_what_was_asked(
    ranker: TwoStages, question: str, right: str, wrong: str
) -> None:
    given = [Candidate("music", sql, origin=Origin(schema_score=1.0, logprob=-0.2)) for sql in (wrong, right)]
    first, second = ranker.rank(Question(question), given)
    assert second > first
    assert phrases(right) != phrases(wrong)
