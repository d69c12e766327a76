"""Words by which a text asks, or denies something, or says how many rows it wants and in which order."""

from __future__ import annotations

import re

from engine.question.numerals import NUMBER

DENIAL = re.compile(
    r"\b(?:not|no|never|without|none|neither|nor|except|excluding)\b|n['\u2019]t\b", re.IGNORECASE
)

INTERROGATIVE = re.compile(
    r"(?:how|what|when|where|which|who|whom|whose|why)(?:\s+\S+){3,}(?<=\?)", re.IGNORECASE
)
"""A question of four words, at least."""

_FEW = re.compile(
    r"\b(?:most|least|fewest|more|less|\w+st|best|worst|top|maximum|minimum|max|min|one|single|any|majority|mostly|mainly|chiefly|primarily|predominantly|leader|winner)\b",
    re.IGNORECASE,
)
"""Without one of these, or a number, no question asks for a few rows."""

ORDERED = re.compile(
    r"\b(?:ascending|descending|alphabetical(?:ly)?|(?:ordered|sorted|arranged|ranked|order|sort)\ (?:\w+\ ){0,3}?by"
    r"|(?:most|least|fewest|best|worst|newest|oldest|latest|earliest|cheapest|(?:high|low|larg|small|bigg|long|short)est)"
    r"\ first(?!\ name))\b",
    re.IGNORECASE,
)
"""The words of an order for all rows."""

_NUMBER = re.compile(rf"\d|\b(?:{NUMBER}|dozen)\b", re.IGNORECASE)


NOW = re.compile(
    r"\b(?:today|now|currently|ago|yesterday|tomorrow|overdue|expired?|so far|upcoming|to date)\b",
    re.IGNORECASE,
)
"""Words of a question whose answer depends on the day on which it is asked."""


def asks_for_all(text: str) -> bool:
    """Whether it speaks of an order for all rows, or of no choice among them."""
    if _NUMBER.search(text):
        return False
    return not _FEW.search(text) or ORDERED.search(text) is not None
