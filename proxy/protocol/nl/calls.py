"""Calls of `nl.ask` inside of SQL: where they are, what is asked, what stands in their place."""

from __future__ import annotations

from collections.abc import Sequence

from engine.errors import UnsupportedError
from proxy.protocol.lexer import Kind, Statement, Token, string_value
from proxy.protocol.nl.grammar import Source
from proxy.protocol.nl.statements import AskCall, Parameter

_HINT = "Write SELECT … FROM nl.ask('question') or nl.ask($1), once in a statement."
_STORED = frozenset({"view", "function", "procedure", "rule", "policy", "trigger"})
_TEXT_TYPES = frozenset({"text", "varchar", "character", "varying", "char", "pg_catalog", "unknown"})
# Reserved words that can follow an item of FROM and so are no alias.
_FOLLOWERS = frozenset(
    [
        "cross",
        "except",
        "fetch",
        "for",
        "full",
        "group",
        "having",
        "inner",
        "intersect",
        "join",
        "left",
        "limit",
        "natural",
        "offset",
        "on",
        "order",
        "returning",
        "right",
        "tablesample",
        "union",
        "using",
        "when",
        "where",
        "window",
    ]
)


def find(source: Source, statement: Statement) -> tuple[int, int, AskCall] | None:
    """The call of `nl.ask` in `statement` as (start, end, call); None where there is none.

    Raises:
        UnsupportedError: There is one that cannot be answered in place.
    """
    words = statement.significant
    starts = [i for i in range(len(words) - 3) if _is_call(source, words, i)]
    if not starts:
        return None
    if len(starts) > 1:
        raise UnsupportedError("a statement can hold one call of nl.ask", hint=_HINT)
    _refuse_context(source, words, starts[0])
    close = _closing(source, words, starts[0] + 3)
    argument = _argument(source, words[starts[0] + 4 : close])
    if isinstance(argument, Parameter):
        _refuse_second_use(source, words, argument)
    return (
        words[starts[0]].start,
        words[close].end,
        AskCall(argument, named=_is_named(source, words[close + 1 :])),
    )


def _is_call(source: Source, words: Sequence[Token], i: int) -> bool:
    return (
        source.name(words[i]) == "nl"
        and source.raw(words[i + 1]) == "."
        and source.name(words[i + 2]) == "ask"
        and source.raw(words[i + 3]) == "("
    )


def _refuse_context(source: Source, words: Sequence[Token], start: int) -> None:
    head = {source.raw(word).lower() for word in words[:6]}
    if source.is_word(words[0], "prepare") or (source.is_word(words[0], "create") and head & _STORED):
        raise UnsupportedError(
            "nl.ask cannot be stored in a view, function or prepared statement of SQL",
            hint="Prepare it with the protocol's own prepared statements, or create a table from its rows.",
        )
    before = words[start - 1] if start else None
    if before is None or not (source.is_word(before, "from", "join", "lateral") or source.raw(before) == ","):
        raise UnsupportedError("nl.ask can stand only in FROM", hint=_HINT)


def _closing(source: Source, words: Sequence[Token], opening: int) -> int:
    depth = 0
    for i in range(opening, len(words)):
        depth += {"(": 1, ")": -1}.get(source.raw(words[i]), 0)
        if depth == 0:
            return i
    raise UnsupportedError("the call of nl.ask is not closed", hint=_HINT)


def _argument(source: Source, words: Sequence[Token]) -> str | Parameter:
    if words and _is_text_cast(source, words[1:]):
        if words[0].kind is Kind.PARAMETER:
            return Parameter(int(source.raw(words[0])[1:]))
        if words[0].kind is not Kind.QUOTED_NAME:
            value = string_value(source.text, words[0], standard_strings=source.standard_strings)
            if value is not None:
                return value
    raise UnsupportedError("the argument of nl.ask must be one string constant or parameter", hint=_HINT)


def _is_text_cast(source: Source, words: Sequence[Token]) -> bool:
    """Nothing, or `::` and the name of a text type, which drivers put behind a parameter."""
    if not words:
        return True
    cast, name = words[:2], words[2:]
    if not name or any(source.raw(word) != ":" for word in cast):
        return False
    return all(source.name(word) in _TEXT_TYPES or source.raw(word) == "." for word in name)


def _refuse_second_use(source: Source, words: Sequence[Token], parameter: Parameter) -> None:
    uses = [
        word for word in words if word.kind is Kind.PARAMETER and source.raw(word) == f"${parameter.number}"
    ]
    if len(uses) > 1:
        raise UnsupportedError(
            f"the parameter ${parameter.number} of nl.ask is used a second time",
            hint="Give the question a parameter of its own.",
        )


def _is_named(source: Source, following: Sequence[Token]) -> bool:
    if not following:
        return False
    if source.is_word(following[0], "with"):
        raise UnsupportedError("nl.ask has no WITH ORDINALITY", hint="Its column n numbers the rows.")
    name = source.name(following[0])
    return name is not None and (following[0].kind is Kind.QUOTED_NAME or name not in _FOLLOWERS)
