"""What a statement says otherwise than the question's own words do, of groups, rows and periods."""

from __future__ import annotations

from collections.abc import Iterator

from engine.linking.dimensions import dimensions_not_grouped
from engine.rewrite.rules.limits import is_unasked_limit
from engine.rewrite.rules.periods import periods_cut_short
from engine.sql.tree import parsed


def contradictions(question: str, sql: str) -> tuple[str, ...]:
    """In words, each once; none where `sql` does not parse as a query."""
    return tuple(dict.fromkeys(_found(question, sql)))


def _found(question: str, sql: str) -> Iterator[str]:
    tree = parsed(sql)
    if tree is None:
        return
    for dimension in dimensions_not_grouped(question, tree):
        yield f"gives one number for all, not for each {dimension}"
    for period in periods_cut_short(question, tree):
        yield f"reads {period.text} as one day"
    if is_unasked_limit(question, tree):
        yield "leaves out rows that are not said to be left out"
