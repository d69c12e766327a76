"""Where an NL statement begins, beside the server itself: every client encoding, both readings of a backslash."""

from __future__ import annotations

import os
import random
from typing import Any

import psycopg
import pytest

from proxy.protocol.encoding import decode, encode, python_encoding
from proxy.protocol.nl.classify import examine

_ENCODINGS = ("UTF8", "SJIS", "EUC_JP", "BIG5", "GBK", "UHC", "GB18030", "JOHAB", "SHIFT_JIS_2004")
_PARTS = (
    b"'a'", b"'it''s'", b"E'a\\'b'", b"E'\\\\'", b"'\\'", b"'b\\'; NL: x'", b"E'b", b"n'x'",
    b"X'0a''", b"B'01'", b"$$;$$",
    b"-- c\n", b"-- it's\r", b"/* ' */", b"\n", b" ", b", ", b"; ", b"; NL: x ", b"'; NL: y ", b"NL", b"SELECT ", b"1",
    b"'", b"\\",
)  # fmt: skip


def _text(rng: random.Random, encoding: str) -> bytes:
    wide = [bytes([rng.randrange(0x81, 0xFF), rng.choice(b"\\'\x41\x7e\x81\xa1\xb0\xfe")]) for _ in range(3)]
    quoted = [b"'" + each + b"'" for each in wide] + [b"E'" + each + b"\\'" for each in wide]
    parts = _PARTS if encoding == "UTF8" else (*_PARTS, *wide, *quoted)
    return b"SELECT " + b"".join(rng.choices(parts, k=rng.randint(1, 8)))


def _refused_at(connection: psycopg.Connection[Any], text: bytes) -> int | None:
    """Where the server meets the word NL, a character from 0; -1: nowhere; None: it cannot say."""
    result = connection.pgconn.exec_(text)
    message = result.error_field(psycopg.pq.DiagnosticField.MESSAGE_PRIMARY) or b""
    state = result.error_field(psycopg.pq.DiagnosticField.SQLSTATE)
    if state == b"42601":
        position = result.error_field(psycopg.pq.DiagnosticField.STATEMENT_POSITION)
        return int(position or 0) - 1 if message == b'syntax error at or near "NL"' else None
    # What else fails has been parsed as a whole; not so what is no text, or no constant, in its encoding.
    return None if state in (b"22021", b"22P02", b"22P05", b"22P06", b"0A000", b"42622", b"22025") else -1


def differences(connection: psycopg.Connection[Any], seed: int, count: int) -> tuple[int, int, list[Any]]:
    """How many texts the server decided, how many of them with NL, and those that we read otherwise."""
    rng = random.Random(seed)  # noqa: S311 - reproducible on purpose
    decided, found, different = 0, 0, []
    for encoding in _ENCODINGS:
        codec = python_encoding(encoding)
        connection.pgconn.exec_(b"SET client_encoding = " + encoding.encode())
        for turn in range(count):
            standard = turn % 2 == 0
            connection.pgconn.exec_(b"SET standard_conforming_strings = " + (b"on" if standard else b"off"))
            text = _text(rng, encoding)
            place = _refused_at(connection, text)
            if not codec:
                # Refused wherever an NL statement may be: nothing beyond ASCII is read.
                continue
            if place is None:
                continue
            decoded = decode(text, codec)
            assert encode(decoded, codec) == text
            if place > 0 and not decoded[:place].rstrip().endswith(";"):
                # Within a statement, where NL is a name.
                continue
            seen = examine(decoded, standard_strings=standard, max_chars=1000).findings
            ours = seen[0].start if seen else -1
            decided += 1
            found += place >= 0
            # An invalid byte counts as a character there and here.
            if (ours >= 0) != (place >= 0) or (place >= 0 and text.isascii() and ours != place):
                different.append((encoding, standard, text, ours, place))
    return decided, found, different


@pytest.mark.parametrize(
    "count", [150, pytest.param(20_000, marks=[pytest.mark.slow, pytest.mark.timeout(1800)])]
)
def test_nl_begins_where_the_server_meets_it(gateway: Any, count: int) -> None:
    with psycopg.connect(gateway.direct(), autocommit=True) as connection:
        decided, found, different = differences(connection, int(os.environ.get("SEED", "1")), count)
    print(f"{decided} texts decided, {found} with NL")  # noqa: T201 - the figures of a long run
    assert found > count // 10
    assert different == []
