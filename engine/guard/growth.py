"""What the constants of a statement make of it: the longest text, the most rows, the largest numbers.

Owns the description, bottom up over the parse tree, one measure a node: how long its value can be, between which numbers
it lies, how many rows it gives. Decides nothing: the limits are the policy's. What the data decide counts as short
(`COLUMN` characters) and as one row, but never as a number that is known: `repeat('x', n)` has no bound.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from pglast import ast

from engine.guard import bounds
from engine.guard.bounds import UNKNOWN, Bound

COLUMN = 32.0
"""Characters that a column's value is taken for. What they really are is the data's owner's to decide."""

_MANY = 1_000.0
"""Characters from which a text that is split or unnested counts as a source of rows."""


class Kind(StrEnum):
    """What grows. The limits of each are in `engine.guard.policy`."""

    CHARACTERS = "characters"
    ROWS = "rows"
    GATHERED = "characters gathered from rows"
    PAIRS = "steps"
    DIGITS = "digits"
    FACTORS = "factors"


@dataclass(frozen=True, slots=True)
class Growth:
    """`what` (a function, an operator, a type) makes `amount` of `kind`; infinite: the statement sets no bound."""

    kind: Kind
    what: str
    amount: float


@dataclass(frozen=True, slots=True)
class Measure:
    """`size`: characters. `value`: as a number. `rows`: that it gives. `gathered`: characters aggregated for each row."""

    size: float = COLUMN
    value: Bound = UNKNOWN
    rows: float = 1.0
    gathered: float = 0.0


_NOTHING = Measure(size=0.0)


@dataclass(slots=True)
class _State:
    """Measures by node, of queries already left the longest text, of WITH queries the rows."""

    measures: dict[int, Measure] = field(default_factory=dict)
    longest: float = COLUMN
    rows: dict[str, float] = field(default_factory=dict)
    found: list[Growth] = field(default_factory=list)

    def of(self, node: object) -> Measure:
        return self.measures.get(id(node), _NOTHING)

    def each(self, nodes: Sequence[object] | None) -> list[Measure]:
        return [self.of(node) for node in nodes or ()]

    def note(self, kind: Kind, what: str, amount: float) -> None:
        self.found.append(Growth(kind, what, amount))


def growth(root: ast.Node) -> tuple[Growth, ...]:
    """All that grows in a statement, in the order of evaluation."""
    state = _State()
    # No recursion, as in `engine.guard.analyse`: a node is met twice, before its parts and after them.
    stack: list[tuple[Any, bool]] = [(root, False)]
    while stack:
        node, done = stack.pop()
        if done:
            state.measures[id(node)] = _MEASURES.get(type(node), _together)(node, state)
        else:
            stack.append((node, True))
            stack.extend((part, False) for part in reversed(list(_parts(node))))
    return tuple(state.found)


_FIRST = ("withClause", "fromClause", "larg", "rarg")
"""Slots of a SELECT that are read before its expressions: what these name was made there."""


def _parts(node: Any, without: tuple[str, ...] = ()) -> Iterator[Any]:
    own = [slot for slot in node.__slots__ if slot not in without]
    for slot in sorted(own, key=lambda slot: _FIRST.index(slot) if slot in _FIRST else len(_FIRST)):
        waiting = [getattr(node, slot)]
        while waiting:
            part = waiting.pop()
            if isinstance(part, tuple):
                waiting.extend(reversed(part))
            elif isinstance(part, ast.Node):
                yield part


def _together(node: Any, state: _State) -> Measure:
    """What a node of no special meaning makes of its parts: their sum."""
    parts = [state.of(part) for part in _parts(node)]
    return Measure(sum(p.size for p in parts), UNKNOWN, _most_rows(parts), _most_gathered(parts))


def _most_rows(parts: Sequence[Measure]) -> float:
    return max((p.rows for p in parts), default=1.0)


def _most_gathered(parts: Sequence[Measure]) -> float:
    return max((p.gathered for p in parts), default=0.0)


def _same(measures: Sequence[Measure], value: Bound) -> Measure:
    """One of several: the longest, with `value`."""
    size = max((m.size for m in measures), default=0.0)
    return Measure(size, value, _most_rows(measures), _most_gathered(measures))


