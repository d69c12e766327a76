"""What readings are worth: pairs of which one is right, and the log-odds fitted on them."""

from __future__ import annotations

import pytest

from training.readings import Listed, Pair, QuestionList, fitted, pairs


def listed(*, right: bool, rules: tuple[str, ...] = (), score: float = 0.0) -> Listed:
    return Listed("SELECT 1", rules, 0 if rules else None, score, right)


def test_a_pair_is_a_reading_and_its_statement_of_which_one_is_right() -> None:
    wrong = QuestionList(
        "q1", "shop", (listed(right=False, score=2.0), listed(right=True, rules=("a", "b"), score=0.5))
    )
    both = QuestionList("q2", "shop", (listed(right=True), listed(right=True, rules=("a",))))
    assert list(pairs([wrong, both])) == [Pair("shop", ("a", "b"), -1.5, right=True)]


def test_a_rule_is_worth_what_the_ranker_misses_and_little_where_little_is_known() -> None:
    known = [Pair("shop", ("often",), -1.0, right=True)] * 30 + [Pair("shop", ("once",), -1.0, right=True)]
    often, once, never = fitted(known, ["often", "once", "never"])
    assert often > once > 0
    assert often > 1.0
    assert never == pytest.approx(0.0)


def test_a_rule_that_spoils_statements_counts_against_its_readings() -> None:
    (worth,) = fitted([Pair("shop", ("spoils",), 1.0, right=False)] * 10, ["spoils"])
    assert worth < -1.0
