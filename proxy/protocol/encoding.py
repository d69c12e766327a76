"""Client encodings: bytes to text and back without loss. An unknown encoding is read as Latin-1, SQL_ASCII as UTF-8."""

from __future__ import annotations

from engine.errors import SyntaxProblemError

_PYTHON_NAMES = {
    "UTF8": "utf-8",
    "SQL_ASCII": "utf-8",
    "EUC_JP": "euc_jp",
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


def python_encoding(client_encoding: str) -> str:
    """The Python codec for a `client_encoding`."""
    return _PYTHON_NAMES.get(client_encoding.upper(), "iso8859_1")


def decode(data: bytes, encoding: str) -> str:
    """Text that `encode` turns into the same bytes again."""
    return data.decode(encoding, "surrogateescape")


def encode(text: str, encoding: str) -> bytes:
    """The inverse of `decode`."""
    return text.encode(encoding, "surrogateescape")


def require_valid(text: str) -> str:
    """`text`, which travels to the engine as UTF-8 and into a store that has no NUL. Raises `SyntaxProblemError`."""
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise SyntaxProblemError(
            "the statement holds a NUL, or bytes that are not valid in the client encoding",
            hint="Set client_encoding to the encoding that the client really uses.",
        )
    return text
