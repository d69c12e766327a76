"""The preparation of passwords for SCRAM (RFC 4013), as PostgreSQL does it."""

from __future__ import annotations

import stringprep
import unicodedata

_PROHIBITED = (
    stringprep.in_table_c12,
    stringprep.in_table_c21_c22,
    stringprep.in_table_c3,
    stringprep.in_table_c4,
    stringprep.in_table_c5,
    stringprep.in_table_c6,
    stringprep.in_table_c7,
    stringprep.in_table_c8,
    stringprep.in_table_c9,
    stringprep.in_table_a1,
)


def prepare(password: str) -> bytes:
    """The password as SCRAM hashes it: prepared where the rules allow it, else as it is, as in PostgreSQL."""
    raw = password.encode("utf-8", "surrogateescape")
    if password.isascii() and password.isprintable():
        return raw
    mapped = "".join(_mapped(character) for character in password)
    text = unicodedata.ucd_3_2_0.normalize("NFKC", mapped)
    allowed = text and not any(test(character) for character in text for test in _PROHIBITED)
    return text.encode("utf-8", "surrogateescape") if allowed and _one_direction(text) else raw


def _mapped(character: str) -> str:
    if stringprep.in_table_c12(character):
        return " "
    return "" if stringprep.in_table_b1(character) else character


def _one_direction(text: str) -> bool:
    """RFC 3454, 6: a text with right-to-left letters begins and ends with one and has no others."""
    if not any(stringprep.in_table_d1(character) for character in text):
        return True
    mixed = any(stringprep.in_table_d2(character) for character in text)
    return not mixed and stringprep.in_table_d1(text[0]) and stringprep.in_table_d1(text[-1])
