"""What is guessed of an answer."""

from __future__ import annotations

from engine.llm.embedded.drafts import FIRST, LONGEST, guess, next_length


def test_what_followed_the_same_tokens_is_guessed() -> None:
    assert guess([9, 1, 2, 3], [[1, 2, 3, 4, 5, 6]], 2) == [4, 5]
    assert guess([1, 2, 3], [[1, 2, 3, 4]], 8) == [4], "as much as there is"


def test_the_first_answer_that_has_them_counts_and_in_it_the_last_place() -> None:
    assert guess([1, 2, 3], [[7, 7, 7], [1, 2, 3, 4, 1, 2, 3, 5], [1, 2, 3, 6]], 1) == [5]


def test_nothing_is_guessed_without_a_reason() -> None:
    assert guess([1, 2], [[1, 2, 3]], 4) == []
    assert guess([1, 2, 3], [[1, 2, 3]], 4) == [], "nothing follows"
    assert guess([1, 2, 3], [[1, 2, 4, 3]], 4) == []
    assert guess([1, 2, 3], [[1, 2, 3, 4]], 0) == []


def test_guesses_grow_while_they_are_right() -> None:
    assert next_length(FIRST, FIRST) == min(2 * FIRST, LONGEST)
    assert next_length(LONGEST, LONGEST) == LONGEST
    assert next_length(LONGEST, 2) == 3
    assert next_length(4, 0) == 1
