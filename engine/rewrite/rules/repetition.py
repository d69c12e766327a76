"""Rules about rows that are shown once for each of many others, and about tables that are joined for nothing."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from sqlglot import exp

from engine.core.elements import WHOLE_TABLE
from engine.rewrite.join_tree import Branch, JoinTree, join_tree
from engine.rewrite.rule import Context, Statement
from engine.rewrite.scope import nullable
from schema_catalog.types import Table, TableKind

UNLIKELY = 0.3
"""Below this probability the schema linker is sure that a table is not meant."""

SAYS_DIFFERENT = re.compile(r"\b(?:different|distinct|unique)\b", re.IGNORECASE)
"""A question that asks for each once."""


def each_once(statement: Statement, context: Context) -> str | None:
    """DISTINCT where a row is shown once for each of many joined rows of which nothing is shown or asked."""
    joined = join_tree(statement.tree, statement.scopes)
    if joined is None or not _repeats(joined, context.question):
        return None
    statement.tree = joined.tree.distinct(copy=False)
    return "shows each row once"


def _repeats(joined: JoinTree, question: str) -> bool:
    many = _many(joined)
    return len(many) > (0 if SAYS_DIFFERENT.search(question) else len(_matched(joined, many)))


def _many(joined: JoinTree) -> list[Branch]:
    """The branches of which nothing is shown and that repeat the rows that are."""
    if joined.tree.args.get("distinct") or joined.tree.args.get("limit") or joined.aggregates():
        return []
    kept = joined.names(joined.shown())
    ends = [end for link in joined.links for end in (link.near, link.far)]
    return [branch for end in ends if (branch := joined.branch(end, kept)) is not None and branch.many]


def _matched(joined: JoinTree, many: Sequence[Branch]) -> list[Branch]:
    """Those that are tested."""
    tested = joined.names(joined.tests)
    return [branch for branch in many if tested & {read.name for read in branch.reads}]


def drop_total_join(statement: Statement, context: Context) -> str | None:
    """Removes a table of which nothing is used where the join keeps every row and repeats none.

    That is: by a foreign key that PostgreSQL enforces, over columns that are never NULL, to the key of a table of which
    everyone sees every row.
    """
    joined = join_tree(statement.tree, statement.scopes)
    if joined is None:
        return None
    for branch in _unused(joined):
        if len(branch.reads) == 1 and _total(joined, branch, context):
            statement.tree = joined.without((), branch.reads)
            return f"leaves out {branch.reads[0].name}, which changes no row"
    return None


def _total(joined: JoinTree, branch: Branch, context: Context) -> bool:
    near, far = joined.scopes.reading(branch.link.near), branch.reads[0]
    if near is None or near.table is None or far.table is None:
        return False
    plain = (TableKind.TABLE, TableKind.PARTITIONED)
    if near.table.kind not in plain or far.table.kind not in plain or far.table.key in context.secured:
        return False
    column, reference = branch.link.near.name, (*far.table.key, (branch.link.far.name,))
    return not nullable(near.table, column) and any(
        key.enforced
        and key.columns == (column,)
        and (key.ref_schema, key.ref_table, key.ref_columns) == reference
        for key in near.table.foreign_keys
    )


def drop_unasked_join(statement: Statement, context: Context) -> str | None:
    """Removes tables of which nothing is used and that the question does not name: of each query of a set operation.

    Where they repeat rows of others, only what the schema linker is sure that the question is not about.
    """
    dropped: list[str] = []
    for select in _queries(statement.tree):
        joined = join_tree(select, statement.scopes, grouped=True)
        branch = None if joined is None else next(_unasked(joined, context), None)
        if joined is not None and branch is not None:
            statement.tree = _put(statement.tree, select, joined.without((), branch.reads))
            dropped += [read.name for read in branch.reads]
    return f"leaves out {', '.join(dict.fromkeys(dropped))}" if dropped else None


def _unasked(joined: JoinTree, context: Context) -> Iterator[Branch]:
    for branch in _unused(joined, many=not _counts_rows_of_groups(joined.tree)):
        keys = [read.table.key for read in branch.reads if read.table is not None]
        unlikely = all(context.linked.get((*key, WHOLE_TABLE), 1.0) < UNLIKELY for key in keys)
        if (unlikely or not branch.many) and all(
            read.table not in context.mentioned for read in branch.reads
        ):
            yield branch


def _counts_rows_of_groups(select: exp.Select) -> bool:
    """Whether its groups' rows are counted: those of tables that repeat the others' rows are what is counted."""
    counted = (each for each in select.find_all(exp.Count) if each.parent_select is select)
    return bool(select.args.get("group")) and any(isinstance(each.this, exp.Star) for each in counted)


def sums_repeated_rows(statement: Statement, asked: Collection[Table]) -> Iterator[str]:
    """The tables but those `asked` for that repeat the rows which a SUM or AVG is made of, and give nothing else."""
    for select in statement.tree.find_all(exp.Select):
        if not any(each.parent_select is select for each in select.find_all(exp.Sum, exp.Avg)):
            continue
        joined = join_tree(select, statement.scopes, grouped=True)
        for branch in () if joined is None else _unused(joined, many=True):
            if branch.many and not any(read.table in asked for read in branch.reads):
                yield from (read.table.name for read in branch.reads if read.table is not None)


def _queries(tree: exp.Query) -> list[exp.Select]:
    """The statement, or the queries of a set operation."""
    if isinstance(tree, exp.SetOperation):
        return [
            each for side in (tree.left, tree.right) if isinstance(side, exp.Query) for each in _queries(side)
        ]
    return [tree] if isinstance(tree, exp.Select) else []


def _put(tree: exp.Query, select: exp.Select, other: exp.Select) -> exp.Query:
    """`tree` with `other` in place of its query `select`."""
    if select is tree:
        return other
    select.replace(other)
    return tree


def _unused(joined: JoinTree, *, many: bool = False) -> Iterator[Branch]:
    """Branches that nothing shown, sorted by or tested belongs to; `many`: those that repeat rows as well."""
    used = joined.names([*joined.shown(), *joined.tests])
    for link in joined.links:
        for end in (link.near, link.far):
            branch = joined.branch(end, used) if used else None
            if branch is not None and (many or not branch.many):
                yield branch
