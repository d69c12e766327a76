"""What a statement says otherwise than the question's own words do, of groups, rows and periods, or than keys do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

import structlog
from sqlglot import exp

from engine.findings.rule import Context, Doubt, On
from engine.findings.rules import DOUBTS
from engine.findings.rules.grain import without_using
from engine.findings.rules.grouping import first_by_words, own_aggregates
from engine.findings.rules.references import compared_columns
from engine.question.question import Question
from engine.statement.read import Draft, statement_of
from engine.statement.scope import Scopes, TableRef, from_parts
from engine.statement.tree import repeated_items, unwrapped
from engine.values.elements import ValueList
from engine.values.errors import for_log
from schema_catalog.implied_references import undeclared_joins
from schema_catalog.naming import dotted
from schema_catalog.types import Snapshot

_LOG = structlog.get_logger()


def contradictions(
    question: Question,
    sql: str,
    snapshot: Snapshot,
    lists: Iterable[ValueList] = (),
    *,
    by_facts: bool = False,
    off: Collection[str] = (),
) -> tuple[str, ...]:
    """In words, each once; none where `sql` does not parse as a query, or not be taken apart.

    `snapshot`: of what it may read. `lists`: of columns of few values, all of them. `by_facts`: `doubts` among them.
    `off`: rules that are switched off, and with them what they would mend.
    """
    return _said(
        sql, Context(snapshot, question, lists=tuple(lists)), set(On) if by_facts else {On.QUESTION}, off
    )


def doubts(question: Question, sql: str, snapshot: Snapshot, off: Collection[str] = ()) -> tuple[str, ...]:
    """What rests on the schema and the calendar."""
    return _said(sql, Context(snapshot, question), {On.CALENDAR, On.KEYS}, off)


def remarks(sql: str, snapshot: Snapshot, off: Collection[str] = ()) -> tuple[str, ...]:
    """What keys and types alone say of a statement, whatever was asked."""
    return _said(sql, Context(snapshot), {On.KEYS}, off)


def _said(sql: str, context: Context, on: Collection[On], off: Collection[str]) -> tuple[str, ...]:
    of_rules = [each for name, each in DOUBTS.items() if name not in off]
    asked = [each.says for each in (*of_rules, *ALONE) if each.on in on]
    return said_of(
        lambda statement: (said for says in asked for said in says(statement, context)), sql, context.snapshot
    )


def said_of(found: Callable[[Draft], Iterator[str]], sql: str, snapshot: Snapshot) -> tuple[str, ...]:
    """What `found` says of a statement, each once; none where it does not parse as a query, or not be taken apart."""
    try:
        apart = statement_of(sql, snapshot).apart
        return () if apart is None else tuple(dict.fromkeys(found(apart)))
    except Exception as error:  # noqa: BLE001 - what cannot be taken apart is not doubted, and costs no question
        _LOG.warning("contradictions_failed", error=for_log(error))
        return ()


def _parts_of_themselves(statement: Draft, _context: Context) -> Iterator[str]:
    for quotient in statement.tree.find_all(exp.Div):
        part = [
            each for each in quotient.left.find_all(exp.AggFunc) if not isinstance(each.parent, exp.Filter)
        ]
        if part == [unwrapped(quotient.right)]:
            yield "divides a number by itself"


def _groups_of_one_row(statement: Draft, _context: Context) -> Iterator[str]:
    for select in statement.tree.find_all(exp.Select):
        if single := _single_row_groups(select, statement.scopes):
            yield f"counts groups of one row of {', '.join(single)}"


def _shown_twice(statement: Draft, _context: Context) -> Iterator[str]:
    if repeated := repeated_items(statement.tree):
        yield f"shows {repeated[0].sql(dialect='postgres')} twice"


def _aggregated_groups(statement: Draft, _context: Context) -> Iterator[str]:
    """In words, the columns that are grouped by and averaged, added up or the extreme of: each is the column itself."""
    place = statement.scopes.place
    for select in statement.tree.find_all(exp.Select):
        group = select.args.get("group")
        grouped = {place(each) for each in (group.expressions if group is not None else ())} - {None}
        for taken in select.find_all(exp.Avg, exp.Sum, exp.Max, exp.Min) if grouped else ():
            if taken.parent_select is select and place(taken.this) in grouped:
                yield f"aggregates {taken.this.name}, by which it groups"


def _single_row_groups(select: exp.Select, scopes: Scopes) -> list[str]:
    """The tables of which each group that COUNT counts is one row; none where groups may have more."""
    group = select.args.get("group")
    reads = scopes.reads[id(select)]
    counts = any(isinstance(each, exp.Count) for each in own_aggregates(select, select))
    if group is None or any(read.table is None for read in reads) or not counts:
        return []
    given = {place for each in group.expressions if (place := scopes.place(each)) is not None}
    equal = list(_equalities(select, scopes))
    single: set[str] = set()
    while new := [read for read in reads if read.name not in single and _keyed(read, given)]:
        for read in new:
            single.add(read.name)
            given |= {(read.name, column.name) for column in read.table.columns} if read.table else set()
        given |= {end for pair in equal for end in pair if pair[0] in given or pair[1] in given}
    if any(read.name not in single for read in reads):
        return []
    return list(dict.fromkeys(read.table.name for read in reads if read.table is not None))


def _keyed(read: TableRef, given: set[tuple[str, str]]) -> bool:
    key = read.table.primary_key if read.table is not None else ()
    return bool(key) and all((read.name, column) in given for column in key)


def _equalities(select: exp.Select, scopes: Scopes) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Pairs of (name, column) that inner joins set equal."""
    for join in from_parts(select)[1:]:
        condition = join.args.get("on")
        if join.args.get("side") or condition is None:
            continue
        for equal in condition.find_all(exp.EQ):
            ends = (equal.left, equal.right)
            found = [place for end in ends if (place := scopes.place(end)) is not None]
            if len(found) == 2:  # noqa: PLR2004  both sides
                yield found[0], found[1]


def undeclared(statement: Draft) -> Iterator[str]:
    """The joins of a statement that are likely, and that nobody declared."""
    known = undeclared_joins(statement.scopes.snapshot)
    for one, other in dict.fromkeys(compared_columns(without_using(statement))):
        if (one, other) in known or (other, one) in known:
            names = one[2] if one[2] == other[2] else f"{dotted(one[1:])} = {dotted(other[1:])}"
            yield f"joined by {names}, which nobody declared"


ALONE = (
    *(Doubt(_aggregated_groups), Doubt(_parts_of_themselves), Doubt(_groups_of_one_row)),
    *(Doubt(_shown_twice), Doubt(first_by_words)),
)
"""What no rule mends."""
