"""Calls of `nl.ask` and `nl.run` inside of SQL: their places and arguments."""

from __future__ import annotations

from collections.abc import Sequence

from engine.values.errors import UnsupportedError
from proxy.protocol.lexer import LexedStatement, LexedToken, SqlText, TokenKind
from proxy.protocol.nl.statements import MOST_FINDINGS, AskCall, NLCall, Parameter, RunCall

_RUN_HINT = "Write SELECT … FROM nl.run('qid', n) AS t."
_HINT = "Write SELECT … FROM nl.ask('question') or nl.ask($1), once in a statement."
_STORED = frozenset({"view", "function", "procedure", "rule", "policy", "trigger"})
_TEXT_TYPES = frozenset({"text", "varchar", "character", "varying", "char", "pg_catalog", "unknown"})
# Reserved words that can follow an item of FROM and so are no alias.
_FOLLOWERS = frozenset([
    "cross", "except", "fetch", "for", "full", "group", "having", "inner", "intersect", "join", "left",
    "limit", "natural", "offset", "on", "order", "returning", "right", "tablesample", "union", "using",
    "when", "where", "window",
])  # fmt: skip


def find(source: SqlText, statement: LexedStatement) -> list[tuple[int, int, NLCall]]:
    """The calls in `statement` as (start, end, call), in order: one of `nl.ask`, or those of `nl.run`.

    Raises:
        UnsupportedError: There is one that cannot be answered in place.
    """
    words = statement.significant
    dots = (i for i, word in enumerate(words[1:-2]) if source.text[word.start] == ".")
    starts = [i for i in dots if _function(source, words, i)]
    asks = sum(_function(source, words, i) == "ask" for i in starts)
    if asks > 1:
        raise UnsupportedError("a statement can hold one call of nl.ask", hint=_HINT)
    if 0 < asks < len(starts):
        raise UnsupportedError(
            "a statement cannot hold calls of both nl.ask and nl.run",
            hint="Keep one of them in a temporary table.",
        )
    return [_call(source, words, i) for i in starts[: MOST_FINDINGS + 1]]


def _call(source: SqlText, words: Sequence[LexedToken], start: int) -> tuple[int, int, NLCall]:
    name = _function(source, words, start)
    _refuse_context(source, words, start)
    close = _closing(source, words, start + 3)
    inside, named = words[start + 4 : close], _is_named(source, words[close + 1 :], name)
    call: NLCall
    if name == "run":
        call = _run(source, inside, named=named)
    else:
        argument = _argument(source, inside)
        if isinstance(argument, Parameter):
            _refuse_second_use(source, words, argument)
        call = AskCall(argument, named=named)
    return words[start].start, words[close].end, call


def _function(source: SqlText, words: Sequence[LexedToken], i: int) -> str | None:
    """The name of our function that is called at word `i`, None for none."""
    if source.name(words[i]) != "nl" or source.raw(words[i + 1]) != "." or source.raw(words[i + 3]) != "(":
        return None
    name = source.name(words[i + 2])
    return name if name in ("ask", "run") else None


def _run(source: SqlText, words: Sequence[LexedToken], *, named: bool) -> RunCall:
    match words:
        case [qid, comma, number] if source.raw(comma) == "," and qid.kind is not TokenKind.QUOTED_NAME:
            value, n = source.constant(qid), source.row_number(number)
            if value and n is not None:
                return RunCall(value, n, named=named)
    raise UnsupportedError(
        "the arguments of nl.run must be a qid and a row number, both constants",
        detail="Its columns are those of the chosen statement, so they must be known when it is prepared.",
        hint=_RUN_HINT,
    )


def _refuse_context(source: SqlText, words: Sequence[LexedToken], start: int) -> None:
    """A question cannot be stored; a chosen statement can."""
    name = _function(source, words, start)
    head = {source.raw(word).lower() for word in words[:6]}
    stored = source.is_word(words[0], "prepare") or (source.is_word(words[0], "create") and head & _STORED)
    if name == "ask" and stored:
        raise UnsupportedError(
            "nl.ask cannot be stored in a view, function or prepared statement of SQL",
            hint="Prepare it with the protocol's own prepared statements, or create a table from its rows.",
        )
    before = words[start - 1] if start else None
    if before is None or not (source.is_word(before, "from", "join", "lateral") or source.raw(before) == ","):
        raise UnsupportedError(
            f"nl.{name} can stand only in FROM", hint=_HINT if name == "ask" else _RUN_HINT
        )


def _closing(source: SqlText, words: Sequence[LexedToken], opening: int) -> int:
    depth = 0
    for i in range(opening, len(words)):
        depth += {"(": 1, ")": -1}.get(source.raw(words[i]), 0)
        if depth == 0:
            return i
    raise UnsupportedError("a call is not closed", hint="The parenthesis behind it is missing.")


def _argument(source: SqlText, words: Sequence[LexedToken]) -> str | Parameter:
    match _bare(source, _unnamed(source, words)):
        case [word]:
            number = source.parameter(word)
            if number is not None:
                return Parameter(number)
            value = None if word.kind is TokenKind.QUOTED_NAME else source.constant(word)
            if value is not None:
                return value
    raise UnsupportedError("the argument of nl.ask must be one string constant or parameter", hint=_HINT)


def _unnamed(source: SqlText, words: Sequence[LexedToken]) -> Sequence[LexedToken]:
    """An argument without `question =>` or `question :=` before it (docs, 4.3.2)."""
    match words:
        case [name, first, second, *rest] if source.name(name) == "question":
            return rest if source.raw(first) + source.raw(second) in ("=>", ":=") else words
    return words


def _bare(source: SqlText, words: Sequence[LexedToken]) -> Sequence[LexedToken]:
    """What stands inside of parentheses and of casts to text types, which drivers put around a value."""
    match [source.raw(word).lower() for word in words]:
        case ["(", *_, ")"] if _closing(source, words, 0) == len(words) - 1:
            return _bare(source, words[1:-1])
        case ["cast", "(", *_, ")"]:
            value = _before_type(source, words[2:-1])
            return _bare(source, value[:-1]) if value and source.is_word(value[-1], "as") else words
    value = _before_type(source, words)
    return _bare(source, value[:-2]) if [source.raw(word) for word in value[-2:]] == [":", ":"] else words


def _before_type(source: SqlText, words: Sequence[LexedToken]) -> Sequence[LexedToken]:
    """`words` less the name of a text type at their end; none where there is no such name."""
    end = len(words)
    while end and (source.name(words[end - 1]) in _TEXT_TYPES or source.raw(words[end - 1]) == "."):
        end -= 1
    return words[:end] if end < len(words) else ()


def _refuse_second_use(source: SqlText, words: Sequence[LexedToken], parameter: Parameter) -> None:
    uses = [
        word
        for word in words
        if word.kind is TokenKind.PARAMETER and source.raw(word) == f"${parameter.number}"
    ]
    if len(uses) > 1:
        raise UnsupportedError(
            f"the parameter ${parameter.number} of nl.ask is used a second time",
            hint="Give the question a parameter of its own.",
        )


def _is_named(source: SqlText, following: Sequence[LexedToken], function: str | None) -> bool:
    if not following:
        return False
    if source.is_word(following[0], "with"):
        raise UnsupportedError(f"nl.{function} has no WITH ORDINALITY", hint="Use row_number() OVER ().")
    name = source.name(following[0])
    return name is not None and (following[0].kind is TokenKind.QUOTED_NAME or name not in _FOLLOWERS)
