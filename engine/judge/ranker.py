"""The two-stage ranker (MetaSQL §III-C): the cosine of question and statement prunes, a cross-encoder ranks.

It reads a statement as phrases in words, one a unit (MetaSQL, table 2): aliases become their tables and names become
words, and nothing is left out that tells two statements apart, such as the keys of joins. The networks are those of
`engine.models`; off by default (`[generation] second_stage`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from engine.models.cross import CrossEncoder, Pair
from engine.models.packaged import read
from engine.question.names import name_words
from engine.question.question import Question
from engine.statement.tree import parsed
from engine.values.candidate import Candidate
from engine.values.ports import Encoder
from engine.values.settings import EncoderSettings
from engine.values.shipped import shipped

_AGGREGATES: dict[type[exp.Expr], str] = {
    exp.Count: "number of",
    exp.Sum: "total",
    exp.Avg: "average",
    exp.Min: "minimum",
    exp.Max: "maximum",
}

_COMPARISONS: dict[type[exp.Expr], tuple[str, str]] = {
    exp.EQ: ("is", "is not"),
    exp.NEQ: ("is not", "is"),
    exp.GT: ("is more than", "is not more than"),
    exp.GTE: ("is at least", "is not at least"),
    exp.LT: ("is less than", "is not less than"),
    exp.LTE: ("is at most", "is not at most"),
    exp.Like: ("is like", "is not like"),
    exp.ILike: ("is like", "is not like"),
    exp.Is: ("is", "is not"),
}

_SETS: dict[type[exp.Expr], str] = {
    exp.Intersect: "and also in",
    exp.Union: "or else in",
    exp.Except: "but not in",
}

_ARITHMETIC: dict[type[exp.Expr], str] = {
    exp.Add: "plus",
    exp.Sub: "minus",
    exp.Mul: "times",
    exp.Div: "divided by",
}

_LONGEST = 60
"""Characters of an expression that has no rule."""


def phrases(sql: str) -> tuple[str, ...]:
    """The phrases in a fixed order; none where `sql` does not parse as a query."""
    tree = parsed(sql)
    return () if tree is None else tuple(_query(tree))


def _query(tree: exp.Query) -> Iterator[str]:
    if isinstance(tree, exp.SetOperation):
        yield from _query(tree.this)
        yield f"{_SETS.get(type(tree), 'combined with')}: {_inline(tree.expression)}"
    elif isinstance(tree, exp.Select):
        yield from _Select(tree).units()
    elif isinstance(tree, exp.Subquery):
        yield from _query(tree.this)
        return
    yield from _order(tree)


def _inline(tree: exp.Expr) -> str:
    """A query inside another, as one phrase."""
    inner = tree.unnest() if isinstance(tree, exp.Subquery) else tree
    return ", ".join(_query(inner)) if isinstance(inner, exp.Query) else _cut(tree)


def _order(tree: exp.Query) -> Iterator[str]:
    order, limit = tree.args.get("order"), tree.args.get("limit")
    names = _Select(tree if isinstance(tree, exp.Select) else exp.Select())
    first = ""
    if limit is not None and limit.expression is not None:
        first = f"first {limit.expression.sql(dialect='postgres')}"
    if order is None:
        if first:
            yield f"only the {first}"
        return
    keys = [f"{names.words(key.this)} {_direction(key)}" for key in order.expressions]
    yield f"sorted by {' and '.join(keys)}" + (f", only the {first}" if first else "")


def _direction(key: exp.Expr) -> str:
    return "from highest to lowest" if key.args.get("desc") else "from lowest to highest"


class _Select:
    """One SELECT with its aliases' tables."""

    def __init__(self, select: exp.Select) -> None:
        self._select = select
        self._tables: dict[str, str] = {}
        scope: exp.Select | None = select
        while scope is not None:
            for table in scope.find_all(exp.Table):
                if table.parent_select is scope:
                    self._tables.setdefault(table.alias_or_name.lower(), name_words(table.name))
            scope = scope.parent_select
        own = [table for table in select.find_all(exp.Table) if table.parent_select is select]
        self._only = name_words(own[0].name) if len(own) == 1 else ""

    def units(self) -> Iterator[str]:
        """The phrases of its clauses, without order and limit."""
        select = self._select
        distinct = "different " if select.args.get("distinct") else ""
        yield from (f"show {distinct}{self.words(item)}" for item in select.expressions)
        yield from self._sources()
        if (where := select.args.get("where")) is not None:
            yield from (f"where {self.words(part)}" for part in _conjuncts(where.this))
        if (group := select.args.get("group")) is not None:
            yield from (f"for each {self.words(key)}" for key in group.expressions)
        if (having := select.args.get("having")) is not None:
            yield from (f"having {self.words(part)}" for part in _conjuncts(having.this))

    def _sources(self) -> Iterator[str]:
        origin = self._select.args.get("from_") or self._select.args.get("from")
        if origin is not None and origin.this is not None:
            yield f"from {self._source(origin.this)}"
        for join in self._select.args.get("joins") or []:
            side = f"{join.side.lower()} " if join.side else ""
            yield f"{side}with {self._source(join.this)}{_keys(join.args.get('on'))}"

    def _source(self, source: exp.Expr) -> str:
        return name_words(source.name) if isinstance(source, exp.Table) else f"({_inline(source)})"

    def words(self, node: exp.Expr, *, negated: bool = False) -> str:
        """An expression in words."""
        if isinstance(node, exp.Alias | exp.Paren | exp.Cast):
            return self.words(node.this, negated=negated)
        if isinstance(node, exp.Not):
            return self.words(node.this, negated=not negated)
        return self._condition(node, negated=negated) or self._value(node)

    def _condition(self, node: exp.Expr, *, negated: bool) -> str | None:
        # `IS NOT` and `NOT LIKE` are one node each, not one within another.
        negated = negated != bool(node.args.get("negate"))
        kind, no = type(node), "not " * negated
        if kind in _COMPARISONS:
            return f"{self.words(node.this)} {_COMPARISONS[kind][negated]} {self.words(node.expression)}"
        if isinstance(node, exp.And | exp.Or):
            sides = (self.words(side, negated=negated) for side in (node.this, node.expression))
            return (" and " if isinstance(node, exp.And) else " or ").join(sides)
        if isinstance(node, exp.Between):
            low, high = self.words(node.args["low"]), self.words(node.args["high"])
            return f"{self.words(node.this)} is {no}between {low} and {high}"
        if isinstance(node, exp.In):
            return f"{self.words(node.this)} is {no}in {self._members(node)}"
        return f"there is {no}any ({_inline(node.this)})" if isinstance(node, exp.Exists) else None

    def _value(self, node: exp.Expr) -> str:
        kind = type(node)
        if isinstance(node, exp.Column):
            return self._column(node)
        if kind in _AGGREGATES:
            return f"{_AGGREGATES[kind]} {self._counted(node)}"
        if kind in _ARITHMETIC:
            return f"{self.words(node.this)} {_ARITHMETIC[kind]} {self.words(node.expression)}"
        if isinstance(node, exp.Query):
            return f"({_inline(node)})"
        if isinstance(node, exp.Star):
            return "all columns"
        return node.name if isinstance(node, exp.Literal) else _cut(node)

    def _members(self, node: exp.In) -> str:
        query = node.args.get("query")
        if query is not None:
            return f"({_inline(query)})"
        return " or ".join(self.words(each) for each in node.expressions)

    def _counted(self, node: exp.Expr) -> str:
        of = node.this
        if isinstance(of, exp.Star):
            return self._only or "rows"
        if isinstance(of, exp.Distinct):
            return "different " + " and ".join(self.words(each) for each in of.expressions)
        return self.words(of) if isinstance(of, exp.Expr) else "rows"

    def _column(self, column: exp.Column) -> str:
        if isinstance(column.this, exp.Star):
            return f"all columns of {self._tables.get(column.table.lower(), name_words(column.table))}"
        table = (
            self._tables.get(column.table.lower(), name_words(column.table)) if column.table else self._only
        )
        name = name_words(column.name)
        return name if not table or name.startswith(table) else f"{table} {name}"


