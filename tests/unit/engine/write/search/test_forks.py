"""Forks: what the model nearly wrote, likeliest first, and nothing that only looks different."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.values.ports import Completion, Token
from engine.write.search.forks import LEAST, Fork, forks

COUNT = (
    Token("SELECT", (("SELECT", 0.99),)),
    Token(" COUNT", ((" COUNT", 0.6), (" name", 0.3), (" count", 0.05), (" CO", 0.04))),
    Token("(*)", (("(*)", 0.5), ("(DISTINCT", 0.4))),
    Token(" FROM singer", ()),
)


def test_forks_are_what_was_nearly_written_and_what_the_grammar_forced_is_certain() -> None:
    found = forks(COUNT)
    assert [(each.text, round(each.chance, 2)) for each in found] == [
        ("SELECT COUNT(DISTINCT", 0.8),
        ("SELECT name", 0.5),
    ]
    assert found[0].logprob == pytest.approx(math.log(0.99 * 0.6 * 0.4))
    assert found[0].tokens == len(("SELECT", " COUNT", "(DISTINCT"))
    (fork,) = forks((Token("SELECT ", ()), Token("name", (("name", 0.6), ("title", 0.3)))))
    assert (fork.text, fork.chance) == ("SELECT title", pytest.approx(0.5))
    assert fork.logprob == pytest.approx(math.log(0.3))


def test_the_likelihood_is_that_of_the_whole_answer_and_without_probabilities_none() -> None:
    fork = Fork("SELECT name", 0.5, -2.0, 2)
    whole = fork.completed(Completion(" FROM singer", 1, 0, 2, -0.5, finished=True))
    assert whole.text == "SELECT name FROM singer"
    assert whole.logprob == pytest.approx((-2.0 + 2 * -0.5) / 4)
    fork = Fork("SELECT name", 0.5, -2.0, 2)
    assert fork.completed(Completion(" FROM singer", 1, 0, 2, None, finished=True)).logprob is None
    assert forks((Token("SELECT 1", ()),)) == []


@pytest.mark.parametrize(
    ("written", "others"),
    [
        ((" age", "\n", "```"), (" age;", ";\n", ";\n", ";")),
        ((" age", ";\n", "```"), (" AGE\n", "\n", "\n\n", "```")),
        ((" age", "\n```"), (" age;", ";\n```")),
    ],
)
def test_another_way_to_end_the_same_statement_is_no_fork(
    written: tuple[str, ...], others: tuple[str, ...]
) -> None:
    beginning = Token("SELECT", (("SELECT", 1.0),))
    ends = tuple(Token(each, ((each, 0.5), *((other, 0.1) for other in others))) for each in written)
    names = [each for each in forks((beginning, *ends)) if each.text.rstrip("`;\n").lower() == "select age"]
    assert names == []


def test_to_end_sooner_than_what_was_written_is_one() -> None:
    (fork,) = forks(
        (Token("SELECT age", ()), Token(" LIMIT", ((" LIMIT", 0.5), (";", 0.4))), Token(" 1", ()))
    )
    assert fork.text == "SELECT age;"


@given(
    st.lists(
        st.lists(
            st.tuples(st.text("ab (", min_size=1, max_size=3), st.floats(0.0001, 1)), min_size=1, max_size=8
        ),
        max_size=6,
    )
)
def test_every_fork_differs_from_the_answer_and_from_every_other(
    places: list[list[tuple[str, float]]],
) -> None:
    tokens = tuple(Token(max(others, key=lambda each: each[1])[0], tuple(others)) for others in places)
    answer = "".join(token.text for token in tokens).replace(" ", "")
    found = forks(tokens)
    plain = [each.text.replace(" ", "") for each in found]
    assert len(set(plain)) == len(plain)
    assert not any(answer.startswith(each) for each in plain)
    assert all(LEAST <= each.chance <= 1 and each.logprob <= 0 for each in found)
    assert [each.chance for each in found] == sorted((each.chance for each in found), reverse=True)
