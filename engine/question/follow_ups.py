"""Follow-ups: whether a text goes on from the question before it.

Owns the words by which it shows, in English: openings that carry on, what stands for something said before, and
sentences that lack what a question needs. A model that follows instructions says it itself, along with the statements
(`engine.write.readings`).
"""

from __future__ import annotations

import re

from engine.question.tokens import PLAIN, QUOTED, SPOKEN
from schema_catalog.words import identifier_words

_COURTESY = re.compile(
    r"""\W*(?:(?:hi|hello|hey|there|oh|hm+|ok|okay|yes|no|great|cool|thanks?|thank\ you|please|so|well|can\ you
    |could\ you|let'?s)\b\W*)*""",
    re.VERBOSE | re.IGNORECASE,
)
_SENTENCE = re.compile(r"[.?!;]\s+(?=\w)")

_CARRIES_ON = re.compile(
    r"""(?:and|or|but|also|plus|then|now|only|just|even|instead|likewise|again
     |(?:what|how)\s+(?:about|if)|why|(?:the\s+)?same|add|remove|exclude|include|keep|leave\s+out|reverse
     |(?:narrow|break|split)\s+down
     |(?:sort|order|rank|group|limit|restrict|narrow|filter|break|split|show|list|give|put|display)\s+(?:me\s+)?
      (?:it|them|by|only|just|also|the\s+results?|in\s+(?:\w+\s+){0,2}order)(?!\s+of\b)
     |(?:except|excluding|including|without|in|on|for|by|per|with|from|since|until|before|after|during|between|of)\b
      (?!.*(?:,|\b(?:wh\w+|how|show|list|find)\b))
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)
"""Openings that carry on, orders about what was shown, and phrases without a sentence."""

_STANDS_FOR = re.compile(
    r"""\b(?:(?:of|for|in|except|among|than|above|below|to)\s+(?:those|these|that|this)(?=\W*$|,)
     |the\s+(?:former|latter|above|rest|remaining|previous|others)\b
     |(?:of|among)\s+(?:those|these),)""",
    re.VERBOSE | re.IGNORECASE,
)
"""What stands for something that was said before, wherever it is."""

_POINTED = re.compile(
    r"""\b(?:(?:of|for|in|on|at|by|from|to|with|than|do|does|did|is|was)\s+that|this|those|these)\s+
    (?!(?:of|in|from|is|are|was|were|has|have|had|do|does|did|can|will|who|that|which|whose|with|without|where)\b)
    (\w+)\b(?!(?:\s+\w+)?\s+(?:who|that|which|whose|where|with|\w+ing)\b)""",
    re.VERBOSE | re.IGNORECASE,
)
"""A noun that is pointed at."""

_WEAKLY = re.compile(
    r"\b(?:he|him|his|she|her|its?|they|them|theirs?|ones?|there|others?|this|that|these|those|same)\b",
    re.IGNORECASE,
)
"""What stands for the nearest noun, which is one of an earlier question where none precedes it."""

_ADDS = re.compile(r"\b(?:also|only|instead|too|as\s+well|again)\W*$", re.IGNORECASE)

_ASKS = re.compile(
    r"""\b(?:wh(?:at|ich|om?|ose|en|ere|y)|how|is|are|was|were|do|does|did|has|have|had|can|could|will|would|show|list
    |find|give|tell|return|count|display|get|name|report|compute|calculate|select|describe|want|need|see)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_LITTLE = 3
"""Content words of a question at most that "also" or "only" at its end makes a follow-up."""


def goes_on(text: str) -> bool:
    """Whether `text`, which is a question or an order, is to be read with what was asked before it."""
    bare = QUOTED.sub(" Quoted ", text)
    # What is said in a later sentence is said of the first.
    bare = _SENTENCE.split(_COURTESY.sub("", bare, count=1), maxsplit=1)[0]
    content = [each for each in SPOKEN.finditer(bare) if _is_content(each[0])]
    if _CARRIES_ON.match(bare) or _STANDS_FOR.search(bare) or not content:
        return True
    if len(content) <= _LITTLE and _ADDS.search(bare):
        return True
    weakly = _WEAKLY.search(bare)
    if weakly is not None and weakly.start() < content[0].start():
        return True
    return _points_back(bare) or (not _ASKS.search(bare) and len(content) == 1)


def _points_back(sentence: str) -> bool:
    """Whether it points at something that it has not named before."""
    found = _POINTED.search(sentence)
    if found is None or not _is_content(found[1]):
        return False
    return set(identifier_words(found[1])).isdisjoint(identifier_words(sentence[: found.start()]))


def _is_content(word: str) -> bool:
    return word.lower() not in PLAIN and not _WEAKLY.fullmatch(word)
