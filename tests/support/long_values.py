"""Constants of every type that can be long, dear to compare, and written so that the guard sees how long they are."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

Written = Callable[[int], str]
"""Characters → an expression with about so many."""


def _literal(of: Callable[[int], str], separator: str, around: str = "", cast: str = "text") -> Written:
    """A constant of pieces `of(0)`, `of(1)`…, between the two halves of `around`."""

    def written(size: int) -> str:
        half, total, pieces = len(around) // 2, 0, []
        for piece in map(of, count()):
            total += len(piece) + len(separator)
            if total > size:
                break
            pieces.append(piece)
        return f"'{around[:half]}{separator.join(pieces)}{around[half:]}'::{cast}"

    return written


def _repeated(piece: str, end: str = "", begin: str = "", cast: str = "text") -> Written:
    return lambda size: f"('{begin}' || repeat('{piece}', {size // len(piece)}) || '{end}')::{cast}"


_ARRAYS = (
    lambda size: f"string_to_array(repeat('a,', {size // 2}), ',')",
    lambda size: f"string_to_array(repeat('b,', {size // 2}), ',')",
    _literal(lambda n: f"k{n}", ",", "{}", "text[]"),
)
_NUMBERS = (_repeated("9", cast="numeric"), lambda size: f"(1 - 1e-{min(size, 16_000)})", lambda _: "2.0")

VALUES: dict[str, tuple[Written, ...]] = {
    "text": (
        _repeated("a"),
        _repeated("b"),
        _repeated("a", begin="b"),
        _repeated("a", begin="%", end="b"),
        _repeated("%a", end="b"),
        _repeated("a,"),
        _literal(lambda n: chr(0x4E00 + n % 20_000), ""),
        lambda size: f"(U&'a' || repeat(U&'\\0301\\0327', {size // 2}))",
        lambda _: "'a'",
        lambda _: "''",
    ),
    "bytea": tuple(
        lambda size, each=each: f"convert_to(repeat('{each}', {size}), 'UTF8')" for each in ("a", "b", "ab")
    ),
    "numeric": _NUMBERS,
    "integer": (lambda _: "1", lambda _: "3"),
    "bigint": (lambda _: "1",),
    "boolean": (lambda _: "true",),
    "text[]": _ARRAYS,
    "anyarray": (
        *_ARRAYS,
        _literal(str, ",", "{}", "int[]"),
        _literal(lambda n: str(-1 - n), ",", "{}", "int[]"),
    ),
    "anyelement": (_repeated("a"), lambda _: "'k'::text"),
    "jsonb": (
        _literal(str, ",", "[]", "jsonb"),
        _literal(lambda n: f"[{n}]", ",", "[]", "jsonb"),
        _literal(lambda n: f"[-{n}]", ",", "[]", "jsonb"),
        _literal(lambda n: f'"k{n}":1', ",", "{}", "jsonb"),
        lambda size: f"(repeat('[', {min(size // 2, 3000)}) || repeat(']', {min(size // 2, 3000)}))::jsonb",
    ),
    "json": (_literal(str, ",", "[]", "json"), _literal(lambda n: f'"k{n}":1', ",", "{}", "json")),
    "jsonpath": (
        lambda _: "'$.**'",
        lambda _: "'$.**.**'",
        lambda _: "'$.**.**.**'",
        lambda _: "'$[*] ? (@ == $[*])'",
    ),
    "tsvector": (
        _literal(lambda n: f"w{n}:{n % 16_000 + 1},{n % 16_000 + 2}", " ", cast="tsvector"),
        _literal(lambda n: f"a:{n % 250 + 1}", " ", cast="tsvector"),
    ),
    "tsquery": (
        _literal(lambda n: f"w{n}", " & ", cast="tsquery"),
        _literal(lambda _: "w:*", " | ", cast="tsquery"),
        _literal(lambda _: "a", " <2> ", cast="tsquery"),
    ),
    "polygon": tuple(
        _literal(lambda n, by=by: f"({n % 97},{n * by % 89})", ",", "()", "polygon") for by in (31, 37)
    ),
    "path": tuple(
        _literal(lambda n, by=by: f"({n % 97},{n * by % 89})", ",", "[]", "path") for by in (31, 37)
    ),
    "bit varying": (_repeated("1", cast="varbit"), _repeated("0", begin="1", cast="varbit")),
    "int4multirange": tuple(
        _literal(lambda n, at=at: f"[{4 * n + at},{4 * n + 2})", ",", "{}", "int4multirange") for at in (0, 1)
    ),
}
"""Type → expressions."""

ALIKE = {
    "character varying": "text",
    "character": "text",
    "unknown": "text",
    '"any"': "text",
    "anycompatible": "anyelement",
    "anycompatiblearray": "anyarray",
    "anynonarray": "anyelement",
    "anymultirange": "int4multirange",
    "bit": "bit varying",
}
"""Type → the type whose values it takes here."""

SIZES = (48_000, 9_000, 3_000, 1_000, 300)
"""Characters of each value, the most that the guard lets pass first."""


def values(type_name: str) -> tuple[Written, ...]:
    """Expressions of a type; none where its values cannot be long."""
    return VALUES.get(ALIKE.get(type_name, type_name), ())
