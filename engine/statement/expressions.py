"""An expression in parts: words without SQL, and between them columns of the catalog and literals."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from engine.question.names import name_words
from engine.statement.scope import Scopes, conjuncts
from schema_catalog.types import ColumnKey


@dataclass(frozen=True, slots=True)
class Literal:
    """A value that a statement names. `quoted`: it is text."""

    text: str
    quoted: bool = True

    def __str__(self) -> str:
        """As a person reads it."""
        return f"'{self.text}'" if self.quoted else self.text


Part = str | ColumnKey | Literal
"""Words, a column (with `*` a table), or a value."""

TOLD = "told"
"""In a node's `meta`, the words that it is told by."""

_AGGREGATES: Mapping[type[exp.Expr], str] = {
    exp.Count: "number of",
    exp.Sum: "total",
    exp.Avg: "average",
    exp.Min: "lowest",
    exp.Max: "highest",
}

_COMPARISONS: Mapping[type[exp.Expr], tuple[str, str]] = {
    **dict.fromkeys((exp.EQ, exp.Is, exp.NullSafeEQ), ("is", "is not")),
    **dict.fromkeys((exp.NEQ, exp.NullSafeNEQ), ("is not", "is")),
    exp.GT: ("is more than", "is at most"),
    exp.GTE: ("is at least", "is less than"),
    exp.LT: ("is less than", "is at least"),
    exp.LTE: ("is at most", "is more than"),
}
"""Each, and the same negated."""

COMBINED: Mapping[type[exp.Expr], str] = {
    exp.Union: "and also",
    exp.Except: "without",
    exp.Intersect: "that are also",
}

_OPERATORS: Mapping[type[exp.Expr], str] = {
    exp.Add: "plus",
    exp.Sub: "minus",
    exp.Mul: "times",
    exp.Div: "divided by",
    exp.DPipe: "followed by",
    exp.And: "and",
    exp.Or: "or",
}

OPERATORS: Mapping[type[exp.Expr], str] = {
    **_AGGREGATES,
    **{kind: words for kind, (words, _) in _COMPARISONS.items()},
    **{kind: words for kind, words in _OPERATORS.items() if kind is not exp.And},
    **COMBINED,
}
"""What stands between names and values, in words."""

_UNSAID = (
    *(exp.Alias, exp.Paren, exp.Cast, exp.TryCast, exp.AtTimeZone),
    *(exp.Round, exp.Coalesce, exp.Nullif, exp.Trim, exp.Replace, exp.Lower, exp.Upper),
)
"""How a value is written, which nobody asks about: told by what stands inside."""

_FIXED: Mapping[type[exp.Expr], str] = {
    exp.CurrentDate: "today",
    exp.CurrentTimestamp: "now",
    exp.Null: "unknown",
    exp.Star: "everything",
}

_PATTERN = re.compile(r"(?P<open>%?)(?P<text>[^%_]+)(?P<close>%?)")

_MATCHED: Mapping[tuple[bool, bool], tuple[str, str]] = {
    (True, True): ("contains", "does not contain"),
    (False, True): ("begins with", "does not begin with"),
    (True, False): ("ends with", "does not end with"),
    (False, False): ("is", "is not"),
}
"""By whether a pattern is open before and behind its text; and the same negated."""

_MEMBERS = 8
"""Values of a list that are told one by one, at most."""

_TOLD = frozenset(
    {
        *_AGGREGATES,
        *_COMPARISONS,
        *_OPERATORS,
        *_FIXED,
        *(exp.Alias, exp.Paren, exp.Cast, exp.Round, exp.Coalesce),
        *(exp.Nullif, exp.Trim, exp.Lower, exp.Upper),
        *(exp.Column, exp.Identifier, exp.Literal, exp.Boolean, exp.Interval, exp.Var),
        *(exp.DataType, exp.DataTypeParam, exp.Not, exp.Like, exp.ILike, exp.Between, exp.In, exp.Exists),
        *(exp.TimestampTrunc, exp.DateTrunc, exp.Extract, exp.Distinct, exp.Case, exp.If, exp.Filter),
        *(exp.Subquery, exp.Select, exp.From, exp.Join, exp.Table, exp.TableAlias, exp.Where, exp.Group),
    }
)
"""What there are words for, as far as they say all that matters."""

