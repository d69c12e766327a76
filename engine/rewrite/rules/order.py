"""Rules about ORDER BY: the direction that the question says, or leaves to the reader."""

from __future__ import annotations

import re

from sqlglot import exp

from engine.rewrite.rule import Context, Statement

_FIRST = r"(?:\s+(?!name)\w+)?\s+first(?!\s+name)\b"

_DESCENDING = re.compile(
    r"\b(?:descending|desc|decreasing|reversed?)\b"
    rf"|\b(?:most|highest|largest|biggest|greatest|newest|latest|oldest|longest|best){_FIRST}",
    re.IGNORECASE,
)
_ASCENDING = re.compile(
    r"\b(?:ascending|asc|increasing|alphabetical(?:ly)?|alphabetic|lexicographical(?:ly)?|chronological(?:ly)?)\b"
    rf"|\b(?:least|fewest|lowest|smallest|earliest|youngest|shortest|cheapest){_FIRST}",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"\b(?:order(?:ed|ing)?|sort(?:ed|ing)?|arranged?)\b(?:\s+\w+){0,4}?\s+by\b|\bin\s+(?:the\s+|an?\s+)?order\s+of\b",
    re.IGNORECASE,
)
_SPAN = re.compile(r"\bfrom\b|\bstart(?:ing|s)?\b|\bmost\b|\w+est\b|\btop\b", re.IGNORECASE)
"""A direction in other words ("from large to small"), or a choice."""


def asked_direction(statement: Statement, context: Context) -> str | None:
    """Puts all rows in the direction that the question says: ascending where it asks for an order and says none."""
    descends = goes_against(context.question, statement.tree)
    if descends is None:
        return None
    order = statement.tree.args["order"]
    # PostgreSQL's own place of NULL, whichever was written for the other direction.
    turned = exp.Ordered(
        this=order.expressions[0].this.copy(), desc=not descends or None, nulls_first=not descends
    )
    order.set("expressions", [turned])
    return f"puts the rows in {'ascending' if descends else 'descending'} order"


def goes_against(question: str, tree: exp.Query) -> bool | None:
    """Whether all rows descend, where the question says the other direction; None where it does not."""
    order, said = tree.args.get("order"), said_direction(question)
    if said is None or order is None or tree.args.get("limit") is not None or len(order.expressions) != 1:
        return None
    descends = bool(order.expressions[0].args.get("desc"))
    return None if descends is said else descends


def said_direction(question: str) -> bool | None:
    """Whether the order that the question asks for descends; None where it asks for none, or for both."""
    descending, ascending = bool(_DESCENDING.search(question)), bool(_ASCENDING.search(question))
    if descending != ascending:
        return descending
    if descending or not _ORDER.search(question) or _SPAN.search(question):
        return None
    return False
