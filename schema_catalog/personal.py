"""Which columns hold personal data, and of what kind: by their names, one table a language, and by their values.

Owns both tests. The names are data (`personal_names.toml`). What becomes of such a column is its reader's: none of its
values stands in a prompt unless a DBA allowed that by its own word, or the question names it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources

from schema_catalog.types import Column, ColumnKey, Snapshot, once_per_snapshot
from schema_catalog.words import identifier_words

SHARE = 0.2
"""Share of a column's kept values of one kind, from which on the column is of that kind."""


class PersonalKind(StrEnum):
    """Of personal data, in words."""

    NAME = "name"
    EMAIL = "e-mail"
    PHONE = "phone"
    ADDRESS = "address"
    ACCOUNT = "account or card"
    IDENTITY = "identity number"
    PAGE = "page of a person"


_SECTIONS = {
    "email": PersonalKind.EMAIL,
    "phone": PersonalKind.PHONE,
    "address": PersonalKind.ADDRESS,
    "account": PersonalKind.ACCOUNT,
    "identity": PersonalKind.IDENTITY,
    "page": PersonalKind.PAGE,
    "name": PersonalKind.NAME,
}
"""Of the table of names."""

_TEXT = re.compile(r"(?:text|character|char|name|citext|bpchar|varchar|\")")
_NUMBER = re.compile(r"(?:smallint|integer|bigint|numeric)")

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Names:
    """The words of all languages together. `kinds`: by names of columns."""

    kinds: Mapping[Words, PersonalKind]
    persons: frozenset[Words]
    called: frozenset[str]
    other: frozenset[str]


@cache
def _names() -> _Names:
    text = resources.files(__package__).joinpath("personal_names.toml").read_text(encoding="utf-8")
    languages = tomllib.loads(text).values()
    kinds = {
        words: kind
        for each in languages
        for section, kind in _SECTIONS.items()
        for words in _written(each[section])
    }
    persons = frozenset(words for each in languages for words in _written(each["persons"]))
    called, other = (
        frozenset(word for each in languages for word in each[part]) for part in ("called", "other")
    )
    # What is a number in one language is a name in another: "nombre".
    return _Names(kinds, persons, called, other - called)


def _written(names: Iterable[str]) -> Iterator[Words]:
    """Each name in words, and written together."""
    for name in names:
        words = identifier_words(name)
        yield words
        yield ("".join(words),)


@once_per_snapshot
def personal_columns(snapshot: Snapshot) -> Mapping[ColumnKey, PersonalKind]:
    """The columns whose names say that they hold personal data."""
    found = {
        (*table.key, column.name): personal_by_name(table.name, column)
        for table, column in snapshot.columns()
    }
    return {key: kind for key, kind in found.items() if kind is not None}


def personal_by_name(table: str, column: Column) -> PersonalKind | None:
    """What a column of text or of numbers in `table` is called, as a kind of personal data."""
    text = bool(_TEXT.match(column.type)) and not column.labels
    if not text and not _NUMBER.match(column.type):
        return None
    words, names = _spoken(column.name), _names()
    if not words or words[-1] in names.other:
        return None
    for run in _runs(words):
        kind = names.kinds.get(run)
        if kind is not None and (text or kind in (PersonalKind.PHONE, PersonalKind.ACCOUNT)):
            return kind
    of_person = words in names.persons or (
        bool(names.called.intersection(words))
        and not names.persons.isdisjoint(_runs(words if words[1:] else _spoken(table)))
    )
    return PersonalKind.NAME if text and of_person else None


def _spoken(name: str) -> Words:
    """Its words without numbers: `address_line_1`."""
    return tuple(word for word in identifier_words(name) if not word.isdigit())


def _runs(words: Words) -> Iterator[Words]:
    """The words in a row."""
    return (words[at:end] for at in range(len(words)) for end in range(at + 1, len(words) + 1))


_DATE = re.compile(r"\d{4}[-./]\d{1,2}([-./]\d{1,2})?|\d{1,2}[-./]\d{1,2}[-./]\d{2,4}")
_IBAN = re.compile(r"[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?")
_CARD = re.compile(r"\d{4}(?:[ -]?\d{4}){2}[ -]?\d{1,7}|3\d{3}[ -]?\d{6}[ -]?\d{5}")
_EMAIL = re.compile(r"[^\s@,;:<>()]+@[^\s@,;:<>()]+\.[^\W\d_]{2,}")
_PHONE = re.compile(
    r"(?:\+|00|\(|0)[\d\s()/.\-]{5,}\d|\d{2,5}[ ./\-]\d{2,}(?:[ ./\-]\d{2,})+|\d{3}[-. ]\d{4}"
)
_PAGE = re.compile(
    r"(?:https?://|www\.)\S*(?:/(?:in|u|user|users|people|profile|profiles|author|member)/|/[~@])\S+"
    r"|(?:https?://)?(?:\w+\.)?(?:linkedin|facebook|twitter|x|instagram|github|xing|mastodon)\.\w+/\S+",
    re.IGNORECASE,
)
_DIGITS = range(7, 16)
"""Of a telephone number (ITU-T E.164 has 15 at most)."""


def personal_value(text: str) -> PersonalKind | None:
    """What a value looks like, or holds: an e-mail, a telephone number, an account or card, the page of a person."""
    if _EMAIL.search(text):
        return PersonalKind.EMAIL
    if _PAGE.search(text):
        return PersonalKind.PAGE
    if _IBAN.fullmatch(text.strip()) or _CARD.fullmatch(text.strip()):
        return PersonalKind.ACCOUNT
    said = text.strip()
    digits = sum(map(str.isdigit, said))
    if digits in _DIGITS and _PHONE.fullmatch(said) and not _DATE.fullmatch(said):
        return PersonalKind.PHONE
    return None


def personal_by_values(values: Sequence[str]) -> PersonalKind | None:
    """The commonest kind among a column's values, where so many are of it that the column is."""
    found = [kind for each in values if (kind := personal_value(each)) is not None]
    kind = max(found, key=found.count, default=None)
    return kind if kind is not None and found.count(kind) >= SHARE * len(values) else None


_WITHIN = (
    (PersonalKind.EMAIL, _EMAIL),
    (PersonalKind.PAGE, _PAGE),
    (PersonalKind.ACCOUNT, re.compile(rf"(?<![\w-])(?:{_IBAN.pattern}|{_CARD.pattern})(?![\w-])")),
    (PersonalKind.PHONE, re.compile(rf"(?<![\w.-])(?:{_PHONE.pattern})(?![\w-])")),
)
"""What each kind looks like within a longer text."""


def personal_texts(text: str) -> Iterator[tuple[PersonalKind, str]]:
    """What stands in a longer text and looks so."""
    for kind, pattern in _WITHIN:
        for found in pattern.finditer(text):
            if kind is not PersonalKind.PHONE or personal_value(found[0]) is kind:
                yield kind, found[0]
