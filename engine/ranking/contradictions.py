"""What a statement says otherwise than the question's own words do, of groups, rows and periods."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sqlglot import exp

from engine.linking.dimensions import dimensions_not_grouped
from engine.rewrite.rule import Statement
from engine.rewrite.rules.grouping import single_row_groups
from engine.rewrite.rules.limits import is_unasked_limit
from engine.rewrite.rules.periods import periods_cut_short
from engine.rewrite.rules.quantifiers import denies_one_of_many, takes_either_of_both
from engine.rewrite.rules.repetition import sums_repeated_rows
from engine.sql.tree import parsed
from schema_catalog.types import Snapshot, Table


def contradictions(
    question: str, sql: str, snapshot: Snapshot, asked: Collection[Table] = ()
) -> tuple[str, ...]:
    """In words, each once; none where `sql` does not parse as a query.

    `snapshot`: of what it may read. `asked`: the tables that the question names.
    """
    return tuple(dict.fromkeys(_found(question, sql, snapshot, asked)))


def _found(question: str, sql: str, snapshot: Snapshot, asked: Collection[Table]) -> Iterator[str]:
    tree = parsed(sql)
    if tree is None:
        return
    for dimension in dimensions_not_grouped(question, tree):
        yield f"gives one number for all, not for each {dimension}"
    for period in periods_cut_short(question, tree):
        yield f"reads {period.text} as one day"
    if is_unasked_limit(question, tree):
        yield "leaves out rows that are not said to be left out"
    statement = Statement(tree, snapshot)
    if takes_either_of_both(statement, question):
        yield "takes what has either, not what has both"
    if denies_one_of_many(statement, question):
        yield "takes what has one that is not, not what has none that is"
    for select in statement.tree.find_all(exp.Select):
        if single := single_row_groups(select, statement.scopes):
            yield f"counts groups of one row of {', '.join(single)}"
    for name in sums_repeated_rows(statement, asked):
        yield f"adds rows up once for each row of {name}"