def _constant(node: Any, _: _State) -> Measure:
    match node.val:
        case ast.Integer(ival=number):
            return Measure(float(len(str(number or 0))), bounds.exactly(float(number or 0)))
        case ast.Float(fval=text):
            return Measure(float(len(text)), bounds.literal(text))
        case ast.String(sval=text) | ast.BitString(bsval=text):
            return Measure(float(len(text)), bounds.literal(text))
    return Measure(1.0)


def _column(_: Any, state: _State) -> Measure:
    return Measure(state.longest)


def _clock(_: Any, __: _State) -> Measure:
    return Measure(value=bounds.NOW)


_PADDED = frozenset({"bpchar", "bit"})


def _cast(node: Any, state: _State) -> Measure:
    argument = state.of(node.arg)
    name = node.typeName.names[-1].sval
    modifiers = state.each(node.typeName.typmods)
    size = argument.size
    if name in _PADDED and modifiers:
        size = modifiers[0].value.high
        state.note(Kind.CHARACTERS, name, size)
    elif isinstance(node.arg, ast.RowExpr | ast.A_ArrayExpr | ast.FuncCall | ast.TypeCast) and name in _TEXTS:
        size *= 2  # quotes and backslashes inside are doubled
    return replace(argument, size=size)


_TEXTS = frozenset({"text", "varchar", "bpchar", "char", "name"})

_ARITHMETIC: dict[str, Callable[[Bound, Bound], Bound]] = {
    "+": bounds.add,
    "-": bounds.subtract,
    "*": bounds.multiply,
    "/": bounds.divide,
    "^": bounds.power,
    "%": bounds.modulo,
}


def _operation(node: Any, state: _State) -> Measure:
    name = node.name[-1].sval
    left, right = state.of(node.lexpr), state.of(node.rexpr)
    both = [left, right]
    if node.kind.name == "AEXPR_NULLIF":
        return left
    if name == "||":
        size = left.size + right.size
        state.note(Kind.CHARACTERS, name, size)
        return Measure(size, UNKNOWN, _most_rows(both), _most_gathered(both))
    if name == "^":
        state.note(Kind.DIGITS, name, bounds.digits(left.value, right.value))
    if name in _ARITHMETIC and node.rexpr is not None:
        first = left.value if node.lexpr is not None else bounds.exactly(0.0, time=right.value.time)
        return replace(_same(both, _ARITHMETIC[name](first, right.value)), size=COLUMN)
    return replace(_same(both, UNKNOWN), size=max(COLUMN, left.size, right.size))


def _extreme(node: Any, state: _State) -> Measure:
    found = state.each(node.args)
    of = bounds.least if node.op.name == "IS_LEAST" else bounds.greatest
    return _same(found, of(m.value for m in found))


def _alternative(node: Any, state: _State) -> Measure:
    """COALESCE, CASE and its branches: one of the results."""
    if isinstance(node, ast.CaseWhen):
        return state.of(node.result)
    parts: list[object] = [*(node.args or ())]
    if isinstance(node, ast.CaseExpr) and node.defresult is not None:
        parts.append(node.defresult)
    found = state.each(parts)
    return _same(found, bounds.hull(m.value for m in found))


def _subquery(node: Any, state: _State) -> Measure:
    """A scalar one is its value, ARRAY(…) all of its rows, any other true or false."""
    inner = state.of(node.subselect)
    if node.subLinkType.name == "EXPR_SUBLINK":
        return replace(inner, gathered=0.0)
    if node.subLinkType.name == "ARRAY_SUBLINK":
        state.note(Kind.GATHERED, "ARRAY", inner.size * inner.rows)
        return Measure(inner.size * inner.rows, UNKNOWN, inner.rows)
    return Measure(5.0, UNKNOWN, inner.rows)


def _relation(node: Any, state: _State) -> Measure:
    return Measure(state.longest, UNKNOWN, 1.0 if node.schemaname else state.rows.get(node.relname, 1.0))


def _functions_in_from(node: Any, state: _State) -> Measure:
    calls = [state.of(call) for call, _ in node.functions]
    state.longest = max(state.longest, *(call.size for call in calls))
    return _same(calls, UNKNOWN)


def _join(node: Any, state: _State) -> Measure:
    return Measure(COLUMN, UNKNOWN, state.of(node.larg).rows * state.of(node.rarg).rows)


def _with_query(node: Any, state: _State) -> Measure:
    query = state.of(node.ctequery)
    state.rows[node.ctename] = max(query.rows, state.rows.get(node.ctename, 1.0))
    return query


