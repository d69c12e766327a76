"""A statement in words, by rule: what it shows, from where, which rows and groups count, in which order.

Nothing is cut. A clause without words, such as a window, a recursion or LATERAL, is told as it is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from engine.question.comments import called, meaning_of_null
from engine.question.names import name_words
from engine.statement.expressions import (
    COMBINED,
    TOLD,
    Reader,
    is_plain_table,
    is_told,
    output_of,
    says_something,
)
from engine.statement.read import Draft, statement_of
from engine.statement.scope import conjuncts
from engine.statement.tree import parsed
from schema_catalog.types import ColumnKey, Snapshot

_READER = Reader(None, {}, whole=True)


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a query: `aspect`, empty of what is shown, and what it says of each of its items."""

    aspect: str
    items: tuple[str, ...]
    between: str = ", "

    @property
    def words(self) -> str:
        """All items."""
        return self.between.join(self.items)


def describe(sql: str, snapshot: Snapshot | None = None) -> str:
    """One line for a person who will not read the SQL; empty where `sql` cannot be parsed.

    `snapshot`: what calls columns in its comments, where these are short.
    """
    apart = None if snapshot is None else statement_of(sql, snapshot).apart
    return _line(parsed(sql) if apart is None else _as_commented(apart))


def _as_commented(statement: Draft) -> exp.Query:
    """A copy in which columns, and tests whether they are NULL, are told by their comments.

    Not a column that is called as another one of the statement, nor one whose name says all of it.
    """
    copy = Draft(statement.tree.copy(), statement.scopes.snapshot)
    commented: dict[ColumnKey, str] = {}
    for column in copy.tree.find_all(exp.Column):
        key, stored = copy.scopes.key(column), copy.scopes.stored(column)
        if key is None or stored is None:
            continue
        said = stored.description or ""
        commented[key] = called(said) or name_words(column.name)
        test = column.parent
        if isinstance(test, exp.Is) and isinstance(test.expression, exp.Null):
            test.meta[TOLD] = meaning_of_null(said)
    for column in copy.tree.find_all(exp.Column):
        key = copy.scopes.key(column)
        if key in commented and list(commented.values()).count(commented[key]) == 1:
            column.meta[TOLD] = commented[key]
    return copy.tree


def in_parts(sql: str) -> tuple[tuple[str, str], ...]:
    """The same by (aspect, words)."""
    return tuple((each.aspect or "shows", each.words) for each in _clauses(parsed(sql)))


def phrases(sql: str) -> tuple[str, ...]:
    """The same, one phrase an item (MetaSQL, table 2), columns with their tables and joins with their keys.

    None where `sql` cannot be parsed.
    """
    tree = parsed(sql)
    if tree is None:
        return ()
    told = _with_tables(tree)
    joins = [join for join in told.find_all(exp.Join) if join.args.get("on")]
    keys = {name_words(key.name) for join in joins for key in join.args["on"].find_all(exp.Column)}
    return (
        *(f"{each.aspect or 'show'} {item}" for each in _clauses(told) for item in each.items),
        *(f"joined by {key}" for key in sorted(keys)),
    )


def _with_tables(tree: exp.Query) -> exp.Query:
    """A copy in which each column's name begins with its table's."""
    copy = tree.copy()
    for column in list(copy.find_all(exp.Column)):
        table, name = _table_of(column), name_words(column.name)
        if isinstance(column.this, exp.Star):
            column.set("table", exp.to_identifier(table))
        elif table and not name.startswith(table):
            column.set("this", exp.to_identifier(f"{table} {name}"))
    return copy


def _table_of(column: exp.Column) -> str:
    """In words, the table of a column; empty of one without a qualifier where FROM reads several."""
    select = column.parent_select
    while select is not None:
        own = [each for each in select.find_all(exp.Table) if each.parent_select is select]
        if not column.table:
            return name_words(own[0].name) if len(own) == 1 else ""
        if found := [each.name for each in own if each.alias_or_name == column.table]:
            return name_words(found[0])
        select = select.parent_select
    return name_words(column.table)


def _line(tree: exp.Expr | None) -> str:
    return " ".join(f"{each.aspect} {each.words}".strip() for each in _clauses(tree))


