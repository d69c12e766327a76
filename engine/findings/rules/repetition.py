"""Rules about one row and many: "not", rows that are shown several times, and tables joined for nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from engine.findings.lint import Context
from engine.statement.read import Draft
from engine.statement.scope import (
    Branch,
    JoinTree,
    TableRef,
    identifier,
    join_tree,
    nullable,
    without_tests,
)
from engine.values import wording
from engine.values.elements import WHOLE_TABLE
from schema_catalog.types import TableKind


def none_of_them(statement: Draft, context: Context) -> str | None:
    """`JOIN pets … WHERE kind <> 'cat'` as `NOT IN (SELECT … WHERE kind = 'cat')`: not one of a student's pets is.

    With `kind = 'dog'` beside it, which says all of one row already, the pets stay joined as well.
    """
    word = context.question.denial
    joined = join_tree(statement.tree, statement.scopes)
    if word is None or joined is None:
        return None
    for denial in _denials(joined):
        other = _excluded(joined, denial) or _excluded_values(joined, denial)
        if other is not None:
            statement.tree = other
            return wording.NONE_OF_THEM.format(word[0])
    return None


def one_denied(statement: Draft, context: Context) -> Iterator[str]:
    """In words, that one of many joined rows is tested for what the question denies: another one of them will do."""
    joined = join_tree(statement.tree, statement.scopes) if context.question.denial else None
    if joined is not None and any(_excluded(joined, denial) is not None for denial in _denials(joined)):
        yield wording.ONE_OF_THEM


@dataclass(frozen=True, slots=True)
class _Denial:
    """Parts of WHERE that deny something: the first column that they speak of, and what all of them deny."""

    tests: list[exp.Expr]
    column: exp.Column
    denied: exp.Expr

    @staticmethod
    def of(parts: Sequence[_Denial]) -> _Denial:
        """All of `parts` as one."""
        tests = [test for part in parts for test in part.tests]
        return _Denial(tests, parts[0].column, exp.and_(*(part.denied for part in parts)))


def _denials(joined: JoinTree) -> Iterator[_Denial]:
    """The parts of WHERE that deny something: those of the first one's tables together, then each alone."""
    alone = [denial for test in joined.tests if (denial := _denial(test, joined)) is not None]
    tables = [joined.names(denial.tests) for denial in alone]
    together = [denial for denial, names in zip(alone, tables, strict=True) if names == tables[0]]
    if len(together) > 1:
        yield _Denial.of(together)
    yield from alone


def _excluded(joined: JoinTree, denial: _Denial) -> exp.Query | None:
    others = without_tests(joined.tests, denial.tests)
    equal = any(isinstance(each, exp.EQ) and each.this == denial.column for each in others)
    kept = joined.names([*joined.shown(), *([] if equal else others)]) or {joined.reads[0].name}
    branch = joined.branch(denial.column, kept)
    if branch is None or not branch.many:
        return None
    inside = joined.over(branch.reads, [branch.link.far]).where(denial.denied)
    outside = joined.without(denial.tests, [] if equal else branch.reads)
    return outside.where(exp.In(this=branch.link.near.copy(), query=exp.Subquery(this=inside)).not_())


def _excluded_values(joined: JoinTree, denial: _Denial) -> exp.Query | None:
    """Where one column is shown that many rows of the tested table share: its values that no denied row has."""
    items, column = joined.tree.expressions, denial.column
    shown = items[0].unalias() if len(items) == 1 else None
    read = joined.scopes.reading(column)
    if not isinstance(shown, exp.Column) or read is None or read.table is None:
        return None
    if joined.scopes.reading(shown) is not read or {shown.name, column.name} & {*read.table.primary_key}:
        return None
    if shown == column:
        return None
    inside = joined.over([read], [shown]).where(denial.denied)
    outside = joined.without(denial.tests, []).distinct(copy=False)
    return outside.where(exp.In(this=shown.copy(), query=exp.Subquery(this=inside)).not_())