def _select(node: Any, state: _State) -> Measure:
    """A query: the rows of FROM multiply, and so does what its expressions give or run for each of them."""
    if node.larg is not None:
        arms = [state.of(node.larg), state.of(node.rarg)]
        return replace(_same(arms, bounds.hull(a.value for a in arms)), rows=sum(a.rows for a in arms))
    lists = [state.each(row) for row in node.valuesLists or ()]
    targets = [*state.each(node.targetList), *(value for row in lists for value in row)]
    expressions = [*targets, *(state.of(part) for part in _parts(node, without=_FIRST))]
    sources = math.prod(m.rows for m in state.each(node.fromClause))
    rows = max(sources * _most_rows(expressions), float(len(lists)))
    gathered = _most_gathered(expressions) * sources
    state.note(Kind.ROWS, "the query", rows)
    state.note(Kind.GATHERED, "an aggregate", gathered)
    size = max([gathered, *(m.size for m in targets)])
    state.longest = max(state.longest, size)
    first = [row[0] for row in lists if row] or targets[:1]
    return Measure(size, bounds.hull(m.value for m in first), rows)


Call = Callable[[str, list[Measure], Any, _State], Measure]


def _call(node: Any, state: _State) -> Measure:
    name = node.funcname[-1].sval
    arguments = state.each(node.args)
    rule = _CALLS.get(name, _any_call)
    made = rule(name, arguments, node, state)
    return replace(
        made,
        rows=max(made.rows, _most_rows(arguments)),
        gathered=max(made.gathered, _most_gathered(arguments)),
    )


def _any_call(_: str, arguments: list[Measure], __: Any, ___: _State) -> Measure:
    """A function that makes no more of its arguments than their sum, give or take notation."""
    return Measure(max(COLUMN, sum(a.size for a in arguments)))


def _doubling(name: str, arguments: list[Measure], _: Any, state: _State) -> Measure:
    """Quoting and encoding: every character may become two, in hexadecimal or behind a backslash."""
    size = 2 * sum(a.size for a in arguments) + 3
    state.note(Kind.CHARACTERS, name, size)
    return Measure(size)


def _joined(name: str, arguments: list[Measure], _: Any, state: _State) -> Measure:
    separators = arguments[0].size * len(arguments) if name == "concat_ws" and arguments else 0.0
    size = sum(a.size for a in arguments) + separators
    state.note(Kind.CHARACTERS, name, size)
    return Measure(size)


def _repeat(name: str, arguments: list[Measure], _: Any, state: _State) -> Measure:
    times = arguments[1].value.high if len(arguments) > 1 else math.inf
    size = arguments[0].size * max(0.0, times) if arguments and arguments[0].size else 0.0
    # Even of nothing: the server counts to the number.
    state.note(Kind.CHARACTERS, name, max(size, times))
    return Measure(size)


def _pad(name: str, arguments: list[Measure], _: Any, state: _State) -> Measure:
    size = max(0.0, arguments[1].value.high) if len(arguments) > 1 else math.inf
    state.note(Kind.CHARACTERS, name, size)
    return Measure(size)


def _fill(name: str, arguments: list[Measure], node: Any, state: _State) -> Measure:
    """array_fill(value, dimensions): known only where the dimensions are written one by one."""
    elements = math.inf
    if len(arguments) > 1 and isinstance(node.args[1], ast.A_ArrayExpr):
        elements = math.prod(max(0.0, m.value.high) for m in state.each(node.args[1].elements))
    size = elements * max(1.0, arguments[0].size) if arguments and elements else 0.0
    state.note(Kind.CHARACTERS, name, size)
    return Measure(size)


def _replaced(name: str, arguments: list[Measure], node: Any, state: _State) -> Measure:
    """Every piece of the length of the text looked for may become the new text."""
    if len(arguments) < 3:  # noqa: PLR2004 - the server refuses it
        return Measure()
    text, old, new = (a.size for a in arguments[:3])
    known = name == "replace" and isinstance(node.args[1], ast.A_Const)
    size = text + text / (old if known and old else 1.0) * new
    state.note(Kind.CHARACTERS, name, size)
    state.note(Kind.PAIRS, name, text * (old if name == "replace" else 1.0))
    return Measure(size)


_BACKREFERENCE = re.compile(r"\\[0-9&]")


