"""PostgreSQL's lexical structure (docs, 4.1), as far as it decides where statements and constants end. Never fails."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

from proxy.protocol.numbers import whole


class TokenKind(Enum):
    """The kinds of tokens. White space and comments are tokens too, so that tokens cover the text."""

    SPACE = auto()
    COMMENT = auto()
    STRING = auto()
    ESCAPE_STRING = auto()
    UNICODE_STRING = auto()
    BIT_STRING = auto()
    DOLLAR_STRING = auto()
    QUOTED_NAME = auto()
    PARAMETER = auto()
    WORD = auto()
    NUMBER = auto()
    SYMBOL = auto()


INSIGNIFICANT = (TokenKind.SPACE, TokenKind.COMMENT)
"""Kinds of tokens that only separate others."""


class LexedToken(NamedTuple):
    """`text[start:end]`. `closed` is false where a quote or comment runs to the end of the text unclosed.

    A tuple, since one is made for each word of what clients send: a dataclass takes three times as long.
    """

    kind: TokenKind
    start: int
    end: int
    closed: bool = True


@dataclass(frozen=True, slots=True)
class LexedStatement:
    """One statement, `text[start:end]`, without its semicolon; `tokens` cover it.

    `significant`: those of them that are neither white space nor comments.
    """

    start: int
    end: int
    tokens: tuple[LexedToken, ...]
    significant: tuple[LexedToken, ...]


# A string constant goes on after white space with a newline in it, in the same quoting (docs, 4.1.2.1); a comment to
# the end of its line is white space there (`quotecontinue` in scan.l).
_CONTINUED = r"'(?:[ \t\f\v]++|--[^\r\n]*+)*+[\r\n](?:[ \t\f\v\r\n]++|--[^\r\n]*+[\r\n])*+'"
_BACKSLASHED = rf"'(?:[^'\\]++|\\.|''|{_CONTINUED})*+(')?"
_DOUBLED = r"'(?:[^']++|'')*+(')?"
_SINGLE = rf"'(?:[^']++|{_CONTINUED})*+(')?"
_LETTER = r"A-Za-z_\x80-\U0010ffff"

_PATTERN = r"""
  (?P<SPACE>          [ \t\n\r\f\v]++ )
