"""Keys under which values and questions meet."""

from __future__ import annotations

import pytest

from engine.question.normalise import date_key, dates, key

SAME = [
    ("New York", "new-york"),
    ("AA 123", "AA-123", "aa123"),
    ("5 kilometres", "5 km", "5km"),
    ("$1,500", "1500"),
    ("puppies", "Puppy"),
    ("São Paulo", "sao paulo"),
    ("O'Brien", "o\u2019brien", "OBrien"),
]
DIFFERENT = [("AA123", "AA124"), ("5 km", "5 kg"), ("kilometres", "km"), ("Jon", "John")]
NOTHING = ["", " ", "!?", "€"]


@pytest.mark.parametrize("texts", SAME)
def test_ways_to_write_one_thing_have_one_key(texts: tuple[str, ...]) -> None:
    assert len({key(text) for text in texts}) == 1


@pytest.mark.parametrize("texts", DIFFERENT)
def test_other_things_have_other_keys(texts: tuple[str, str]) -> None:
    assert key(texts[0]) != key(texts[1])


@pytest.mark.parametrize("text", NOTHING)
def test_what_has_no_word_has_no_key(text: str) -> None:
    assert key(text) == ""


DAYS = {
    "2013-05-14": "2013-05-14",
    "2013/5/14": "2013-05-14",
    "2013-05-14 00:00:00": "2013-05-14",
    "May 14, 2013": "2013-05-14",
    "14th of May 2013": "2013-05-14",
    "14-May-2013": "2013-05-14",
    "5/14/2013": "2013-05-14",
    "14/5/2013": "2013-05-14",
    "14.05.2013": "2013-05-14",
    "May 2013": "2013-05",
    "sept. 2013": "2013-09",
    "Sep. 2013": "2013-09",
    "2013-13-14": None,
    "2013-05-32": None,
    "2013-05-14 10:30": None,
    "2013": None,
    "may": None,
}


@pytest.mark.parametrize("text", DAYS)
def test_dates(text: str) -> None:
    assert date_key(text) == DAYS[text]


def test_dates_in_a_question() -> None:
    question = "Orders of May 2013, returned by 5/14/2013; not 12013-05-14 or v2.1.2013x"
    assert [(found, question[start:end]) for found, (start, end) in dates(question)] == [
        ("2013-05", "May 2013"),
        ("2013-05-14", "5/14/2013"),
    ]