_TOLD_OF_QUERIES = frozenset({"expressions", "from_", "joins", "where", "group"})
"""What is told of a query inside an expression."""


def is_told(node: exp.Expr) -> bool:
    """Whether there are words for all of an expression, and they can be read in one way."""
    return all(type(each) in _TOLD and _in_one_way(each) for each in node.walk())


def is_plain_table(source: exp.Expr) -> bool:
    """Whether FROM reads it as it is: no function, no sample, no list of columns."""
    plain = isinstance(source, exp.Table) and isinstance(source.this, exp.Identifier)
    return plain and not any(source.args.get(each) for each in ("sample", "pivots", "joins", "laterals"))


def _in_one_way(node: exp.Expr) -> bool:
    if isinstance(node, exp.Select):
        named = {key for key, value in node.args.items() if value}
        keys = [each.args.get("on") for each in node.args.get("joins") or ()]
        return named <= _TOLD_OF_QUERIES and not any(
            says_something(each) for on in keys if on is not None for each in conjuncts(on)
        )
    if isinstance(node, exp.Join):
        return not (node.side or node.method or node.kind in ("SEMI", "ANTI"))
    if isinstance(node, exp.Table):
        return is_plain_table(node)
    if isinstance(node, exp.Group):
        return not any(node.args.get(each) for each in ("rollup", "cube", "grouping_sets"))
    if isinstance(node, exp.Or):
        # "a or b and c" is read as PostgreSQL reads it, which is not what stands in parentheses.
        return not isinstance(node.parent.parent if isinstance(node.parent, exp.Paren) else None, exp.And)
    return True


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads the expressions of one statement. `named`: what its outputs' aliases stand for.

    `whole`: a query inside is told with its tables and conditions; else those are facts of their own.
    """

    scopes: Scopes | None
    named: Mapping[str, exp.Expr]
    whole: bool = False

    def words(self, node: exp.Expr) -> str:
        """An expression as one text."""
        return " ".join(map(str, self.parts(node)))

    def parts(self, node: exp.Expr, *, negated: bool = False) -> tuple[Part, ...]:
        """The parts of an expression, words beside each other as one."""
        return joined(self._parts(node, negated=negated))

    def _parts(self, node: exp.Expr, *, negated: bool = False) -> Iterator[Part]:
        if told := node.meta.get(TOLD):
            yield f"not ({told})" if negated ^ bool(node.args.get("negate")) else told
        elif isinstance(node, _UNSAID) or _cuts_by_pattern(node):
            yield from self._parts(node.this, negated=negated)
        elif isinstance(node, exp.Not):
            yield from self._parts(node.this, negated=not negated)
        elif isinstance(node, exp.And | exp.Or):
            kind = exp.Or if isinstance(node, exp.And) is negated else exp.And
            yield from self._parts(node.this, negated=negated)
            yield _OPERATORS[kind]
            yield from self._parts(node.expression, negated=negated)
        elif isinstance(node, exp.Predicate):
            yield from self._predicate(node, negated=negated)
        else:
            yield from ["not"] * negated
            yield from self._value(node)

    def _predicate(self, node: exp.Expr, *, negated: bool) -> Iterator[Part]:
        kind = type(node)
        negated ^= bool(node.args.get("negate"))
        no = ["not"] * negated
        if kind in _COMPARISONS:
            yield from self._parts(node.this)
            yield _COMPARISONS[kind][negated]
            yield from self._parts(node.expression)
        elif isinstance(node, exp.Like | exp.ILike):
            yield from self._parts(node.this)
            yield from self._pattern(node.expression, negated=negated)
        elif isinstance(node, exp.Between):
            yield from [*self._parts(node.this), "is", *no, "between"]
            yield from [*self._parts(node.args["low"]), "and", *self._parts(node.args["high"])]
        elif isinstance(node, exp.In):
            yield from [*self._parts(node.this), "is", *no]
            yield from self._members(node)
        elif isinstance(node, exp.Exists):
            yield from ["there is", "no" if negated else "any", *self._parts(node.this)]
        else:
            yield from [*no, *self._other(node)]

    def _pattern(self, node: exp.Expr, *, negated: bool) -> Iterator[Part]:
        found = _PATTERN.fullmatch(node.name) if isinstance(node, exp.Literal) else None
        if found is None:
            yield from ["is", *["not"] * negated, "like", *self._parts(node)]
        else:
            yield _MATCHED[bool(found["open"]), bool(found["close"])][negated]
            yield Literal(found["text"])

    def _members(self, node: exp.In) -> Iterator[Part]:
        query = node.args.get("query")
        if query is not None:
            inside, outside = self.parts(query), self.parts(node.this)
            yield from ("one of those",) if inside == outside and not self.whole else ("among", *inside)
        elif all(isinstance(each, exp.Literal) for each in node.expressions):
            quoted, listed = node.expressions[0].is_string, node.expressions
            mark = "' or '" if quoted else " or "
            told = listed[:_MEMBERS] if self.whole else listed
            yield Literal(mark.join(each.name for each in told), quoted)
            yield from [f"or {len(listed) - len(told)} others"] * (len(told) < len(listed))
        else:
            yield "one of"
            yield from self._listed(node.expressions)

    def _value(self, node: exp.Expr) -> Iterator[Part]:
        kind = type(node)
        if isinstance(node, exp.Column):
            yield from self._column(node)
        elif isinstance(node, exp.Literal):
            yield Literal(node.name, quoted=bool(node.is_string))
        elif isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal):
            yield Literal(f"-{node.this.name}", quoted=False)
        elif kind in _AGGREGATES:
            if (counted := _counts(node)) is not None:
                yield from ["number of rows where", *self._parts(counted)]
                return
            yield _AGGREGATES[kind]
            yield from self._counted(node.this)
            yield from ["values"] * (isinstance(node, exp.Count) and not isinstance(node.this, exp.Star))
        elif isinstance(node, exp.Query):
            yield from self._query(node)
        elif kind in _OPERATORS:
            yield from self._parts(node.this)
            yield _OPERATORS[kind]
            yield from self._parts(node.expression)
        elif isinstance(node, exp.Filter | exp.Ordered | exp.Window):
            yield from self._modified(node)
        else:
            yield from self._special(node)

    def _special(self, node: exp.Expr) -> Iterator[Part]:
        if type(node) in _FIXED:
            yield _FIXED[type(node)]
        elif isinstance(node, exp.Boolean):
            yield "true" if node.this else "false"
        elif isinstance(node, exp.Interval):
            yield f"{node.name} {node.text('unit')}".lower().strip()
        elif isinstance(node, exp.TimestampTrunc | exp.DateTrunc):
            yield from [f"{node.text('unit').lower()} of", *self._parts(node.this)]
        elif isinstance(node, exp.Distinct):
            yield "different"
            yield from self._listed(node.expressions)
        elif isinstance(node, exp.Extract):
            unit = node.this.name.lower()
            yield "seconds of" if unit == "epoch" else f"{unit} of"
            yield from self._parts(node.expression)
        elif isinstance(node, exp.Case):
            yield from self._choice(node)
        else:
            yield from self._other(node)

    def _choice(self, node: exp.Case) -> Iterator[Part]:
        for each in node.args["ifs"]:
            yield from [*self._parts(each.args["true"]), "if"]
            yield from [*self._parts(node.this), "is"] if node.this is not None else ()
            yield from [*self._parts(each.this), "otherwise"]
        yield from self._parts(node.args.get("default") or exp.Null())

    def _modified(self, node: exp.Filter | exp.Ordered | exp.Window) -> Iterator[Part]:
        running = (
            isinstance(node, exp.Window) and isinstance(node.this, exp.AggFunc) and node.args.get("order")
        )
        yield from ["running"] * bool(running and type(node.this) in _AGGREGATES)
        yield from self._parts(node.this)
        if isinstance(node, exp.Filter):
            yield from ["if", *self._parts(node.expression.this)]
        if isinstance(node, exp.Ordered):
            yield from ["descending"] * bool(node.args.get("desc"))
        if parts := node.args.get("partition_by"):
            yield from ["for each", *self._listed(parts)]
        if (order := node.args.get("order")) is not None:
            yield from ["by", *self._listed(order.expressions)]

    def _other(self, node: exp.Expr) -> Iterator[Part]:
        """An expression without a rule: its kind, and its operands."""
        called = node.name if isinstance(node, exp.Anonymous) else type(node).__name__
        yield name_words(called)
        operands = [each for each in node.iter_expressions() if not isinstance(each, exp.Identifier)]
        if operands:
            yield "of"
            yield from self._listed(operands)

    def _counted(self, node: exp.Expr | None) -> Iterator[Part]:
        if node is None or isinstance(node, exp.Star):
            yield "rows"
        else:
            yield from self._parts(node)

    def _listed(self, nodes: Sequence[exp.Expr]) -> Iterator[Part]:
        for place, node in enumerate(nodes):
            yield from ["and"] * bool(place)
            yield from self._parts(node)

    def _query(self, node: exp.Query) -> Iterator[Part]:
        """A query inside an expression: what it gives. Its conditions are facts of their own."""
        inner = node.unnest()
        while isinstance(inner, exp.SetOperation):
            inner = inner.left.unnest()
        if isinstance(inner, exp.Select) and not isinstance(node.parent, exp.Exists):
            yield from self._listed(inner.expressions)
        tables = [part for part in inner.find_all(exp.Table) if part.parent_select is inner]
        if not isinstance(inner, exp.Select) or isinstance(node.parent, exp.Exists):
            yield " and ".join(name_words(each.name) for each in tables)
        elif self.whole and tables:
            yield f"from {' with '.join(name_words(each.name) for each in tables)}"
        if self.whole and (where := inner.args.get("where")) is not None:
            each_of = where.this.flatten() if isinstance(where.this, exp.And) else [where.this]
            for place, each in enumerate(filter(says_something, each_of)):
                yield from ["and" if place else "where", *self._parts(each)]
        if self.whole and (group := inner.args.get("group")) is not None:
            yield from ["for each", *self._listed(group.expressions)]

    def _column(self, column: exp.Column) -> Iterator[Part]:
        key = self.scopes.key(column) if self.scopes is not None else None
        if isinstance(column.this, exp.Star):
            yield f"everything of {name_words(column.table)}"
        elif key is not None:
            yield key
        elif not column.table and column.name in self.named:
            yield from self._parts(self.named[column.name])
        else:
            yield name_words(column.name)


def _counts(node: exp.Expr) -> exp.Expr | None:
    """The condition of the rows that `SUM(CASE WHEN … THEN 1 ELSE 0 END)` counts; None of anything else."""
    choice = node.this.unnest() if isinstance(node, exp.Sum) else None
    if not isinstance(choice, exp.Case) or choice.this is not None or len(choice.args["ifs"]) != 1:
        return None
    (only,), default = choice.args["ifs"], choice.args.get("default")
    ones = only.args["true"].name == "1" and (default is None or default.name == "0")
    found: exp.Expr = only.this
    return found if ones else None


def says_something(condition: exp.Expr) -> bool:
    """Whether it is more than how rows of two queries belong together."""
    return not (
        isinstance(condition, exp.EQ)
        and isinstance(condition.this, exp.Column)
        and isinstance(condition.expression, exp.Column)
    )


def _cuts_by_pattern(node: exp.Expr) -> bool:
    start = node.args.get("start") if isinstance(node, exp.Substring) else None
    return isinstance(start, exp.Literal) and bool(start.is_string)


def output_of(key: exp.Expr, query: exp.Query) -> exp.Expr:
    """What rows are put together or ordered by; for its number the output that it stands for."""
    place = int(key.name) if isinstance(key, exp.Literal) and not key.is_string and key.name.isdigit() else 0
    return query.selects[place - 1] if 0 < place <= len(query.selects) else key


def joined(parts: Iterable[Part]) -> tuple[Part, ...]:
    """The parts, with words that stand beside each other as one part."""
    made: list[Part] = []
    for part in parts:
        if isinstance(part, str) and made and isinstance(made[-1], str):
            made[-1] = f"{made[-1]} {part}"
        elif part:
            made.append(part)
    return tuple(made)