| (?P<COMMENT>        --[^\r\n]*+ | /\* )
| (?P<ESCAPE_STRING>  [eE]{backslashed} )
| (?P<UNICODE_STRING> [uU]&{doubled} )
| (?P<BIT_STRING>     [bBxX]{single} )
| (?P<STRING>         [nN]?{plain} )
| (?P<QUOTED_NAME>    (?:[uU]&)?"(?:[^"]++|"")*+(")? )
| (?P<DOLLAR_STRING>  \$(?:[{letter}][{letter}0-9]*+)?\$ )
| (?P<PARAMETER>      \$[0-9]++ )
| (?P<WORD>           [{letter}][{letter}0-9$]*+ )
| (?P<NUMBER>         [0-9][0-9A-Za-z_.]*+ )
| (?P<SYMBOL>         . )
"""


def _compile(plain: str) -> re.Pattern[str]:
    pattern = _PATTERN.format(
        backslashed=_BACKSLASHED, doubled=_DOUBLED, single=_SINGLE, plain=plain, letter=_LETTER
    )
    return re.compile(pattern, re.VERBOSE | re.DOTALL)


_STANDARD = _compile(_DOUBLED)
_BACKSLASH = _compile(_BACKSLASHED)
_COMMENT_EDGE = re.compile(r"/\*|\*/")
QUOTED = (
    TokenKind.STRING,
    TokenKind.ESCAPE_STRING,
    TokenKind.UNICODE_STRING,
    TokenKind.BIT_STRING,
    TokenKind.QUOTED_NAME,
)
"""Kinds of tokens in single or double quotes."""


_KINDS = {kind.name: kind for kind in TokenKind}
_CLOSERS = {
    # The group without a name behind a kind's own is its closing quote.
    pattern: {kind: pattern.groupindex[kind.name] + 1 for kind in QUOTED}
    for pattern in (_STANDARD, _BACKSLASH)
}


def tokens(text: str, *, standard_strings: bool = True) -> Iterator[LexedToken]:
    """The tokens of `text`, without a gap. `standard_strings`: `standard_conforming_strings` is on."""
    pattern = _STANDARD if standard_strings else _BACKSLASH
    closers, match_at = _CLOSERS[pattern], pattern.match
    pos = 0
    while match := match_at(text, pos):
        kind, start = _KINDS[match.lastgroup or ""], pos
        pos = match.end()
        if kind is TokenKind.COMMENT and text.startswith("/*", start):
            pos, closed = _block_comment_end(text, start)
        elif kind is TokenKind.DOLLAR_STRING:
            close = text.find(match.group(), pos)
            closed = close >= 0
            pos = close + pos - start if closed else len(text)
        else:
            closed = kind not in QUOTED or match[closers[kind]] is not None
        yield LexedToken(kind, start, pos, closed)


def _block_comment_end(text: str, start: int) -> tuple[int, bool]:
    depth = 0
    for edge in _COMMENT_EDGE.finditer(text, start):
        depth += 1 if edge.group() == "/*" else -1
        if depth == 0:
            return edge.end(), True
    return len(text), False


def split(text: str, *, standard_strings: bool = True) -> Iterator[LexedStatement]:
    """The statements of `text`, separated by its semicolons, empty ones included, each when it is asked for.

    A semicolon inside parentheses does not end a statement (CREATE RULE), except in one that starts with the
    word NL, whose text is not SQL. Joined by semicolons, the statements are the text again.
    """
    current: list[LexedToken] = []
    words: list[LexedToken] = []
    depth, first = 0, ""
    for token in tokens(text, standard_strings=standard_strings):
        kind, start, end, _ = token
        if kind is TokenKind.SYMBOL:
            symbol = text[start]
            if symbol == ";" and (depth <= 0 or first == "nl"):
                yield LexedStatement(_start(current, start), start, tuple(current), tuple(words))
                current, words, depth, first = [], [], 0, ""
                continue
            depth += (symbol == "(") - (symbol == ")")
        current.append(token)
        if kind not in INSIGNIFICANT:
            first = first or text[start:end].lower()
            words.append(token)
    yield LexedStatement(_start(current, len(text)), len(text), tuple(current), tuple(words))


def _start(tokens_of_statement: list[LexedToken], end: int) -> int:
    return tokens_of_statement[0].start if tokens_of_statement else end


_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_ESCAPE = re.compile(
    rf"{_CONTINUED}|''|\\(?:([0-7]{{1,3}})|x([0-9A-Fa-f]{{1,2}})|u([0-9A-Fa-f]{{4}})|U([0-9A-Fa-f]{{8}})|(.))",
    re.DOTALL,
)
_UNICODE_ESCAPE = re.compile(r"\\\\|\\\+([0-9A-Fa-f]{6})|\\([0-9A-Fa-f]{4})")


def string_value(text: str, token: LexedToken, *, standard_strings: bool = True) -> str | None:
    """The value of the closed string constant `token`, byte escapes as characters; None where it is none."""
    raw = text[token.start : token.end]
    if not token.closed:
        return None
    if token.kind is TokenKind.DOLLAR_STRING:
        width = raw.index("$", 1) + 1
        return raw[width:-width]
    body = raw[raw.find("'") + 1 : -1]
    if token.kind is TokenKind.ESCAPE_STRING or (token.kind is TokenKind.STRING and not standard_strings):
        return _ESCAPE.sub(_unescape, body)
    if token.kind is TokenKind.STRING:
        return body.replace("''", "'")
    if token.kind is TokenKind.UNICODE_STRING:
        return _UNICODE_ESCAPE.sub(_unescape_unicode, body.replace("''", "'"))
    return None


def _unescape(match: re.Match[str]) -> str:
    octal, byte, short, long, other = match.groups()
    if match.group() == "''":
        return "'"
    if octal is not None:
        return chr(int(octal, 8) & 0xFF)
    if other is not None:
        return _ESCAPES.get(other, other)
    digits = byte or short or long
    return _character(digits) if digits else ""


def _unescape_unicode(match: re.Match[str]) -> str:
    digits = match.group(1) or match.group(2)
    return _character(digits) if digits else "\\"


def _character(digits: str) -> str:
    point = int(digits, 16)
    return chr(point) if point <= sys.maxunicode else "\ufffd"


def dollar_quoted(value: str) -> str:
    """`value` as a string constant that means the same under every setting of the server."""
    number = 0
    while f"$nl{number}$" in value or (value + "$").endswith(f"$nl{number}$"):
        number += 1
    return f"$nl{number}${value}$nl{number}$"


def quoted_name(name: str) -> str:
    """`name` as a quoted identifier."""
    return '"' + name.replace("\0", "").replace('"', '""') + '"'


MOST_ROWS = 2**31 - 1
_MOST_PARAMETERS = 2**16 - 1
"""That one Bind message can give (PostgreSQL docs 54.7)."""

CONSTANTS = (TokenKind.STRING, TokenKind.ESCAPE_STRING, TokenKind.UNICODE_STRING, TokenKind.DOLLAR_STRING)
"""Kinds of tokens that are string constants."""


class SqlText:
    """A text and how its constants are read."""

    __slots__ = ("standard_strings", "text")

    def __init__(self, text: str, *, standard_strings: bool = True) -> None:
        self.text = text
        self.standard_strings = standard_strings

    def raw(self, token: LexedToken) -> str:
        """The token as written."""
        return self.text[token.start : token.end]

    def is_word(self, token: LexedToken, *words: str) -> bool:
        """Whether the token is one of these words, unquoted, in any case."""
        return token.kind is TokenKind.WORD and self.raw(token).lower() in words

    def name(self, token: LexedToken) -> str | None:
        """The identifier that the token is, folded as PostgreSQL does; None where it is none."""
        if token.kind is TokenKind.WORD:
            return self.raw(token).lower()
        if token.kind is TokenKind.QUOTED_NAME and token.closed:
            return self.raw(token)[1:-1].replace('""', '"')
        return None

    def value(self, token: LexedToken) -> str | None:
        """The value of a string constant, a name or a number; None for anything else."""
        if token.kind is TokenKind.NUMBER:
            return self.raw(token)
        name = self.name(token)
        return self.constant(token) if name is None else name

    def constant(self, token: LexedToken) -> str | None:
        """The value of a string constant; None for anything else."""
        return string_value(self.text, token, standard_strings=self.standard_strings)

    def row_number(self, token: LexedToken) -> int | None:
        """The row number that the token is, a positive int4; None for anything else."""
        return whole(self.raw(token), MOST_ROWS) if token.kind is TokenKind.NUMBER else None

    def parameter(self, token: LexedToken) -> int | None:
        """The number of the parameter that the token is; None for anything else, and for one that cannot be."""
        return whole(self.raw(token)[1:], _MOST_PARAMETERS) if token.kind is TokenKind.PARAMETER else None
