"""Words of questions: which count, and how they fold, as names do (`schema_catalog.words`)."""

from __future__ import annotations

import re

from schema_catalog.words import folded, identifier_words

__all__ = [
    "LABEL_WORDS",
    "OPERATION_WORDS",
    "QUOTED",
    "STOP_WORDS",
    "identifier_words",
    "keeps_values",
    "question_words",
]

STOP_WORDS = frozenset(
    """
    a about all also an and any are as at be been being both but by can could did do does each either every
    find for from give had has have he her him his how i in into is it its list many me much my neither no
    nor not of on or our per please return shall she should show some such tell than that the their them
    then there these they this those to us was we were what when where which who whom whose why will with
    would you your
    """.split()  # noqa: SIM905  a list of quoted words is no easier to read
)
"""Articles, pronouns, prepositions, auxiliaries, and verbs of asking."""

OPERATION_WORDS = frozenset(
    """
    above after ascending ask average before below best between count descending different display distinct
    done fewest first get greater greatest group grouped having highest if largest last least less lowest
    max maximum mean min minimum more most one other out over same smallest so sort sorted sum top total
    under up whether while within without worst
    """.split()  # noqa: SIM905  a list of quoted words is no easier to read
)
"""Words of comparing, ordering and counting: they name operations."""

LABEL_WORDS = frozenset(
    """
    among compute describe eight five four longest name names nearest nine number only order report seven
    shortest six ten three two zero
    """.split()  # noqa: SIM905  a list of quoted words is no easier to read
)
"""Numerals and general nouns: they may name a column and are no value by themselves."""


QUOTED = re.compile(
    r"'[^']+'(?!\w)|\"[^\"]+\"|\u201c[^\u201d]+\u201d|\u2018[^\u2019]+\u2019(?!\w)|\u201e[^\u201c]+\u201c|«[^»]+»"
)
"""A quoted text of a question, with its quotes."""

_NUMBER = re.compile(r"\d+")


def keeps_values(text: str, question: str) -> bool:
    """Whether `text` holds every number and every quoted text of `question`."""
    quoted = {each[1:-1].strip() for each in QUOTED.findall(question)}
    numbers = set(_NUMBER.findall(question))
    return numbers <= set(_NUMBER.findall(text)) and all(each in text for each in quoted)


def question_words(question: str) -> tuple[str, ...]:
    """The folded words of a question without stop words, each once, in order."""
    plain = re.sub(r"['\u2019]s\b", "", question)
    return tuple(dict.fromkeys(word for word in folded(plain) if word not in STOP_WORDS))
