"""How a question falls into two, about one thing each."""

from __future__ import annotations

import re
from collections.abc import Iterable

from engine.question.tokens import question_words

_CLAUSE = re.compile(
    r"(?:how|what|which|who|where|when|list|show|give|find|count|tell|wie|was|welche[rs]?|wer|wo|zeige?|nenne)\b",
    re.IGNORECASE,
)
_JOINT = re.compile(r"\s*(?:[,;?.]\s*)?\b(?:and(?: also)?|und(?: auch)?)\s+|\s*[;?.]\s+(?=\w)", re.IGNORECASE)
_RELATED = re.compile(
    r"\b(?:same|each|every|both|per|between|together|common|their|its|his|her|they|them|those|these|such|it|more than"
    r"|fewer than|less than|near|nearest|jede[rsnm]?|gleiche[rsn]?|ihre[rsnm]?|deren|dessen|sie|pro|zusammen)\b",
    re.IGNORECASE,
)
"""Words by which two parts of a question belong together."""


def split(text: str, mine: Iterable[str], theirs: Iterable[str]) -> tuple[str, str] | tuple[None, None]:
    """The question about each of two things by itself; none where words make one of both.

    `mine`, `theirs`: the words that name them.
    """
    text = text.strip().rstrip(" .?!")
    if _RELATED.search(text):
        return None, None
    for joint in _JOINT.finditer(text):
        left, right = text[: joint.start()], text[joint.end() :]
        first, second = set(question_words(left)), set(question_words(right))
        for here, there, swapped in ((set(mine), set(theirs), False), (set(theirs), set(mine), True)):
            if here <= first and there <= second and not (here & second or there & first):
                made = _clauses(left, right, there)
                if made is not None:
                    return (made[1], made[0]) if swapped else made
    return None, None


def _clauses(left: str, right: str, there: set[str]) -> tuple[str, str] | None:
    """Two clauses as they are, or "how many" of "how many customers and airports are there" before each noun."""
    if _CLAUSE.match(right):
        return f"{left}?", f"{right}?"
    noun = re.match(rf"(?:\w+ ){{{len(there) - 1}}}\w+", right)
    opening = re.match(
        r"(?:how (?:many|much)|wie ?viele|(?:list|show|count)(?: me)?(?: all| the)*) ", left, re.IGNORECASE
    )
    if noun is None or opening is None or set(question_words(noun[0])) != there:
        return None
    return f"{left}{right[noun.end() :]}?", f"{opening[0]}{right}?"
