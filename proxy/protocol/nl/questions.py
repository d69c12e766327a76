"""The question in an NL statement: its bounds and its options.

Owns the three ways to write a question. One in free text is delimited as psql and pgjdbc delimit it, by SQL's lexical
rules, because they cut the text before it gets here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.values.errors import SyntaxProblemError
from proxy.protocol.lexer import (
    CONSTANTS,
    INSIGNIFICANT,
    QUOTED,
    LexedStatement,
    LexedToken,
    SqlText,
    TokenKind,
)
from proxy.protocol.nl.statements import NLQuestion, Option

OPTION_NAMES = (
    "db",
    "k",
    "coverage",
    "timeout",
    "ask",
    "on_doubt",
    "on_abstain",
    "output",
    "mode",
    "context",
    "send",
)
"""Options of one question; each has a session setting of the same name."""

_DOLLAR_HINT = "Write the question between double dollar signs: NL: $$question$$;"
_SWALLOWED_LINE = re.compile(r";[ \t\f\v]*[\r\n]")
_SWALLOWED_TEXT = re.compile(r";\s*\S")
_LOST_QUESTION_MARK = re.compile(r"\w\$\d+(?!\w)")


def question(
    source: SqlText, statement: LexedStatement, words: Sequence[LexedToken], max_chars: int, verb: str = ""
) -> NLQuestion:
    """What follows NL and `verb`, RUN or NEW: options, then a colon and a question, or behind a verb one in quotes.

    Raises:
        SyntaxProblemError: There is no question.
    """
    options: tuple[Option, ...] = ()
    if words and source.raw(words[0]) == "(":
        options, words = _options(source, words)
    if words and source.raw(words[0]) == ":":
        return _question(source, statement, words[0].end, options, max_chars)
    if not verb:
        raise _options_problem()
    if not words or words[0].kind not in CONSTANTS:
        raise SyntaxProblemError(f"NL {verb} needs a question", hint=f"Write NL {verb} $$question$$.")
    return _question(source, statement, words[0].start, options, max_chars)


def _question(
    source: SqlText, statement: LexedStatement, start: int, options: tuple[Option, ...], max_chars: int
) -> NLQuestion:
    body = [token for token in statement.tokens if token.start >= start]
    words = [token for token in body if token.kind not in INSIGNIFICANT]
    if [token.kind for token in words if source.raw(token) != ";"] == [TokenKind.PARAMETER]:
        raise SyntaxProblemError(
            "a question takes no parameters",
            detail=f"It is {source.raw(words[0])} alone, and its text would come with the execution.",
            hint="Put the text into the statement, between two marks that it does not hold: NL: $$how many …$$",
        )
    text = _quoted_question(source, words)
    if text is None:
        text = _free_question(source, body)
    return NLQuestion(checked_question(text, max_chars), options)


def checked_question(text: str, max_chars: int) -> str:
    """A question's text, stripped.

    Raises:
        SyntaxProblemError: It is empty or longer than `max_chars` characters.
    """
    text = text.strip()
    if not text:
        raise SyntaxProblemError(
            "the question is empty", hint="Write a question after the colon: NL: how many …"
        )
    refuse_long("question", text, max_chars)
    return text


def refuse_long(subject: str, text: str, max_chars: int) -> None:
    """Raises SyntaxProblemError, which names the text `subject`, where it is longer than `max_chars` characters."""
    if len(text) > max_chars:
        raise SyntaxProblemError(
            f"the {subject} is too long", detail=f"It has {len(text)} characters; the limit is {max_chars}."
        )


def _quoted_question(source: SqlText, words: Sequence[LexedToken]) -> str | None:
    """The value where the question is one constant; None where it is free text."""
    if not words:
        return None
    first = words[0]
    if first.kind is TokenKind.DOLLAR_STRING:
        if not first.closed:
            raise SyntaxProblemError("unterminated dollar-quoted question", hint=_DOLLAR_HINT)
        if len(words) > 1:
            raise SyntaxProblemError(
                "unexpected text after the quoted question",
                detail=f"It starts at: {source.raw(words[1])[:40]}",
            )
    if len(words) > 1 or first.kind is TokenKind.QUOTED_NAME:
        return None
    return source.constant(first)


def _free_question(source: SqlText, body: Sequence[LexedToken]) -> str:
    parts: list[str] = []
    for index, token in enumerate(body):
        raw = source.raw(token)
        if token.kind is TokenKind.COMMENT and not _is_dash_in_text(source, body, index):
            raw = " "
        elif token.kind in QUOTED or token.kind is TokenKind.DOLLAR_STRING:
            _refuse_swallowed(raw, closed=token.closed)
        parts.append(raw)
    return "".join(parts).strip().rstrip(";")


def _is_dash_in_text(source: SqlText, body: Sequence[LexedToken], index: int) -> bool:
    """`2010--2015`: two dashes glued to words on both sides are no comment in plain words."""
    raw = source.raw(body[index])
    glued_left = index > 0 and body[index - 1].kind not in INSIGNIFICANT
    return glued_left and raw.startswith("--") and raw[2:3].strip() != ""


def _refuse_swallowed(raw: str, *, closed: bool) -> None:
    """An odd apostrophe makes a client's lexer send the following statements as part of the question."""
    if _SWALLOWED_LINE.search(raw) or (not closed and _SWALLOWED_TEXT.search(raw)):
        raise SyntaxProblemError(
            "the question holds an unbalanced quote followed by more statements",
            detail="The client read what follows as part of the question.",
            hint=_DOLLAR_HINT,
        )


def lost_question_mark(text: str) -> bool:
    """Whether a driver has turned a `?` of the question into a parameter (`singers$1`)."""
    return _LOST_QUESTION_MARK.search(text) is not None


def _options_problem() -> SyntaxProblemError:
    return SyntaxProblemError(
        "the options of NL must be closed and followed by a colon",
        hint="Example: NL (db sales, k 5): $$question$$;",
    )


def _options(source: SqlText, words: Sequence[LexedToken]) -> tuple[tuple[Option, ...], Sequence[LexedToken]]:
    """The options in the parentheses that `words` begin with, and the words behind them."""
    close = next((i for i, token in enumerate(words) if source.raw(token) == ")"), None)
    if close is None:
        raise _options_problem()
    groups: list[list[LexedToken]] = [[]]
    for token in words[1:close]:
        if source.raw(token) == ",":
            groups.append([])
        elif source.raw(token) not in ("=", ">"):
            groups[-1].append(token)
    return tuple(_option(source, group) for group in groups), words[close + 1 :]


def _option(source: SqlText, group: Sequence[LexedToken]) -> Option:
    match group:
        case [word] if source.name(word) == "send":
            return "send", "on"
        case [word, constant]:
            name, value = source.name(word), source.value(constant)
            if name in OPTION_NAMES and value is not None:
                return name, value
    written = " ".join(source.raw(token) for token in group)
    raise SyntaxProblemError(
        f'unrecognized NL option "{written}"',
        hint="Options are written as name value, separated by commas; names: "
        + ", ".join(OPTION_NAMES)
        + ".",
    )