def _denial(given: exp.Expr, joined: JoinTree) -> _Denial | None:
    """Of `c <> …`, `NOT c LIKE …` and `NOT c IN (…)`; None for another part of WHERE.

    A query in it may read no table of the statement around it. Rows without a value may be taken as well.
    """
    either = given.unnest()
    test = either.right if isinstance(either, exp.Or) and isinstance(either.left, exp.Is) else given
    if isinstance(test, exp.NEQ | exp.NullSafeNEQ):
        positive: exp.Expr = exp.EQ(this=test.this.copy(), expression=test.expression.copy())
    elif isinstance(test, exp.Not) and isinstance(test.this, exp.EQ | exp.Like | exp.ILike | exp.In):
        positive = test.this.copy()
    elif isinstance(test, exp.Like | exp.ILike) and test.args.get("negate"):
        positive = test.copy()
        positive.set("negate", None)
    else:
        return None
    column = (test.this if isinstance(test, exp.Not) else test).this
    around = [joined.scopes.reading(each) for each in test.find_all(exp.Column) if each is not column]
    if not isinstance(column, exp.Column) or any(read is None or read in joined.reads for read in around):
        return None
    return _Denial([given], column, positive)


UNLIKELY = 0.3
"""Below this probability the schema linker is sure that a table is not meant."""

_CHOSEN = ("distinct", "group", "having", "limit", "offset", "fetch")
"""Parts of a statement that shows other rows than those which it reads."""


def each_once(statement: Draft, _context: Context) -> str | None:
    """DISTINCT where a row is shown once for each of many joined rows of which nothing is shown."""
    joined = join_tree(statement.tree, statement.scopes)
    if joined is None or not _repeats(joined):
        return None
    statement.tree = joined.tree.distinct(copy=False)
    return wording.EACH_ROW_ONCE


def rows_once(statement: Draft, _context: Context) -> str | None:
    """DISTINCT for rows as they are, where nothing is chosen or counted of them that DISTINCT would not leave."""
    select = statement.tree
    if not isinstance(select, exp.Select) or any(select.args.get(part) for part in _CHOSEN):
        return None
    shown = [each.unalias() for each in select.expressions]
    names = [exp.column(identifier(name)) for name in select.named_selects if name]
    order = select.args.get("order")
    sorted_by = [each.this for each in order.expressions] if order else []
    if any(each.find(exp.AggFunc, exp.Window) for each in shown) or any(
        each not in (*shown, *names) for each in sorted_by
    ):
        return None
    statement.tree = select.distinct(copy=False)
    return wording.REPEATED_ONCE


def _repeats(joined: JoinTree) -> bool:
    """Whether tables of which nothing is shown repeat the rows that are."""
    if joined.tree.args.get("distinct") or joined.tree.args.get("limit") or joined.aggregates():
        return False
    kept = joined.names(joined.shown())
    branches = (joined.branch(end, kept) for link in joined.links for end in (link.near, link.far))
    return any(branch is not None and branch.many for branch in branches)


def drop_total_join(statement: Draft, context: Context) -> str | None:
    """Removes an unused table where an enforced key over columns that are never NULL keeps and repeats no row."""
    joined = join_tree(statement.tree, statement.scopes)
    if joined is None:
        return None
    for branch in _unused(joined):
        if len(branch.reads) == 1 and _total(joined, branch, context):
            statement.tree = joined.without((), branch.reads)
            return wording.LEAVES_OUT_SAFELY.format(_called(branch.reads[0]))
    return None


def _called(read: TableRef) -> str:
    """A table's name: nobody knows an alias that a model gave."""
    return read.name if read.table is None else read.table.name


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


def drop_unasked_join(statement: Draft, context: Context) -> str | None:
    """Removes tables that are neither used nor named; those that repeat rows only where the linker is sure."""
    dropped: list[str] = []
    for select in _queries(statement.tree):
        joined = join_tree(select, statement.scopes, grouped=True)
        branch = None if joined is None else next(_unasked(joined, context), None)
        if joined is not None and branch is not None:
            statement.tree = _put(statement.tree, select, joined.without((), branch.reads))
            dropped += map(_called, branch.reads)
    return wording.of(wording.LEAVES_OUT, dropped)


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


def sums_repeated_rows(statement: Draft, context: Context) -> Iterator[str]:
    """In words, the tables that nobody named, repeat the rows which a SUM or AVG is made of, and give nothing else."""
    for select in statement.tree.find_all(exp.Select):
        if not any(each.parent_select is select for each in select.find_all(exp.Sum, exp.Avg)):
            continue
        joined = join_tree(select, statement.scopes, grouped=True)
        for branch in () if joined is None else _unused(joined, many=True):
            tables = [read.table for read in branch.reads if read.table is not None]
            if branch.many and not any(table in context.mentioned for table in tables):
                yield from (wording.ADDS_REPEATEDLY.format("rows", table.name) for table in tables)


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