def _replaced_by_pattern(name: str, arguments: list[Measure], node: Any, state: _State) -> Measure:
    """As `replace`, where a match may be empty; what a match holds comes back for each reference to it."""
    if len(arguments) < 3:  # noqa: PLR2004 - the server refuses it
        return Measure()
    text, new = arguments[0].size, arguments[2].size
    written = node.args[2].val.sval if _is_text(node.args[2]) else None
    references = len(_BACKREFERENCE.findall(written)) if written is not None else new / 2
    everywhere = len(arguments) > 3  # noqa: PLR2004 - flags or a place: "g" may be among them
    size = text + (text + 1 if everywhere else 1) * new + references * text
    state.note(Kind.CHARACTERS, name, size)
    return Measure(size)


def _translated(name: str, arguments: list[Measure], _: Any, state: _State) -> Measure:
    """For each character the whole list is searched."""
    sizes = [a.size for a in arguments]
    state.note(Kind.PAIRS, name, math.prod(sizes[:2]))
    return Measure(sizes[0] if sizes else 0.0)


_FORMAT = re.compile(r"%(?:(\d+)\$)?-?(\d+|\*(?:\d+\$)?)?([sIL%])")


def _formatted(name: str, arguments: list[Measure], node: Any, state: _State) -> Measure:
    """format(): widths are written in the text, which has to be there (docs 9.4.1)."""
    size = math.inf
    if arguments and _is_text(node.args[0]):
        size, place = arguments[0].size, 0
        for given, width, kind in _FORMAT.findall(node.args[0].val.sval):
            place = int(given) if given else place + (kind != "%")
            value = 2 * arguments[place].size + 3 if 0 < place < len(arguments) else 0.0
            size += max(value, math.inf if width.startswith("*") else float(width or 0))
    if node.func_variadic:
        size = math.inf
    state.note(Kind.CHARACTERS, name, size)
    return Measure(size)


def _is_text(node: object) -> bool:
    return isinstance(node, ast.A_Const) and isinstance(node.val, ast.String)


def _separated(name: str, arguments: list[Measure], _: Any, state: _State) -> Measure:
    """array_to_string(array, separator, for NULL): all three for each element; `array_replace` likewise."""
    size = math.prod(max(1.0, a.size) for a in arguments[:1]) * max([1.0, *(a.size for a in arguments[1:])])
    state.note(Kind.CHARACTERS, name, size)
    return Measure(size)


def _series(name: str, arguments: list[Measure], node: Any, state: _State) -> Measure:
    """generate_series(start, stop, step); where the data or the clock decide, what is written beside them counts."""
    given = [a.value for a in arguments]
    start, stop, step = [*given, *(UNKNOWN, UNKNOWN, bounds.exactly(1.0))[len(given) :]][:3]
    rows = bounds.steps(start, stop, step)
    if math.isinf(rows) and not any(_endless(a.value) for a in arguments):
        written = [*_within(node, state)]
        rows = math.inf if step == bounds.exactly(0.0) else max([1.0, *written])
    state.note(Kind.ROWS, name, rows)
    return Measure(COLUMN, bounds.hull([start, stop]), rows)


def _endless(bound: Bound) -> bool:
    return math.isinf(bound.low) and bound.low == bound.high


def _within(node: Any, state: _State) -> Iterator[float]:
    """The sizes of all numbers in an expression that are known."""
    waiting = list(_parts(node))
    while waiting:
        part = waiting.pop()
        value = state.of(part).value
        if not value.time and math.isfinite(value.size):
            yield value.size
        waiting.extend(_parts(part))


def _split(_: str, arguments: list[Measure], __: Any, ___: _State) -> Measure:
    """What gives a row for a part of its argument."""
    size = sum(a.size for a in arguments)
    return Measure(max(COLUMN, size), UNKNOWN, size if size > _MANY else 1.0)


def _gathering(_: str, arguments: list[Measure], __: Any, ___: _State) -> Measure:
    size = sum(a.size for a in arguments)
    return Measure(size, gathered=size)


def _json_gathering(node: Any, state: _State) -> Measure:
    made = _together(node, state)
    return replace(made, gathered=made.size)


def _factorial(name: str, arguments: list[Measure], _: Any, state: _State) -> Measure:
    state.note(Kind.FACTORS, name, arguments[0].value.high if arguments else 0.0)
    return Measure()


def _power(name: str, arguments: list[Measure], _: Any, state: _State) -> Measure:
    if len(arguments) < 2:  # noqa: PLR2004 - the server refuses it
        return Measure()
    base, exponent = arguments[0].value, arguments[1].value
    state.note(Kind.DIGITS, name, bounds.digits(base, exponent))
    return Measure(COLUMN, bounds.power(base, exponent))


