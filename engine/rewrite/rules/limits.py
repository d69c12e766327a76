"""Rules about LIMIT: rows that are left out although the question asks for all, or by an order that says nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sqlglot import exp

from engine.core.elements import ValueList
from engine.rewrite.rule import Context, Statement

_FEW = re.compile(
    r"\b(?:most|least|fewest|more|less|\w+st|best|worst|top|maximum|minimum|max|min|one|single|any|majority|mostly|mainly|chiefly|primarily|predominantly|leader|winner)\b",
    re.IGNORECASE,
)
"""Without one of these, or a number, no question asks for a few rows."""

_SORTED = re.compile(
    r"\b(?:ascending|descending|alphabetical(?:ly)?|(?:ordered|sorted|arranged|ranked|order|sort)\ (?:\w+\ ){0,3}?by"
    r"|(?:most|least|fewest|best|worst|newest|oldest|latest|earliest|cheapest|(?:high|low|larg|small|bigg|long|short)est)"
    r"\ first(?!\ name))\b",
    re.IGNORECASE,
)
"""The words of an order for all rows."""

_NUMBER = re.compile(r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|dozen)\b", re.IGNORECASE)

_DIGIT = re.compile(r"\d").search


def drop_unasked_limit(statement: Statement, context: Context) -> str | None:
    """Shows all rows of a statement with a LIMIT that the question does not ask for."""
    if not is_unasked_limit(context.question, statement.tree):
        return None
    statement.tree.set("limit", None)
    return "shows all rows"


def is_unasked_limit(question: str, tree: exp.Query) -> bool:
    """Whether `tree` has a LIMIT though `question` asks for all rows."""
    return isinstance(tree.args.get("limit"), exp.Limit) and asks_for_all(question)


def asks_for_all(question: str) -> bool:
    """Whether it speaks of an order for all rows, or of no choice among them."""
    if _NUMBER.search(question):
        return False
    return not _FEW.search(question) or bool(_SORTED.search(question))


def first_by_words(question: str, statement: Statement, lists: Iterable[ValueList]) -> Iterator[str]:
    """Columns that hold no digit, by whose order rows are left out: the last of names is not the greatest.

    A question that speaks of an order may mean that of names. `lists`: of columns of few values, all of them.
    """
    if _SORTED.search(question):
        return
    words = {each.column for each in lists if each.values and not any(map(_DIGIT, each.values))}
    for select in statement.tree.find_all(exp.Select):
        if not isinstance(select.args.get("limit"), exp.Limit) or select.args.get("order") is None:
            continue
        first = select.args["order"].expressions[0].this
        read = statement.scopes.reading(first) if isinstance(first, exp.Column) else None
        if read is not None and read.table is not None and (*read.table.key, first.name) in words:
            yield first.name