def _keys(condition: exp.Expr | None) -> str:
    """The columns of a join's condition, sorted."""
    if condition is None:
        return ""
    columns = dict.fromkeys(sorted(name_words(column.name) for column in condition.find_all(exp.Column)))
    return f" by {' and '.join(columns)}"


def _conjuncts(node: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(node, exp.And):
        yield from _conjuncts(node.this)
        yield from _conjuncts(node.expression)
    elif isinstance(node, exp.Paren) and isinstance(node.this, exp.And):
        yield from _conjuncts(node.this)
    else:
        yield node


def _cut(node: exp.Expr) -> str:
    return re.sub(r"[\"_]+", " ", node.sql(dialect="postgres")).strip().lower()[:_LONGEST]


NAME, FORMAT = "ranker", 1

SECOND_STAGE = 10
"""Candidates that the cross-encoder reads at most, as in the paper; the first stage chooses them."""

UNREAD = -1.0
"""Added to the worst score of the second stage for each place behind it in the first."""


class Reader(Protocol):
    """A cross-encoder."""

    def scores(self, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        """Shape (len(pairs), 2): of the whole statement, and of its phrases together."""


def packaged() -> Path:
    """The folder of the model that comes with the program."""
    return shipped("models/ranker_base")


def cross_encoder(folder: Path, settings: EncoderSettings) -> CrossEncoder:
    """Of an artifact; raises `engine.models.packaged.PackagedError`."""
    arrays = read(folder, NAME, FORMAT).arrays
    return CrossEncoder({name: array for name, array in arrays.items() if name != "head"}, settings)


class TwoStages:
    """`engine.values.ports.Ranker`. `head`: the weights of the cross-encoder's scores come first in it."""

    def __init__(self, head: NDArray[Any], reader: Reader, encoder: Encoder) -> None:
        self._head = np.asarray(head, dtype=np.float32)[:2]
        self._reader = reader
        self._encoder = encoder

    @classmethod
    def of(cls, folder: Path, encoder: Encoder, settings: EncoderSettings) -> TwoStages:
        """Reads an artifact; raises `engine.models.packaged.PackagedError`."""
        head = read(folder, NAME, FORMAT).arrays["head"]
        return cls(head, cross_encoder(folder, settings), encoder)

    def rank(self, question: Question, candidates: Sequence[Candidate]) -> Sequence[float]:
        """See `engine.values.ports.Ranker.rank`."""
        statements = [phrases(each.sql) for each in candidates]
        order = list(range(len(candidates)))
        if len(candidates) > SECOND_STAGE:
            vectors = self._encoder.encode([question.text, *("; ".join(each) for each in statements)])
            order = np.argsort(-(vectors[1:] @ vectors[0]), kind="stable").tolist()
        read_, unread = order[:SECOND_STAGE], order[SECOND_STAGE:]
        scores = self._reader.scores([(question.text, statements[n]) for n in read_]) @ self._head
        found = dict(zip(read_, scores.tolist(), strict=True))
        worst = min(found.values(), default=0.0)
        found |= {n: worst + UNREAD * place for place, n in enumerate(unread, 1)}
        return [found[n] for n in range(len(candidates))]
