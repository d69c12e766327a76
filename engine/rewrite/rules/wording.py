"""What the words of a question settle about a statement that the model got wrong.

Owns four of them. "Not", where what is excluded is one of many: students without a cat are not those who own another
pet. "Both … and", where no one row can be both. "Different", and what is shown once for each of many rows of which
nothing else is asked: students who have pets. And a table that is joined although nothing is said of it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from sqlglot import exp

from engine.rewrite.join_tree import SORTING, JoinTree, conjuncts, join_tree
from engine.rewrite.scope import Scopes, parsed
from schema_catalog.types import Snapshot, Table

_NEGATION = re.compile(
    r"\b(?:not|no|never|without|none|neither|nor|except|excluding)\b|n['\u2019]t\b", re.IGNORECASE
)
_BOTH = re.compile(r"\bboth\b", re.IGNORECASE)
_AND = re.compile(r"\band\b", re.IGNORECASE)
_OR = re.compile(r"\bor\b", re.IGNORECASE)
_DIFFERENT = re.compile(r"\b(?:different|distinct|unique)\b", re.IGNORECASE)
_MORE = ("group", "having", "windows", "qualify", "with_", "with")
_TWO = 2


def reworded(sql: str, question: str, snapshot: Snapshot, asked: Collection[Table]) -> str | None:
    """`sql` as "not", "both" and "different" have it; None where they leave it as it is.

    `asked`: the tables that `question` names (`engine.linking.mentions`).
    """
    tree = parsed(sql)
    if not isinstance(tree, exp.Select) or any(tree.args.get(each) for each in _MORE):
        return None
    joined = join_tree(tree, Scopes(tree, snapshot))
    if joined is None:
        return None
    other = (
        _shared(joined, question)
        or (_excluded(joined) if _NEGATION.search(question) else None)
        or (_once(joined) if _repeats(joined, question) else None)
        or _without_idle(joined, asked)
    )
    return None if other is None else other.sql(dialect="postgres")


def _repeats(joined: JoinTree, question: str) -> bool:
    """Whether a row is shown for each of many that are joined to it, which the question does not want."""
    if joined.tree.args.get("distinct") or joined.tree.args.get("limit") or _aggregates(joined.tree):
        return False
    kept, tested = joined.names(joined.shown()), joined.names(joined.tests)
    ends = [end for link in joined.links for end in (link.near, link.far)]
    many = [branch for end in ends if (branch := joined.branch(end, kept)) is not None and branch.many]
    if _DIFFERENT.search(question):
        return bool(many)
    return any(not tested & {read.name for read in branch.reads} for branch in many)


def _once(joined: JoinTree) -> exp.Query:
    return joined.tree.copy().distinct()


def _without_idle(joined: JoinTree, asked: Collection[Table]) -> exp.Query | None:
    """Less a table that is joined, one row to a row, for nothing, unless it is asked for."""
    used = joined.names([*joined.shown(), *joined.tests])
    for link in joined.links:
        for end in (link.near, link.far):
            branch = joined.branch(end, used) if used else None
            if branch is None or branch.many:
                continue
            if all(read.table not in asked for read in branch.reads):
                return joined.without(None, branch.reads)
    return None


def _aggregates(select: exp.Select) -> bool:
    return any(item.find(exp.AggFunc) for item in select.expressions)


def _excluded(joined: JoinTree) -> exp.Query | None:
    """`JOIN pets … WHERE kind <> 'cat'` as `NOT IN (SELECT … WHERE kind = 'cat')`.

    With `kind = 'dog'` beside it, which says all of one row already, the pets stay joined as well.
    """
    for test in joined.tests:
        column, opposite = _opposite(test)
        if column is None or opposite is None:
            continue
        others = [each for each in joined.tests if each is not test]
        equal = any(isinstance(each, exp.EQ) and each.this == column for each in others)
        kept = joined.names([*joined.shown(), *([] if equal else others)]) or {joined.reads[0].name}
        branch = joined.branch(column, kept)
        if branch is None or not branch.many:
            continue
        inside = joined.over(branch.reads, [branch.link.far]).where(opposite)
        outside = joined.without(test, [] if equal else branch.reads)
        return outside.where(exp.In(this=branch.link.near.copy(), query=exp.Subquery(this=inside)).not_())
    return None


def _opposite(test: exp.Expr) -> tuple[exp.Column | None, exp.Expr | None]:
    """The column and the positive form of `c <> …`, `NOT c LIKE …` and `NOT c IN (…)` over values; else Nones."""
    if isinstance(test, exp.NEQ):
        positive: exp.Expr = exp.EQ(this=test.this.copy(), expression=test.expression.copy())
    elif isinstance(test, exp.Not) and isinstance(test.this, exp.EQ | exp.Like | exp.ILike | exp.In):
        positive = test.this.copy()
    else:
        return None, None
    column = positive.this
    if (
        not isinstance(column, exp.Column)
        or len(list(test.find_all(exp.Column))) > 1
        or test.find(exp.Select)
    ):
        return None, None
    return test.find(exp.Column), positive


def _shared(joined: JoinTree, question: str) -> exp.Query | None:
    """`c IN ('a', 'b')`, or both at once, as the one query's rows that are the other's too."""
    if any(joined.tree.args.get(name) for name in SORTING) or _aggregates(joined.tree):
        return None
    for tests, column, values in _either(joined.tests):
        if len(tests) == 1 and not _meant_together(joined, column, question):
            continue
        one, other = (_with(joined.tree, tests, column, value) for value in values)
        return exp.intersect(one, other, dialect="postgres")
    return None


def _either(
    tests: Sequence[exp.Expr],
) -> Iterator[tuple[list[exp.Expr], exp.Column, list[exp.Expr]]]:
    """Where a column is compared with two values: the parts of WHERE, the column and the values."""
    for test in tests:
        bare = test.unnest()
        if isinstance(bare, exp.In) and len(bare.expressions) == _TWO and isinstance(bare.this, exp.Column):
            yield [test], bare.this, bare.expressions
        elif isinstance(bare, exp.Or) and (same := _same_column([bare.left, bare.right])):
            yield [test], *same
    for n, one in enumerate(tests):
        for other in tests[n + 1 :]:
            if same := _same_column([one, other]):
                yield [one, other], *same


def _same_column(tests: Sequence[exp.Expr]) -> tuple[exp.Column, list[exp.Expr]] | None:
    bare = [test.unnest() for test in tests]
    if not all(isinstance(test, exp.EQ) and isinstance(test.expression, exp.Literal) for test in bare):
        return None
    column, values = bare[0].this, [test.expression for test in bare]
    if (
        not isinstance(column, exp.Column)
        or any(test.this != column for test in bare)
        or values[0] == values[1]
    ):
        return None
    return column, values


def _meant_together(joined: JoinTree, column: exp.Column, question: str) -> bool:
    """Whether the question's words want one that has both values, and not those that have either."""
    if _OR.search(question):
        return False
    if _BOTH.search(question):
        return True
    branch = joined.branch(column, joined.names(joined.shown()))
    return bool(_AND.search(question)) and branch is not None and branch.many


def _with(tree: exp.Select, tests: Sequence[exp.Expr], column: exp.Column, value: exp.Expr) -> exp.Select:
    where = tree.args["where"]
    kept = [test.copy() for test in conjuncts(where.this) if all(test is not each for each in tests)]
    select = tree.copy()
    select.set("where", None)
    equal = exp.EQ(this=column.copy(), expression=value.copy())
    return select.where(*kept, equal)
