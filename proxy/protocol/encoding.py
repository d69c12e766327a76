"""Client encodings: bytes to text and back without loss, in characters as long as PostgreSQL's own rule says.

A Python codec may split bytes otherwise, and so see a quote or a backslash where the server sees half a character. It
is asked for one character at a time (`pg_encoding_mblen` in `src/common/wchar.c`). SQL_ASCII is read as UTF-8.
"""

from __future__ import annotations

import re
from functools import cache, partial

from engine.values.errors import SyntaxProblemError, UnsupportedError

UNREADABLE = ""
"""In place of a codec: the characters of this client encoding are not known here."""

_PYTHON_NAMES = {
    "UTF8": "utf-8",
    "SQL_ASCII": "utf-8",
    "EUC_JP": "euc_jp",
    "EUC_JIS_2004": "euc_jis_2004",
    "EUC_KR": "euc_kr",
    "EUC_CN": "gb2312",
    "SJIS": "cp932",
    "BIG5": "big5",
    "GBK": "gbk",
    "GB18030": "gb18030",
    "JOHAB": "johab",
    "UHC": "cp949",
    "KOI8R": "koi8_r",
    "KOI8U": "koi8_u",
    "ISO_8859_5": "iso8859_5",
    "ISO_8859_6": "iso8859_6",
    "ISO_8859_7": "iso8859_7",
    "ISO_8859_8": "iso8859_8",
    **{f"LATIN{n}": f"iso8859_{part}" for n, part in enumerate((1, 2, 3, 4, 9, 10, 13, 14, 15, 16), 1)},
    **{f"WIN{page}": f"cp{page}" for page in (866, 874, *range(1250, 1259))},
}

_EUC = rb"\x8f..|[\x80-\xff]."
_TWO = rb"[\x80-\xff]."
_KANA = rb"[\x80-\xa0\xe0-\xff]."
_LONG_CHARACTERS = {
    **dict.fromkeys(("euc_jp", "euc_jis_2004", "euc_kr", "gb2312", "johab"), _EUC),
    "cp932": _KANA,
    **dict.fromkeys(("big5", "gbk", "cp949"), _TWO),
    "gb18030": rb"[\x80-\xff][0-9]..|[\x80-\xff].",
}
"""Codec → pattern of the characters of several bytes, of the encodings but UTF8 that have any."""

_BYTES = 0xDC00
"""A byte that is no text is the character U+DC00 plus it, as with `surrogateescape`; here bytes below 0x80 too."""

_NO_TEXT = re.compile("[\udc00-\udcff]+")


def python_encoding(client_encoding: str) -> str:
    """The Python codec for a `client_encoding`, `UNREADABLE` where none is known."""
    return _PYTHON_NAMES.get(client_encoding.upper(), UNREADABLE)


def decode(data: bytes, encoding: str) -> str:
    """Text that `encode` turns into the same bytes again; ASCII alone where `encoding` is unreadable."""
    if encoding not in _LONG_CHARACTERS or data.isascii():
        # ASCII is the same in each of them.
        return data.decode(encoding or "ascii", "surrogateescape")
    pattern = re.compile(rb"[\x00-\x7f]+|" + _LONG_CHARACTERS[encoding] + rb"|.", re.DOTALL)
    return "".join(map(partial(_characters, encoding=encoding), pattern.findall(data)))


def _characters(data: bytes, *, encoding: str) -> str:
    return data.decode("ascii") if data[0] < 0x80 else _character(data, encoding)  # noqa: PLR2004 - ASCII


@cache
def _character(data: bytes, encoding: str) -> str:
    """One character, or its bytes where the codec reads it otherwise or has another spelling of it."""
    text = data.decode(encoding, "replace")
    exact = len(text) == 1 and text.encode(encoding, "replace") == data
    return text if exact else "".join(chr(_BYTES + byte) for byte in data)


def encode(text: str, encoding: str) -> bytes:
    """The inverse of `decode`.

    Raises:
        UnsupportedError: The encoding lacks a character, or the server would read what comes out otherwise.
    """
    parts: list[bytes] = []
    done = 0
    encoding = encoding or "ascii"
    try:
        for raw in _NO_TEXT.finditer(text):
            parts += [text[done : raw.start()].encode(encoding), bytes(ord(each) - _BYTES for each in raw[0])]
            done = raw.end()
        data = b"".join([*parts, text[done:].encode(encoding)])
    except UnicodeEncodeError as problem:
        raise _unwritable() from problem
    if encoding in _LONG_CHARACTERS and decode(data, encoding) != text:
        raise _unwritable()
    return data


def unreadable() -> UnsupportedError:
    """The error for an NL statement in an encoding whose characters are not known here."""
    return UnsupportedError(
        "NL statements cannot be read in this client encoding",
        hint="SET client_encoding = 'UTF8', and ask again.",
    )


def _unwritable() -> UnsupportedError:
    return UnsupportedError(
        "the statement holds a character that the client encoding cannot carry",
        hint="SET client_encoding = 'UTF8', and ask again.",
    )


def require_valid(text: str) -> str:
    """`text`, which travels to the engine as UTF-8 and into a store that has no NUL. Raises `SyntaxProblemError`."""
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise SyntaxProblemError(
            "the statement holds a NUL, or bytes that are not valid in the client encoding",
            hint="Set client_encoding to the encoding that the client really uses.",
        )
    return text
