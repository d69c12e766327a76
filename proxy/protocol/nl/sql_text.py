"""The text of a statement, read token by token."""

from __future__ import annotations

from proxy.protocol.lexer import LexedToken, TokenKind, string_value
from proxy.protocol.numbers import whole

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
