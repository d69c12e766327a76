"""What a statement says otherwise than the question's own words do, of groups, rows and periods, or than keys do."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import structlog
from sqlglot import exp

from engine.core.elements import ValueList
from engine.errors import for_log
from engine.linking.dimensions import dimensions_not_grouped, dimensions_not_parted
from engine.rewrite.rule import Statement
from engine.rewrite.rules.aggregates import aggregated_groups, aggregates_not_taken
from engine.rewrite.rules.bounds import bounds_missed
from engine.rewrite.rules.grouping import counted_measures, hides_groups, single_row_groups
from engine.rewrite.rules.limits import first_by_words, is_unasked_limit
from engine.rewrite.rules.order import goes_against
from engine.rewrite.rules.periods import periods_cut_short
from engine.rewrite.rules.quantifiers import denies_one_of_many, takes_either_of_both
from engine.rewrite.rules.references import strangers_compared
from engine.rewrite.rules.repeats import repeated_items
from engine.rewrite.rules.repetition import sums_repeated_rows
from engine.rewrite.rules.shares import divided_by_itself
from engine.sql.tree import parsed
from schema_catalog.types import Snapshot, Table

_LOG = structlog.get_logger()


def contradictions(
    question: str,
    sql: str,
    snapshot: Snapshot,
    asked: Collection[Table] = (),
    lists: Iterable[ValueList] = (),
) -> tuple[str, ...]:
    """In words, each once; none where `sql` does not parse as a query, or not be taken apart.

    `snapshot`: of what it may read. `asked`: the tables that the question names.
    `lists`: of columns of few values, all of them.
    """
    tree = parsed(sql)
    if tree is None:
        return ()
    try:
        statement = Statement(tree, snapshot)
        found = (
            *_of_groups(question, statement),
            *_of_rows(question, statement, lists),
            *_of_many(statement, asked),
            *_of_references(statement),
        )
    except Exception as error:  # noqa: BLE001 - what cannot be taken apart is not doubted, and costs no question
        _LOG.warning("contradictions_failed", error=for_log(error))
        return ()
    return tuple(dict.fromkeys(found))


def _of_groups(question: str, statement: Statement) -> Iterator[str]:
    for dimension in dimensions_not_grouped(question, statement.tree):
        yield f"gives one number for all, not for each {dimension}"
    for each in dimensions_not_parted(question, statement.tree):
        yield f"does not take the first of each {each.text}"
    if hides_groups(statement):
        yield "gives numbers of groups, and not which group"
    for _, name in counted_measures(statement):
        yield f"counts how often {name} is known"
    for aggregate in aggregates_not_taken(question, statement):
        yield f"takes no {aggregate.name}"
    for name in aggregated_groups(statement):
        yield f"aggregates {name}, by which it groups"
    if divided_by_itself(statement):
        yield "divides a number by itself"
    for select in statement.tree.find_all(exp.Select):
        if single := single_row_groups(select, statement.scopes):
            yield f"counts groups of one row of {', '.join(single)}"


def _of_rows(question: str, statement: Statement, lists: Iterable[ValueList]) -> Iterator[str]:
    if repeated := repeated_items(statement.tree):
        yield f"shows {repeated[0].sql(dialect='postgres')} twice"
    for missed in bounds_missed(question, statement.tree):
        yield f"compares with {missed.number} otherwise than is said"
    for period in periods_cut_short(question, statement.tree):
        yield f"reads {period.text} as one day"
    if is_unasked_limit(question, statement.tree):
        yield "leaves out rows that are not said to be left out"
    if goes_against(question, statement.tree) is not None:
        yield "puts the rows in the other order than is said"
    for name in first_by_words(question, statement, lists):
        yield f"takes the first by {name}, which holds words"
    if takes_either_of_both(statement, question):
        yield "takes what has either, not what has both"
    if denies_one_of_many(statement, question):
        yield "takes what has one that is not, not what has none that is"


def _of_many(statement: Statement, asked: Collection[Table]) -> Iterator[str]:
    for name in sums_repeated_rows(statement, asked):
        yield f"adds rows up once for each row of {name}"


def _of_references(statement: Statement) -> Iterator[str]:
    for column, stranger, meant in strangers_compared(statement):
        names = (f"{table}.{name}" for _, table, name in (column, stranger, meant))
        yield "compares {} with {}, and it refers to {}".format(*names)
