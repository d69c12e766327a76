"""What a statement says otherwise than the question's own words do, of groups, rows and periods, or than keys do."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import date

import structlog
from sqlglot import exp

from engine.findings.rule import Statement
from engine.findings.rules.coverage import periods_missed
from engine.findings.rules.grain import repeated_sums, without_using
from engine.findings.rules.grouping import first_by_words, is_unasked_limit, own_aggregates
from engine.findings.rules.labels import hides_groups
from engine.findings.rules.periods import periods_cut_short
from engine.findings.rules.references import compared_columns, refer
from engine.findings.rules.repetition import denies_one_of_many, sums_repeated_rows
from engine.findings.rules.sums import whole_divisions
from engine.question.dimensions import dimensions_not_grouped, dimensions_not_parted
from engine.statement.scope import Scopes, TableRef, from_parts
from engine.statement.tree import parsed, repeated_items, unwrapped
from engine.values.elements import ValueList
from engine.values.errors import for_log
from schema_catalog.foreign_keys import foreign_key_graph
from schema_catalog.implied_references import undeclared_joins
from schema_catalog.naming import dotted
from schema_catalog.types import ColumnKey, Snapshot, Table

_MEDIAN = re.compile(r"\bmedian\b", re.IGNORECASE)
_MEDIANS = (exp.PercentileCont, exp.PercentileDisc)

_LOG = structlog.get_logger()


def contradictions(
    question: str,
    sql: str,
    snapshot: Snapshot,
    asked: Collection[Table] = (),
    lists: Iterable[ValueList] = (),
    *,
    today: date | None = None,
) -> tuple[str, ...]:
    """In words, each once; none where `sql` does not parse as a query, or not be taken apart.

    `snapshot`: of what it may read. `asked`: the tables that the question names.
    `lists`: of columns of few values, all of them. `today`: the day on which it is asked; None leaves out `doubts`.
    """

    def found(statement: Statement) -> Iterator[str]:
        yield from _of_groups(question, statement)
        yield from _of_rows(question, statement, lists)
        if today is not None:
            yield from _of_facts(question, statement, today)
        yield from _of_many(statement, asked)
        yield from _of_references(statement)

    return said_of(found, sql, snapshot)


def doubts(question: str, sql: str, snapshot: Snapshot, *, today: date) -> tuple[str, ...]:
    """What rests on the schema and the calendar. `today`: the day on which it is asked."""
    return said_of(lambda statement: _of_facts(question, statement, today), sql, snapshot)


def remarks(sql: str, snapshot: Snapshot) -> tuple[str, ...]:
    """What keys and types alone say of a statement, whatever was asked."""
    return said_of(_of_keys, sql, snapshot)


def said_of(found: Callable[[Statement], Iterator[str]], sql: str, snapshot: Snapshot) -> tuple[str, ...]:
    """What `found` says of a statement, each once; none where it does not parse as a query, or not be taken apart."""
    tree = parsed(sql)
    if tree is None:
        return ()
    try:
        return tuple(dict.fromkeys(found(Statement(tree, snapshot))))
    except Exception as error:  # noqa: BLE001 - what cannot be taken apart is not doubted, and costs no question
        _LOG.warning("contradictions_failed", error=for_log(error))
        return ()


def _of_facts(question: str, statement: Statement, today: date) -> Iterator[str]:
    yield from periods_missed(statement, question, today)
    yield from _of_keys(statement)
    if _MEDIAN.search(question) and statement.tree.find(exp.Avg) and not statement.tree.find(*_MEDIANS):
        yield "takes the average, not the median"


def _of_keys(statement: Statement) -> Iterator[str]:
    yield from repeated_sums(statement)
    if next(whole_divisions(statement), None) is not None:
        yield "divides whole numbers, without what is behind the point"


def _of_groups(question: str, statement: Statement) -> Iterator[str]:
    for dimension in dimensions_not_grouped(question, statement.tree):
        yield f"gives one number for all, not for each {dimension}"
    for each in dimensions_not_parted(question, statement.tree):
        yield f"does not take the first of each {each.text}"
    if hides_groups(statement):
        yield "gives numbers of groups, and not which group"
    for name in _aggregated_groups(statement):
        yield f"aggregates {name}, by which it groups"
    for quotient in statement.tree.find_all(exp.Div):
        part = [
            each for each in quotient.left.find_all(exp.AggFunc) if not isinstance(each.parent, exp.Filter)
        ]
        if part == [unwrapped(quotient.right)]:
            yield "divides a number by itself"
    for select in statement.tree.find_all(exp.Select):
        if single := _single_row_groups(select, statement.scopes):
            yield f"counts groups of one row of {', '.join(single)}"


def _of_rows(question: str, statement: Statement, lists: Iterable[ValueList]) -> Iterator[str]:
    if repeated := repeated_items(statement.tree):
        yield f"shows {repeated[0].sql(dialect='postgres')} twice"
    for period in periods_cut_short(question, statement.tree):
        yield f"reads {period.text} as one day"
    if is_unasked_limit(question, statement.tree):
        yield "leaves out rows that are not said to be left out"
    for name in first_by_words(question, statement, lists):
        yield f"takes the first by {name}, which holds words"
    if denies_one_of_many(statement, question):
        yield "takes what has one that is not, not what has none that is"


def _of_many(statement: Statement, asked: Collection[Table]) -> Iterator[str]:
    for name in sums_repeated_rows(statement, asked):
        yield f"adds rows up once for each row of {name}"


def _of_references(statement: Statement) -> Iterator[str]:
    for column, stranger, meant in _strangers_compared(statement):
        names = (f"{table}.{name}" for _, table, name in (column, stranger, meant))
        yield "compares {} with {}, and it refers to {}".format(*names)


def _aggregated_groups(statement: Statement) -> Iterator[str]:
    """The columns that a statement groups by and takes the average, sum or extreme of, which is the column itself."""
    place = statement.scopes.place
    for select in statement.tree.find_all(exp.Select):
        group = select.args.get("group")
        grouped = {place(each) for each in (group.expressions if group is not None else ())} - {None}
        for taken in select.find_all(exp.Avg, exp.Sum, exp.Max, exp.Min) if grouped else ():
            if taken.parent_select is select and place(taken.this) in grouped:
                yield taken.this.name


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


def undeclared(statement: Statement) -> Iterator[str]:
    """The joins of a statement that are likely, and that nobody declared."""
    known = undeclared_joins(statement.scopes.snapshot)
    for one, other in dict.fromkeys(compared_columns(without_using(statement))):
        if (one, other) in known or (other, one) in known:
            names = one[2] if one[2] == other[2] else f"{dotted(one[1:])} = {dotted(other[1:])}"
            yield f"joined by {names}, which nobody declared"


def _strangers_compared(statement: Statement) -> Iterator[tuple[ColumnKey, ColumnKey, ColumnKey]]:
    """Columns that are compared, one of them a reference to something else, which is the third; names apart.

    By declared foreign keys alone. Not columns of one name: a reference may be declared to one of several tables.
    """
    references = foreign_key_graph(statement.scopes.snapshot)
    for one, other in compared_columns(statement):
        if one[2] == other[2] or refer(one, other, references):
            continue
        for column, stranger in ((one, other), (other, one)):
            if (meant := references.root(column)) != column:
                yield column, stranger, meant
                break
