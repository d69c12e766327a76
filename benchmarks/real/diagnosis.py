"""In what a wrong statement differs from the gold nearest to it, by comparing their syntax trees.

It tells failures apart for reading, and decides nothing: two statements may differ in a way that changes no row.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from benchmarks.quality.ablations.results import Outcome
from benchmarks.real.questions import RealQuestion


class Fault(StrEnum):
    """Why a question failed; of several the first in this order."""

    UNANSWERED = "no statement"
    NOT_FIRST = "right, but not first"
    UNPARSED = "not understood by the parser"
    TABLE_MISSING = "a table is missing"
    TABLE_MORE = "a table too many"
    VALUE = "another value"
    NUMBER = "another number or date"
    AGGREGATE = "another aggregate, or none"
    GROUPING = "another grouping"
    CONDITION = "other columns in conditions, joins or order"
    SHOWN = "other columns are shown"
    STRUCTURE = "another structure"


@dataclass(frozen=True, slots=True)
class _Parts:
    """What of a statement is compared; names without their tables."""

    tables: frozenset[str]
    texts: frozenset[str]
    numbers: frozenset[str]
    aggregates: frozenset[str]
    groups: frozenset[str]
    elsewhere: frozenset[str]
    """Columns outside the outermost SELECT list and GROUP BY."""
    shown: tuple[str, ...]

    def differing(self, gold: _Parts) -> list[Fault]:
        """In the order of `Fault`."""
        found = {
            Fault.TABLE_MISSING: gold.tables - self.tables,
            Fault.TABLE_MORE: self.tables - gold.tables,
            Fault.VALUE: self.texts ^ gold.texts,
            Fault.NUMBER: self.numbers ^ gold.numbers,
            Fault.AGGREGATE: self.aggregates ^ gold.aggregates,
            Fault.GROUPING: self.groups ^ gold.groups,
            Fault.CONDITION: self.elsewhere ^ gold.elsewhere,
            Fault.SHOWN: set(self.shown) ^ set(gold.shown),
        }
        return [fault for fault, names in found.items() if names]


def fault(question: RealQuestion, outcome: Outcome) -> Fault:
    """Why a question failed whose first statement is not right."""
    if outcome.found:
        return Fault.NOT_FIRST
    if not outcome.statements:
        return Fault.UNANSWERED
    try:
        written = _parts(outcome.statements[0])
    except SqlglotError:
        return Fault.UNPARSED
    nearest = min((written.differing(_parts(gold)) for gold in question.gold), key=len)
    return nearest[0] if nearest else Fault.STRUCTURE


def _parts(sql: str) -> _Parts:
    tree = sqlglot.parse_one(sql, read="postgres")
    for column in tree.find_all(exp.Column):
        column.set("table", None)
    outer = tree.find(exp.Select)
    shown = outer.expressions if outer is not None else []
    grouped = {each.sql() for group in tree.find_all(exp.Group) for each in group.expressions}
    here = {id(column) for each in shown for column in each.find_all(exp.Column)}
    here |= {id(column) for group in tree.find_all(exp.Group) for column in group.find_all(exp.Column)}
    named = {each.alias for each in tree.find_all(exp.CTE)}
    literals = list(tree.find_all(exp.Literal))
    return _Parts(
        frozenset(each.name for each in tree.find_all(exp.Table)) - named,
        frozenset(each.name.lower() for each in literals if each.is_string and not _dated(each.name)),
        frozenset(each.name for each in literals if not each.is_string or _dated(each.name)),
        frozenset(each.key for each in tree.find_all(exp.AggFunc)),
        frozenset(grouped),
        frozenset(each.name for each in tree.find_all(exp.Column) if id(each) not in here),
        tuple(each.unalias().sql() for each in shown),
    )


def _dated(text: str) -> bool:
    return text[:4].isdecimal() and text[4:5] == "-"
