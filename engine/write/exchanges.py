"""Statements that differ from another one in one element of the schema: which to try, in which order, which ones run.

In a statement with one element exchanged FROM is adjusted, and all else unchanged.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace

from sqlglot import exp

from engine.findings.admit import Door
from engine.findings.lint import Context
from engine.findings.rules.references import comparisons, join_missing_tables
from engine.link.missing_values import compared_literals
from engine.link.synonyms import Exchange, exchanges, interchangeable, phrases
from engine.statement.read import Draft, statement_of
from engine.statement.scope import Scopes, from_parts, identifier, tests_of, written
from engine.statement.tree import repeated_items
from engine.values.candidate import Candidate
from engine.values.elements import WHOLE_TABLE, Relation
from engine.values.ports import Encoder
from engine.write.masks import Mask
from schema_catalog.foreign_keys import foreign_key_graph
from schema_catalog.types import ColumnKey, Snapshot, TableKey

SURE = 0.95
"""Least likeness of an exchange that is made beside another one."""


async def find_exchanges(candidate: Candidate, context: Context, encoder: Encoder) -> list[Exchange]:
    """Exchanges of tables, then of columns: by values held, foreign columns kept, and similar names."""
    snapshot = context.snapshot
    holding = await asyncio.to_thread(_of_shared_values, candidate, context)
    texts = phrases(table for table in snapshot.tables if table.key in candidate.tables)
    vectors = await asyncio.to_thread(encoder.encode, texts) if texts else ()
    by_text = dict(zip(texts, vectors, strict=True))
    alike = exchanges(
        candidate.columns, candidate.tables, snapshot, lambda one, other: float(by_text[one] @ by_text[other])
    )
    apart = [each for each in alike if each.used[:2] != each.other[:2] and each.likeness == 1]
    found: dict[tuple[ColumnKey, ColumnKey], Exchange] = {}
    for each in (*holding, *apart, *alike):
        found.setdefault((each.used, each.other), each)
    return sorted(found.values(), key=lambda each: each.used[2] != WHOLE_TABLE)


def _of_shared_values(candidate: Candidate, context: Context) -> list[Exchange]:
    """Columns that hold as well what the question names and the statement compares a column of their table with."""
    holding: dict[str, set[ColumnKey]] = {}
    for link in context.values:
        for value in link.values if link.relation is Relation.EQUALS else ():
            holding.setdefault(value.casefold(), set()).add(link.column)
    return [
        Exchange(literal.column, other, 1.0)
        for literal in compared_literals(candidate.sql, context.snapshot)
        for other in sorted(holding.get(literal.text.casefold(), ()))
        if other[:2] == literal.column[:2] and interchangeable(literal.column, other, context.snapshot)
        if other != literal.column
    ]


class ExchangedStatements:
    """The statements that `exchanges` make of `leading`, each checked once; `score`: of a masked schema."""

    def __init__(
        self,
        leading: Candidate,
        exchanges: Iterable[Exchange],
        score: Callable[[Mask], float],
        door: Door,
    ) -> None:
        self._leading = leading
        self._exchanges = tuple(exchanges)
        self._left = iter(self._exchanges)
        self._score = score
        self._door = door

    def beside(self, made: Candidate, used: ColumnKey) -> ExchangedStatements:
        """Those that the surer of the other exchanges make of `made`, which exchanging `used` has given."""
        others = (each for each in self._exchanges if each.used != used and each.likeness >= SURE)
        return ExchangedStatements(made, others, self._score, self._door)

    async def take(self, most: int) -> list[tuple[Candidate, ColumnKey]]:
        """At most `most` further ones that run, each with the element that was exchanged."""
        made: list[tuple[Candidate, ColumnKey]] = []
        while len(made) < most and (exchange := next(self._left, None)) is not None:
            candidate = await self._made(exchange)
            if candidate is not None:
                made.append((candidate, exchange.used))
        return made

    async def _made(self, exchange: Exchange) -> Candidate | None:
        leading = self._leading
        sql = await asyncio.to_thread(substituted, leading.sql, exchange, self._door.context.snapshot)
        if sql is None or sql == leading.sql or await self._door.misplaces_literal(sql):
            return None
        mask = leading.origin.masked | {exchange.used}
        score = self._score(mask) * exchange.likeness
        origin = replace(leading.origin, masked=mask, schema_score=score, logprob=None)
        other = replace(leading, sql=sql, origin=origin, cost=None)
        outcome = await self._door.admitted(other)
        return outcome if isinstance(outcome, Candidate) else None


def substituted(sql: str, exchange: Exchange, snapshot: Snapshot) -> str | None:
    """`sql` with `exchange.other`; None where that alone is not possible. Columns that join tables stay there."""
    draft = statement_of(sql, snapshot).draft()
    if draft is None:
        return None
    tree, scopes = draft.tree, draft.scopes
    if exchange.used[2] == WHOLE_TABLE:
        made = _with_table(tree, exchange, scopes)
    elif exchange.used[:2] == exchange.other[:2]:
        made = _with_column(tree, exchange, scopes)
    else:
        made = _with_column_elsewhere(tree, exchange, scopes)
    if made is None or not _items_distinct(made) or any(map(_repeats_itself, made.find_all(exp.Select))):
        return None
    return made.sql(dialect="postgres")


def _places(tree: exp.Query, exchange: Exchange, scopes: Scopes) -> list[exp.Column]:
    """Where the column stands: shown, compared, grouped by; in joins only where the other is as much a key."""
    found = scopes.columns(tree, exchange.used[:2], exchange.used[2])
    again = {id(column) for item in repeated_items(tree) for column in item.find_all(exp.Column)}
    if repeated := [column for column in found if id(column) in again]:
        return repeated
    references = foreign_key_graph(scopes.snapshot)
    if references.counterparts(exchange.used) & references.counterparts(exchange.other):
        return found
    joining = {id(column) for pair in comparisons(tree, scopes) for column, _ in pair}
    return [column for column in found if id(column) not in joining]


def _with_column(tree: exp.Query, exchange: Exchange, scopes: Scopes) -> exp.Query | None:
    found = _places(tree, exchange, scopes)
    for column in found:
        column.set("this", identifier(exchange.other[2]))
    return tree if found else None


def _items_distinct(tree: exp.Query) -> bool:
    """Drops items that a SELECT or its groups now have twice; False where another query depends on their number."""
    for select in tree.find_all(exp.Select):
        group = select.args.get("group")
        if group is not None:
            group.set("expressions", list({each.sql(): each for each in group.expressions}.values()))
        items = {each.unalias().sql(): each for each in reversed(select.expressions)}
        if len(items) < len(select.expressions):
            if isinstance(select.parent, exp.SetOperation | exp.In | exp.Subquery):
                return False
            select.set(
                "expressions", [each for each in select.expressions if items[each.unalias().sql()] is each]
            )
    return True


def _repeats_itself(select: exp.Select) -> bool:
    """Whether it tests the same twice, or wants a column to be equal to two literals."""
    tests = tests_of(select)
    equals = [
        test.this.sql()
        for test in tests
        if isinstance(test, exp.EQ)
        and isinstance(test.this, exp.Column)
        and isinstance(test.expression, exp.Literal)
    ]
    texts = [test.sql() for test in tests]
    return len(set(texts)) < len(texts) or len(set(equals)) < len(equals)


def _with_table(tree: exp.Query, exchange: Exchange, scopes: Scopes) -> exp.Query | None:
    other = scopes.tables[exchange.other[:2]]
    columns = [column for column in scopes.columns(tree, exchange.used[:2]) if column.table]
    named = [column for column in columns if (read := scopes.reading(column)) and not read.node.alias]
    every = [read for read in scopes.all_reads() if read.table is not None]
    reads = [read for read in every if read.table is scopes.tables[exchange.used[:2]]]
    for each in scopes.reads.values():
        keys = [read.table.key for read in each if read.table is not None]
        if exchange.used[:2] in keys and exchange.other[:2] in keys:
            return None
    for column in named:
        column.set("table", identifier(other.name))
    for read in reads:
        name = written(other, scopes.snapshot)
        read.node.set("this", name.this)
        read.node.set("db", name.args.get("db"))
    return tree if reads else None


def _with_column_elsewhere(tree: exp.Query, exchange: Exchange, scopes: Scopes) -> exp.Query | None:
    """Qualifies every name first: the table that is joined may have columns of the same names."""
    found = _places(tree, exchange, scopes)
    if not found:
        return None
    touched = {id(column.parent_select) for column in found}
    for column in list(tree.find_all(exp.Column)):
        if not column.table and (read := scopes.reading(column)) is not None:
            column.set("table", identifier(read.name))
    other = scopes.tables[exchange.other[:2]]
    for column in found:
        there = [read for read in scopes.reads[id(column.parent_select)] if read.table is other]
        if not there and len(scopes.called[other.name]) > 1:
            return None
        name = there[0].name if there else other.name
        column.set("this", identifier(exchange.other[2]))
        column.set("table", identifier(name))
    statement = Draft(tree, scopes.snapshot)
    join_missing_tables(statement, Context(scopes.snapshot))
    statement.bind()
    if len(touched) == 1:
        for select in tree.find_all(exp.Select):
            _without_unread(select, exchange.used[:2], statement.scopes)
    return statement.tree


def _without_unread(select: exp.Select, table: TableKey, scopes: Scopes) -> None:
    """Drops `table` from a SELECT that names it in one join's condition alone."""
    parts = from_parts(select)
    reads = scopes.reads[id(select)]
    place = next(
        (n for n, read in enumerate(reads) if read.table is not None and read.table.key == table), None
    )
    if place is None or len(parts) < 2 or len(reads) != len(parts):  # noqa: PLR2004 - it and another
        return
    name = reads[place].name
    users = [column for column in select.find_all(exp.Column) if column.table == name]
    joins = [part for part in parts[1:] if any(column.table == name for column in part.find_all(exp.Column))]
    inside = [column for join in joins for column in join.find_all(exp.Column) if column.table == name]
    star = any(isinstance(item, exp.Star) for item in select.expressions)
    if star or len(joins) != 1 or len(inside) != len(users) or joins[0].args.get("side"):
        return
    if place == 0 and joins[0] is parts[1]:
        parts[0].set("this", joins[0].this)
        joins[0].pop()
    elif joins[0] is parts[place]:
        joins[0].pop()