def _clauses(tree: exp.Expr | None) -> Iterator[Clause]:
    if isinstance(tree, exp.SetOperation):
        yield from _clauses(tree.left.unnest())
        yield Clause(COMBINED[type(tree)], (_line(tree.right.unnest()),))
    elif isinstance(tree, exp.Select):
        yield from _selected(tree)
    else:
        return
    if (order := tree.args.get("order")) is not None:
        yield Clause("ordered by", tuple(_sort(each, tree) for each in order.expressions))
    if (offset := tree.args.get("offset")) is not None:
        yield Clause("after the first", (_text(offset.expression),))
    if (limit := tree.args.get("limit")) is not None:
        most = _text(limit.expression) if isinstance(limit, exp.Limit) else _sql(limit)
        yield Clause("limited to", (most,))
    if (given := tree.args.get("with_")) is not None:
        for each in given.expressions:
            # What refers to itself has no words.
            words = _sql(each.this) if given.recursive else _line(each.this)
            yield Clause(f"where {name_words(each.alias)} is", (words,))


def _selected(select: exp.Select) -> Iterator[Clause]:
    distinct = select.args.get("distinct")
    shown = [*map(_text, select.expressions)]
    if distinct is not None:
        lead = _sql(distinct) if distinct.args.get("on") else "distinct"
        shown[:1] = [f"{lead} {each}" for each in shown[:1]]
    yield Clause("", tuple(shown))
    if (source := select.args.get("from_")) is not None:
        yield _sources([source, *(select.args.get("joins") or [])], select.args.get("laterals") or [])
    if (where := select.args.get("where")) is not None:
        yield Clause("where", _conditions(where.this), " and ")
    if (group := select.args.get("group")) is not None:
        plain = not any(group.args.get(each) for each in ("rollup", "cube", "grouping_sets", "all"))
        keys = tuple(_text(output_of(each, select)) for each in group.expressions)
        yield Clause("for each", keys if plain else (_sql(group).removeprefix("GROUP BY "),))
    if (having := select.args.get("having")) is not None:
        yield Clause("only groups where", _conditions(having.this), " and ")


def _sources(parts: Sequence[exp.Expr], laterals: Sequence[exp.Expr]) -> Clause:
    """What FROM and JOIN read; the clause itself where there are no words for a part of it."""
    words = [_source(each) for each in parts]
    if laterals or None in words:
        written = " ".join(map(_sql, (*parts, *laterals))).removeprefix("FROM ").replace(" , ", ", ")
        return Clause("from", (written,))
    return Clause("from", tuple(dict.fromkeys(filter(None, words))), " with ")


def _source(part: exp.Expr) -> str | None:
    """None where there are no words for it."""
    source, side = part.this, part.args.get("side") or ""
    if side not in ("", "LEFT") or part.args.get("method") or part.args.get("kind") in ("SEMI", "ANTI"):
        return None
    if isinstance(source, exp.Subquery):
        words = f"({_text(source.this)})" if is_told(source.this) else None
    else:
        words = name_words(source.name) if is_plain_table(source) else None
    if words is None:
        return None
    more = (
        [each for each in conjuncts(part.args["on"]) if says_something(each)] if part.args.get("on") else []
    )
    words += f" where {' and '.join(map(_text, more))}" if more else ""
    return f"{words}, if any" if side else words


def _conditions(condition: exp.Expr) -> tuple[str, ...]:
    """Each in words, or as it is written."""
    several = [each.unnest().copy() for each in conjuncts(condition)]
    return tuple(
        f"({words})" if isinstance(each, exp.Or) and len(several) > 1 else words
        for each, words in zip(several, map(_text, several), strict=True)
    )


def _sort(expression: exp.Expr, query: exp.Query) -> str:
    descending = isinstance(expression, exp.Ordered) and expression.args.get("desc")
    return _text(output_of(expression.this, query)) + (" descending" if descending else "")


def _text(expression: exp.Expr) -> str:
    """In words, where there are such for all of it; else as it is written."""
    return _READER.words(expression) if is_told(expression) else _sql(expression)


def _sql(clause: exp.Expr) -> str:
    return clause.sql(dialect="postgres")
