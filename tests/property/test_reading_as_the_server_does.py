"""Where statements and constants end, beside PostgreSQL's own scanner, which pglast holds."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import pytest
from pglast.parser import ParseError, scan

from proxy.protocol.lexer import TokenKind, tokens

_PARTS = (
    "'a'", "'it''s'", "E'a\\'b'", "E'\\\\'", "e'\\x41'", "'\\'", "U&'\\0041'", "n'x'", "B'01'",
    '"a""b"', 'U&"\\0041"', "$$x;$$",
    "$q$ ' $q$", "-- c\n", "-- it's\n", "--\r", "/* ' */", "/* /* */ ' */", "\n", "\r", " ", "\t", "\f", ";", "NL",
    "NL: x", "SELECT", "1", "$1", "(", ")", ":", "'", '"', "\\",
)  # fmt: skip


def _texts(seed: int, count: int) -> Iterator[str]:
    rng = random.Random(seed)  # noqa: S311 - reproducible on purpose
    for _ in range(count):
        yield "".join(rng.choices(_PARTS, k=rng.randint(1, 12)))


def _ours(text: str) -> list[int]:
    """Where semicolons and the words NL stand that are no part of a constant, name or comment."""
    deciding = (TokenKind.WORD, TokenKind.SYMBOL)
    return [
        t.start for t in tokens(text) if t.kind in deciding and text[t.start : t.end].lower() in (";", "nl")
    ]


def _theirs(text: str) -> list[int] | None:
    try:
        found = scan(text)
    except ParseError:
        return None
    return [token.start for token in found if text[token.start : token.end + 1].lower() in (";", "nl")]


def differences(seed: int, count: int) -> tuple[int, list[str]]:
    """How many of `count` texts PostgreSQL reads, and those that it reads otherwise than we do."""
    read, different = 0, []
    for text in _texts(seed, count):
        theirs = _theirs(text)
        if theirs is None:
            continue
        read += 1
        if theirs != _ours(text):
            different.append(text)
    return read, different


def test_statements_end_where_postgresql_says() -> None:
    read, different = differences(60, 3_000)
    assert read > 300
    assert different == []


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_statements_end_where_postgresql_says_at_length() -> None:
    _, different = differences(int(os.environ.get("SEED", "1")), 300_000)
    assert different == []
