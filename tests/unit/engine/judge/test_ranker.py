"""The two stages of ranking: what is read, how scores become one, and the models that come with the program."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.ask.explanation import explained
from engine.judge.judge import judge
from engine.judge.ranker import SECOND_STAGE, TwoStages, packaged
from engine.models.cross import PAIR_TOKENS, Pair, tokenized
from engine.models.encoder import MiniLMEncoder, loaded_model
from engine.question.question import Question
from engine.statement.description import phrases
from engine.values.candidate import Candidate, Origin
from engine.values.deadline import Deadline
from engine.values.elements import SchemaLinks, ValueList
from engine.values.messages import Asker, AskRequest
from engine.values.ports import Ranker
from engine.values.settings import EncoderSettings
from engine.values.state import Route, State
from engine.values.tools import NoRanker
from schema_catalog.types import Database
from tests.support.schemas import MUSIC
from tests.support.tools import bare_tools


class Counting:
    """An encoder by which a text is the nearer to the question the more often it says `name`."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        angles = [0.0, *(1.5 / (1 + text.count("name")) for text in texts[1:])]
        return np.array([[np.cos(angle), np.sin(angle)] for angle in angles], dtype=np.float32)


class Reading:
    """A cross-encoder that likes phrases with `country`, and remembers what it read."""

    def __init__(self) -> None:
        self.read: list[Pair] = []

    def scores(self, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        self.read += pairs
        return np.array(
            [[2.0 * ("country" in " ".join(said)), -0.5] for _, said in pairs], dtype=np.float32
        ).reshape(-1, 2)


def candidate(sql: str, logprob: float | None = -0.1) -> Candidate:
    return Candidate("music", sql, origin=Origin(logprob=logprob, schema_score=1.0))


NAMES = candidate("SELECT name FROM singer", -0.1)
COUNTRIES = candidate("SELECT country FROM singer", -0.2)
ALL = np.ones(2, dtype=np.float32)


def test_the_head_weighs_what_the_cross_encoder_says() -> None:
    reader = Reading()
    assert TwoStages(ALL, reader, Counting()).rank(Question("which?"), [NAMES, COUNTRIES]) == pytest.approx(
        [-0.5, 1.5]
    )
    assert reader.read == [
        ("which?", ("show singer name", "from singer")),
        ("which?", ("show singer country", "from singer")),
    ]


def test_of_many_only_the_nearest_are_read_and_the_others_come_after_them() -> None:
    many = [candidate(f"SELECT c{number} FROM singer") for number in range(SECOND_STAGE)]
    reader = Reading()
    scores = TwoStages(ALL, reader, Counting()).rank(Question("which?"), [*many, NAMES])
    assert len(reader.read) == SECOND_STAGE
    assert scores.index(min(scores)) == SECOND_STAGE - 1


async def ranked(
    ranker: Ranker,
    *candidates: Candidate,
    question: str = "Where do the singers come from?",
    links: SchemaLinks | None = None,
    lists: Sequence[ValueList] = (),
) -> State:
    route = Route(
        Database("music", "", "music", ("public",), ()), MUSIC, 0.8, (), links=links, lists=tuple(lists)
    )
    ask = AskRequest(Asker("ann", "music"), question)
    deadline = Deadline(time.monotonic() + 60)
    state = State(ask, Question(ask.question), 5, 5, deadline, time.monotonic(), (route,), candidates)
    return await judge(state, bare_tools(ranker=ranker))


async def test_what_the_ranker_says_counts_beside_what_is_known() -> None:
    done = await ranked(TwoStages(ALL, Reading(), Counting()), NAMES, COUNTRIES)
    assert [each.sql for each in done.candidates] == [COUNTRIES.sql, NAMES.sql]
    assert sum(each.confidence for each in done.candidates) <= 0.8
    assert "second_stage 1.5" in done.trace[0].detail
    assert explained(done).candidates[0].explanation == "country from singer; doubtful: country"


async def test_what_reads_nothing_of_a_table_that_the_question_names_is_told_and_not_weighed() -> None:
    silent = replace(candidate("SELECT name FROM stadium", -0.1), tables=frozenset({("public", "stadium")}))
    reads = replace(COUNTRIES, tables=frozenset({("public", "singer")}))
    done = await ranked(NoRanker(), silent, reads)
    assert [each.sql for each in done.candidates] == [silent.sql, reads.sql]
    assert done.trace[0].detail.endswith("says nothing about singer")


async def test_what_contradicts_the_question_comes_behind_and_says_so() -> None:
    one = candidate("SELECT COUNT(*) FROM concert", -0.1)
    each = candidate("SELECT year, COUNT(*) FROM concert GROUP BY year", -0.4)
    done = await ranked(NoRanker(), one, each, question="number of concerts per year")
    assert [found.sql for found in done.candidates] == [each.sql, one.sql]
    assert (
        explained(done).candidates[1].explanation.endswith("gives one number in all, not one for each year")
    )
    assert "not one for each year" in done.trace[1].detail
    plain = await ranked(NoRanker(), one, each, question="number of concerts")
    assert [found.sql for found in plain.candidates] == [one.sql, each.sql]


async def test_a_statement_is_worth_what_was_merged_in_it_is() -> None:
    likely, merged = candidate("SELECT name FROM singer", -0.1), candidate("SELECT country FROM singer", -0.2)
    done = await ranked(NoRanker(), likely, replace(merged, origin=replace(merged.origin, readings=2)))
    assert [found.sql for found in done.candidates] == [merged.sql, likely.sql]
    assert "readings 2" in done.trace[0].detail


async def test_what_leaves_a_linked_column_unread_is_the_less_likely_the_surer_the_linker_is() -> None:
    country = ("public", "singer", "country")
    names, countries = NAMES, replace(COUNTRIES, columns=frozenset({country}))

    async def said(chance: float) -> State:
        links = SchemaLinks({country: chance}, frozenset({country}), (), 1.0)
        return await ranked(NoRanker(), names, countries, links=links)

    hardly, surely = await said(0.1), await said(0.9)
    assert [each.sql for each in hardly.candidates] == [names.sql, countries.sql]
    assert [each.sql for each in surely.candidates] == [countries.sql, names.sql]
    assert "leaves singer.country unread" in surely.trace[1].detail
    assert "unread" not in surely.trace[0].detail


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
