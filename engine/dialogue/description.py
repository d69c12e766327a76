"""A statement in words, by rule: what it shows, from where, which rows and groups count, in which order."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from engine.dialogue.expressions import Reader
from engine.linking.element_text import name_words
from engine.sql.tree import parsed

SHORT, LONG = 80, 400
"""Characters of a part of a line, and of one that stands by itself."""

_READER = Reader(None, {}, whole=True)

_COMBINED = {exp.Union: "and also", exp.Except: "without", exp.Intersect: "that are also"}


def describe(sql: str) -> str:
    """One line for a person who will not read the SQL; empty where `sql` cannot be parsed."""
    return " ".join(f"{aspect} {words}".strip() for aspect, words in _aspects(parsed(sql), SHORT))


def in_parts(sql: str) -> tuple[tuple[str, str], ...]:
    """The same by (aspect, words), in more of them."""
    return tuple((aspect or "shows", words) for aspect, words in _aspects(parsed(sql), LONG))


def _aspects(tree: exp.Expr | None, length: int) -> Iterator[tuple[str, str]]:
    """Of a query; the aspect of what it shows is empty."""
    if isinstance(tree, exp.SetOperation):
        yield from _aspects(tree.left.unnest(), length)
        kind = next(words for kind, words in _COMBINED.items() if isinstance(tree, kind))
        yield (
            kind,
            _cut(
                " ".join(f"{name} {words}".strip() for name, words in _aspects(tree.right.unnest(), length)),
                length,
            ),
        )
    elif isinstance(tree, exp.Select):
        yield from _selected(tree, length)
    else:
        return
    if (order := tree.args.get("order")) is not None:
        yield "ordered by", ", ".join(_sort(each, tree, length) for each in order.expressions)
    if (limit := tree.args.get("limit")) is not None and limit.expression is not None:
        yield "limited to", _text(limit.expression, length)
    for each in tree.args["with_"].expressions if tree.args.get("with_") else ():
        told = " ".join(f"{name} {words}".strip() for name, words in _aspects(each.this, length))
        yield f"where {name_words(each.alias)} is", _cut(told, length)


def _selected(select: exp.Select, length: int) -> Iterator[tuple[str, str]]:
    distinct = "distinct " if select.args.get("distinct") else ""
    yield "", distinct + ", ".join(_text(each, length) for each in select.expressions)
    tables = [each for each in select.find_all(exp.Table, exp.Subquery) if each.parent_select is select]
    sources = [each for each in tables if isinstance(each.parent, exp.From | exp.Join)]
    if sources:
        yield "from", " with ".join(dict.fromkeys(_source(each, length) for each in sources))
    if (where := select.args.get("where")) is not None:
        yield "where", _text(where.this, length)
    if (group := select.args.get("group")) is not None:
        yield "for each", ", ".join(_text(_output(each, select), length) for each in group.expressions)
    if (having := select.args.get("having")) is not None:
        yield "only groups where", _text(having.this, length)


def _source(source: exp.Expr, length: int) -> str:
    side = source.parent.args.get("side") if isinstance(source.parent, exp.Join) else None
    words = f"({_text(source.this, length)})" if isinstance(source, exp.Subquery) else name_words(source.name)
    return f"{words}, if any" if side == "LEFT" else words


def _output(key: exp.Expr, query: exp.Query) -> exp.Expr:
    """What rows are put together or ordered by; for its number the output that it stands for."""
    place = int(key.name) if isinstance(key, exp.Literal) and not key.is_string and key.name.isdigit() else 0
    return query.selects[place - 1] if 0 < place <= len(query.selects) else key


def _sort(expression: exp.Expr, query: exp.Query, length: int) -> str:
    descending = isinstance(expression, exp.Ordered) and expression.args.get("desc")
    return _text(_output(expression.this, query), length) + (" descending" if descending else "")


def _text(expression: exp.Expr, length: int) -> str:
    return _cut(_READER.words(expression), length)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"