def _length(_: str, arguments: list[Measure], __: Any, ___: _State) -> Measure:
    return Measure(COLUMN, Bound(0.0, sum(a.size for a in arguments)))


def _kept(_: str, arguments: list[Measure], __: Any, ___: _State) -> Measure:
    """The first argument, give or take rounding; `date_trunc` cuts its second."""
    values = [a.value for a in arguments]
    value = values[0] if values else UNKNOWN
    return Measure(max([COLUMN, *(a.size for a in arguments)]), Bound(value.low - 1, value.high + 1, value.time))


def _cut_time(_: str, arguments: list[Measure], __: Any, ___: _State) -> Measure:
    return Measure(COLUMN, arguments[1].value if len(arguments) > 1 else UNKNOWN)


def _absolute(_: str, arguments: list[Measure], __: Any, ___: _State) -> Measure:
    return Measure(COLUMN, Bound(0.0, arguments[0].value.size) if arguments else UNKNOWN)


def _number_of(_: str, arguments: list[Measure], __: Any, ___: _State) -> Measure:
    """ntile(n), width_bucket(x, low, high, n): at most the last argument, and one."""
    return Measure(COLUMN, Bound(0.0, arguments[-1].value.high + 1) if arguments else UNKNOWN)


def _clock_call(_: str, __: list[Measure], ___: Any, ____: _State) -> Measure:
    return Measure(value=bounds.NOW)


def _calls(table: dict[Call, str]) -> dict[str, Call]:
    return {name: call for call, names in table.items() for name in names.split()}


_CALLS = _calls(
    {
        _repeat: "repeat",
        _pad: "lpad rpad",
        _fill: "array_fill",
        _replaced: "replace",
        _replaced_by_pattern: "regexp_replace",
        _translated: "translate",
        _formatted: "format",
        _joined: "concat concat_ws array_cat array_append array_prepend jsonb_concat overlay textcat",
        _separated: "array_to_string array_replace",
        _doubling: "quote_literal quote_nullable quote_ident encode convert_to to_hex similar_to_escape similar_escape "
        "normalize to_json to_jsonb",
        _series: "generate_series",
        _split: "unnest regexp_split_to_table regexp_matches string_to_table jsonb_array_elements json_array_elements "
        "jsonb_array_elements_text json_array_elements_text jsonb_each json_each jsonb_each_text json_each_text "
        "jsonb_object_keys json_object_keys jsonb_path_query generate_subscripts",
        _gathering: "string_agg array_agg json_agg jsonb_agg json_object_agg jsonb_object_agg json_agg_strict "
        "jsonb_agg_strict json_object_agg_strict jsonb_object_agg_strict",
        _factorial: "factorial",
        _power: "power pow",
        _length: "length char_length character_length octet_length cardinality array_length",
        _kept: "round ceil ceiling floor trunc int2 int4 int8 numeric float4 float8 date timestamp timestamptz",
        _cut_time: "date_trunc timezone",
        _absolute: "abs sqrt",
        _number_of: "ntile width_bucket",
        _clock_call: "now transaction_timestamp statement_timestamp clock_timestamp",
    }
)

_MEASURES: dict[type[ast.Node], Callable[[Any, _State], Measure]] = {
    ast.A_Const: _constant,
    ast.ColumnRef: _column,
    ast.SQLValueFunction: _clock,
    ast.TypeCast: _cast,
    ast.A_Expr: _operation,
    ast.MinMaxExpr: _extreme,
    ast.CoalesceExpr: _alternative,
    ast.CaseExpr: _alternative,
    ast.CaseWhen: _alternative,
    ast.ResTarget: lambda node, state: state.of(node.val),
    ast.SubLink: _subquery,
    ast.RangeVar: _relation,
    ast.RangeSubselect: lambda node, state: state.of(node.subquery),
    ast.RangeFunction: _functions_in_from,
    ast.JoinExpr: _join,
    ast.CommonTableExpr: _with_query,
    ast.JsonArrayAgg: _json_gathering,
    ast.JsonObjectAgg: _json_gathering,
    ast.SelectStmt: _select,
    ast.FuncCall: _call,
    ast.TypeName: lambda _node, _state: _NOTHING,
    ast.NamedArgExpr: lambda node, state: state.of(node.arg),
}
"""What each class makes of its parts; any other their sum."""
