"""How large the results of function calls can be: characters, rows, numbers.

Owns a rule for each function whose result can be larger than its arguments together; any other result counts as the
sum of its arguments. Other expressions are measured by `engine.guard.growth`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from pglast import ast

from engine.guard import bounds
from engine.guard.allowed import DEAR, DEAR_ALONE
from engine.guard.bounds import UNKNOWN, Bound
from engine.guard.measures import COLUMN, Evaluation, Measure, Quantity, most_gathered, most_rows, parts_of

MANY = 1_000.0
"""Characters from which a text that is split or unnested counts as a source of rows."""

Call = Callable[[str, list[Measure], Any, Evaluation], Measure]


def _any_call(_: str, arguments: list[Measure], __: Any, ___: Evaluation) -> Measure:
    """A function whose result is no longer than its arguments together, apart from notation."""
    return Measure(max(COLUMN, sum(a.size for a in arguments)))


def _doubling(name: str, arguments: list[Measure], _: Any, evaluation: Evaluation) -> Measure:
    """Quoting and encoding: every character may become two, in hexadecimal or behind a backslash."""
    return evaluation.text(name, 2 * sum(a.size for a in arguments) + 3)


def _joined(name: str, arguments: list[Measure], _: Any, evaluation: Evaluation) -> Measure:
    separators = arguments[0].size * len(arguments) if name == "concat_ws" and arguments else 0.0
    return evaluation.text(name, sum(a.size for a in arguments) + separators)


def _repeat(name: str, arguments: list[Measure], _: Any, evaluation: Evaluation) -> Measure:
    times = arguments[1].value.high if len(arguments) > 1 else math.inf
    size = arguments[0].size * max(0.0, times) if arguments and arguments[0].size else 0.0
    # Repeating the empty string takes that many steps too.
    evaluation.note(Quantity.CHARACTERS, name, max(size, times))
    return Measure(size)


def _pad(name: str, arguments: list[Measure], _: Any, evaluation: Evaluation) -> Measure:
    size = max(0.0, arguments[1].value.high) if len(arguments) > 1 else math.inf
    return evaluation.text(name, size)


def _fill(name: str, arguments: list[Measure], node: Any, evaluation: Evaluation) -> Measure:
    """array_fill(value, dimensions): known only where the dimensions are written one by one."""
    elements = math.inf
    if len(arguments) > 1 and isinstance(node.args[1], ast.A_ArrayExpr):
        elements = math.prod(max(0.0, m.value.high) for m in evaluation.each(node.args[1].elements))
    size = elements * max(1.0, arguments[0].size) if arguments and elements else 0.0
    return evaluation.text(name, size)


def _replaced(name: str, arguments: list[Measure], node: Any, evaluation: Evaluation) -> Measure:
    """Every piece of the length of the text looked for may become the new text."""
    if len(arguments) < 3:  # noqa: PLR2004 - the server refuses it
        return Measure()
    text, old, new = (a.size for a in arguments[:3])
    known = name == "replace" and isinstance(node.args[1], ast.A_Const)
    return evaluation.text(name, text + text / (old if known and old else 1.0) * new)


_BACKREFERENCE = re.compile(r"\\[0-9&]")


def _replaced_by_pattern(name: str, arguments: list[Measure], node: Any, evaluation: Evaluation) -> Measure:
    """As `replace`, where a match may be empty; each back-reference inserts the match again."""
    if len(arguments) < 3:  # noqa: PLR2004 - the server refuses it
        return Measure()
    text, new = arguments[0].size, arguments[2].size
    written = node.args[2].val.sval if _is_text(node.args[2]) else None
    references = len(_BACKREFERENCE.findall(written)) if written is not None else new / 2
    everywhere = len(arguments) > 3  # noqa: PLR2004 - flags or a place: "g" may be among them
    size = text + (text + 1 if everywhere else 1) * new + references * text
    return evaluation.text(name, size)


_FORMAT = re.compile(r"%(?:(\d+)\$)?-?(\d+|\*(?:\d+\$)?)?([sIL%])")


def _formatted(name: str, arguments: list[Measure], node: Any, evaluation: Evaluation) -> Measure:
    """format(): widths are written in the text, which has to be there (docs 9.4.1)."""
    size = math.inf
    if arguments and _is_text(node.args[0]):
        size, place = arguments[0].size, 0
        for given, width, kind in _FORMAT.findall(node.args[0].val.sval):
            place = int(given) if given else place + (kind != "%")
            value = 2 * arguments[place].size + 3 if 0 < place < len(arguments) else 0.0
            size += max(value, math.inf if width.startswith("*") else float(width or 0))
    return evaluation.text(name, math.inf if node.func_variadic else size)


def _is_text(node: object) -> bool:
    return isinstance(node, ast.A_Const) and isinstance(node.val, ast.String)


def _separated(name: str, arguments: list[Measure], _: Any, evaluation: Evaluation) -> Measure:
    """array_to_string(array, separator, for NULL): all three for each element; `array_replace` likewise."""
    size = math.prod(max(1.0, a.size) for a in arguments[:1]) * max([1.0, *(a.size for a in arguments[1:])])
    return evaluation.text(name, size)


def _series(name: str, arguments: list[Measure], node: Any, evaluation: Evaluation) -> Measure:
    """generate_series(start, stop, step); where data or the clock decide, the numbers written beside them count."""
    given = [a.value for a in arguments]
    start, stop, step = [*given, *(UNKNOWN, UNKNOWN, bounds.exactly(1.0))[len(given) :]][:3]
    rows = bounds.steps(start, stop, step)
    if math.isinf(rows) and not any(_endless(a.value) for a in arguments):
        written = [*_within(node, evaluation)]
        rows = math.inf if step == bounds.exactly(0.0) else max([1.0, *written])
    evaluation.note(Quantity.ROWS, name, rows)
    return Measure(COLUMN, bounds.hull([start, stop]), rows)


def _endless(bound: Bound) -> bool:
    return math.isinf(bound.low) and bound.low == bound.high


def _within(node: Any, evaluation: Evaluation) -> Iterator[float]:
    """The sizes of all numbers in an expression that are known."""
    waiting = list(parts_of(node))
    while waiting:
        part = waiting.pop()
        value = evaluation.of(part).value
        if not value.time and math.isfinite(value.size):
            yield value.size
        waiting.extend(parts_of(part))


def _split(_: str, arguments: list[Measure], __: Any, ___: Evaluation) -> Measure:
    """A set-returning function that returns a row for each part of its argument."""
    size = sum(a.size for a in arguments)
    return Measure(max(COLUMN, size), UNKNOWN, size if size > MANY else 1.0)


def _gathering(_: str, arguments: list[Measure], __: Any, ___: Evaluation) -> Measure:
    size = sum(a.size for a in arguments)
    return Measure(size, gathered=size)


def _highlighted(name: str, arguments: list[Measure], _: Any, evaluation: Evaluation) -> Measure:
    """ts_headline: each word may get the marks that the options hold."""
    *_, shorter, longer = [1.0, 1.0, *sorted(a.size for a in arguments)]
    return evaluation.text(name, shorter * longer)


def _polygon(name: str, arguments: list[Measure], _: Any, evaluation: Evaluation) -> Measure:
    """polygon(points, circle)."""
    if len(arguments) > 1:
        evaluation.note(Quantity.CHARACTERS, name, arguments[0].value.high)
    return Measure()


def _factorial(name: str, arguments: list[Measure], _: Any, evaluation: Evaluation) -> Measure:
    evaluation.note(Quantity.FACTORS, name, arguments[0].value.high if arguments else 0.0)
    return Measure()


def _power(name: str, arguments: list[Measure], _: Any, evaluation: Evaluation) -> Measure:
    if len(arguments) < 2:  # noqa: PLR2004 - the server refuses it
        return Measure()
    base, exponent = arguments[0].value, arguments[1].value
    evaluation.note(Quantity.DIGITS, name, bounds.digits(base, exponent))
    return Measure(COLUMN, bounds.power(base, exponent))


def _length(_: str, arguments: list[Measure], __: Any, ___: Evaluation) -> Measure:
    return Measure(COLUMN, Bound(0.0, sum(a.size for a in arguments)))


def _kept(_: str, arguments: list[Measure], __: Any, ___: Evaluation) -> Measure:
    """The first argument, give or take rounding; `date_trunc` cuts its second."""
    values = [a.value for a in arguments]
    value = values[0] if values else UNKNOWN
    return Measure(
        max([COLUMN, *(a.size for a in arguments)]), Bound(value.low - 1, value.high + 1, value.time)
    )


def _cut_time(_: str, arguments: list[Measure], __: Any, ___: Evaluation) -> Measure:
    return Measure(COLUMN, arguments[1].value if len(arguments) > 1 else UNKNOWN)


def _absolute(_: str, arguments: list[Measure], __: Any, ___: Evaluation) -> Measure:
    return Measure(COLUMN, Bound(0.0, arguments[0].value.size) if arguments else UNKNOWN)


def _number_of(_: str, arguments: list[Measure], __: Any, ___: Evaluation) -> Measure:
    """ntile(n), width_bucket(x, low, high, n): at most the last argument, and one."""
    return Measure(COLUMN, Bound(0.0, arguments[-1].value.high + 1) if arguments else UNKNOWN)


def _clock_call(_: str, __: list[Measure], ___: Any, ____: Evaluation) -> Measure:
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
        _formatted: "format",
        _joined: "concat concat_ws array_cat array_append array_prepend jsonb_concat overlay textcat",
        _separated: "array_to_string array_replace",
        _doubling: "quote_literal quote_nullable quote_ident encode convert_to to_hex similar_to_escape similar_escape "
        "normalize to_json to_jsonb",
        _series: "generate_series",
        _split: "unnest regexp_split_to_table regexp_matches string_to_table jsonb_array_elements json_array_elements "
        "jsonb_array_elements_text json_array_elements_text jsonb_each json_each jsonb_each_text json_each_text "
        "jsonb_object_keys json_object_keys jsonb_path_query jsonb_path_query_tz generate_subscripts",
        _gathering: "string_agg array_agg json_agg jsonb_agg json_object_agg jsonb_object_agg json_agg_strict "
        "jsonb_agg_strict json_object_agg_strict jsonb_object_agg_strict",
        _factorial: "factorial",
        _highlighted: "ts_headline",
        _polygon: "polygon",
        _power: "power pow",
        _length: "length char_length character_length octet_length cardinality array_length",
        _kept: "round ceil ceiling floor trunc int2 int4 int8 numeric float4 float8 date timestamp timestamptz",
        _cut_time: "date_trunc timezone",
        _absolute: "abs sqrt",
        _number_of: "ntile width_bucket",
        _clock_call: "now transaction_timestamp statement_timestamp clock_timestamp",
    }
)


_UNBOUNDED = frozenset({_length, _kept, _cut_time, _absolute, _number_of, _clock_call})

BOUNDED = frozenset(name for name, call in _CALLS.items() if call not in _UNBOUNDED)
"""Functions that are allowed for small arguments only; `(x).f`, a call that shows no arguments, is not allowed."""


def measure_call(node: Any, evaluation: Evaluation) -> Measure:
    """The measure of a call's result: never fewer rows than its arguments have."""
    name = node.funcname[-1].sval
    arguments = evaluation.each(node.args)
    rule = _CALLS.get(name, _any_call)
    evaluation.named.add(name)
    sizes = [a.size for a in arguments]
    if name in DEAR:
        evaluation.product(name, sizes * 2 if name in DEAR_ALONE else sizes)
    if name.startswith("jsonb_path_"):
        evaluation.path(name, max([COLUMN, *sizes]))
    evaluation.numbers(name, len(sizes))
    made = rule(name, arguments, node, evaluation)
    return replace(
        made,
        rows=max(made.rows, most_rows(arguments)),
        gathered=max(made.gathered, most_gathered(arguments)),
    )
