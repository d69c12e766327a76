"""What is guessed of an answer."""

from __future__ import annotations

from collections.abc import Sequence

from pgparley_local.drafts import LONGEST, Drafts


def learned(*answers: Sequence[int], kept: int = 9) -> Drafts:
    drafts = Drafts(kept)
    for each in answers:
        drafts.learn(each)
    return drafts


def test_what_followed_the_same_tokens_is_guessed_and_a_name_of_the_prompt() -> None:
    assert learned([1, 2, 3, 4, 5, 6, 7, 8]).guess([9, 1, 2, 3, 4, 5, 6], 1) == [7]
    assert learned(*[[1, 2, 3, 4, 5, 6, 7, 8]] * 9).guess([9, 1, 2, 3, 4, 5, 6], 8) == [7, 8], (
        "as much as there is"
    )
    assert learned().guess([1, 2, 3, 5, 6, 7, 8, 9, 1, 2, 3, 5, 6, 7], 1) == [8]


def test_the_more_frequent_is_guessed_and_nothing_without_a_reason() -> None:
    often = [[1, 2, 3]] * 9
    assert learned(*often, [1, 2, 4]).guess([1, 2], 1) == [3]
    assert learned(*often, *[[1, 2, 4]] * 3).guess([1, 2], 1) == []
    assert learned([2, 3]).guess([1, 2], 1) == [], "one token that was seen once is no reason"
    assert learned([1, 2, 3]).guess([7], 4) == []
    assert learned([1, 2, 3]).guess([1, 2, 3], 4) == [], "nothing follows"
    assert learned([1, 2, 3]).guess([1, 2], 0) == []
    assert learned().guess([1], 4) == []


def test_a_draft_ends_where_it_is_no_longer_likely() -> None:
    twice = learned(*[[1, 2, 3, 4, 5, 6, 7, 8, 9]] * 2)
    assert twice.guess([1], LONGEST) == []
    assert twice.guess([1, 2, 3, 4], LONGEST) == [5]
    assert twice.guess([1, 2, 3, 4, 5, 6], LONGEST) == [7]
    often = learned(*[[1, 2, 3, 4, 5]] * 30, kept=30)
    assert often.guess([1], LONGEST) == [2, 3, 4, 5]
    assert often.guess([1], 3) == [2, 3, 4]
