"""Codes and what they mean, as comments of columns tell it: "30 invoiced, 40 paid", "N = new", "0: open, 1: closed".

Owns reading a comment into code and meaning, and which of the meanings a question says. Codes that a table of their own
explains are `engine.findings.rules.literals`'s, by the references to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from engine.link.mentions import CERTAIN, standing_alone
from engine.question.question import Question
from engine.question.tokens import GRAMMAR
from engine.values.elements import Relation, ValueLink
from schema_catalog.types import Column, ColumnKey, Snapshot, once_per_snapshot
from schema_catalog.words import identifier_words

LONGEST = 60
"""Characters of a meaning at most: more is a text, and no legend."""

SHORT = 4
"""Letters of a code in lower case at most: what is longer is a word."""

_PLAIN = re.compile(r"smallint|integer|bigint|numeric|text|character|bpchar|\"char\"")
"""Beginnings of the types of codes."""

_EDGE = r"(?:^|[,;|/(\[\n:]|\s(?:and|or))\s*"
_NUMBER, _CAPITALS, _WORD = r"-?\d{1,6}", r"[A-Z][A-Z0-9_]{0,11}", r"[A-Za-z][\w]{0,11}"
_QUOTED = r"'[^']{1,20}'|\"[^\"]{1,20}\""

_FORMS = (
    rf"(?:{_EDGE}(?P<word>{_WORD})|(?<![\w.])(?P<code>{_QUOTED}|{_NUMBER}|{_CAPITALS}))\s*(?:=>?|->|→)\s*",
    rf"(?:{_EDGE}(?P<word>{_WORD})|(?<![\w.])(?P<code>{_QUOTED}|{_NUMBER}(?=\s*:\D)|{_CAPITALS}))\s*:\s*",
    rf"(?:{_EDGE}(?P<word>{_WORD})|(?<![\w.])(?P<code>{_QUOTED}|{_NUMBER}|{_CAPITALS}))\s[-\u2013\u2014]\s",
    rf"(?<![\w.])(?P<code>{_NUMBER}|{_CAPITALS})\s(?:means|stands\sfor|is|for)\s+",
    rf"(?<!\w\s)(?<!\w)\((?P<code>{_NUMBER}|{_CAPITALS})\)\s*",
    rf"{_EDGE}(?P<code>-?\d{{1,4}}|[A-Z][A-Z0-9]{{0,3}})\s+(?=[a-z])",
    rf"{_EDGE}(?P<code>[a-z])\s+(?=[a-z])",
)
"""Where an entry begins, in each way of writing legends, the clearest first."""

_BEHIND = re.compile(rf"(?P<meaning>[^,;()|/\n:]+?)\s*\((?P<code>{_NUMBER}|{_CAPITALS})\)")
"""Entries with their codes behind: "new (N), paid (P)"."""

_CODE = re.compile(r"-?\d{1,6}|[A-Z]{1,3}")


_END = re.compile(r"(?:[\s,;|/.)\]]|\b(?:and|or))+$")


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a comment says of a code: in `words`, and with what stands behind them in parentheses as `said`."""

    code: str
    words: str
    said: str


def legend(comment: str) -> tuple[Meaning, ...]:
    """The codes that a comment explains, in order; none where it explains fewer than two."""
    for form in _FORMS:
        if len(found := list(_entries(form, comment))) > 1:
            return _distinct(found)
    return _distinct([(each["code"], each["meaning"].strip()) for each in _BEHIND.finditer(comment)])


def _entries(form: str, comment: str) -> Iterator[tuple[str, str]]:
    starts = list(re.finditer(form, comment))
    for number, each in enumerate(starts):
        end = starts[number + 1].start() if each is not starts[-1] else len(comment)
        code = each["code"] or each.groupdict().get("word", "")
        if meaning := _END.sub("", comment[each.end() : end]).strip():
            yield code.strip("'\""), meaning


def _distinct(entries: list[tuple[str, str]]) -> tuple[Meaning, ...]:
    """The entries as meanings, turned where the codes stand behind; none where they are no codes, or not distinct."""
    if all(_CODE.fullmatch(meaning) for _, meaning in entries) and not all(
        _CODE.fullmatch(code) for code, _ in entries
    ):
        entries = [(meaning, code) for code, meaning in entries]
    if any(code.islower() and len(code) > SHORT for code, _ in entries):
        return ()
    made = [
        Meaning(code, re.split(r"[(\[,\n]|[.;]\s", said)[0].strip(" '\""), said) for code, said in entries
    ]
    short = all(each.words and len(each.words) <= LONGEST for each in made)
    letters = all(len(each.code) == 1 and each.code.islower() for each in made)
    told = {each.words if letters else each.code for each in made}
    distinct = len({each.code for each in made}) == len(told) == len(made) > 1
    return tuple(made) if short and distinct else ()


_BIT = re.compile(r"\bbits?\b|bit.?(?:mask|field|flag)|\bflags?\b", re.IGNORECASE)
_AT = re.compile(r"\bbit\s*\d", re.IGNORECASE)
"""A bit that is named by its place."""

BITS = 3
"""Codes of which each is a bit, at least, where the comment does not say that they are."""


def bits(column: Column) -> tuple[Meaning, ...]:
    """What each bit of a column of flags means, by the bit's value; none where its legend is of plain codes."""
    said = column.description or ""
    if not re.match(r"smallint|integer|bigint", column.type) or not (meanings := legend(said)):
        return ()
    if not all(each.code.isdigit() for each in meanings):
        return ()
    codes = [int(each.code) for each in meanings]
    if _AT.search(said):
        return tuple(replace(each, code=str(1 << code)) for each, code in zip(meanings, codes, strict=True))
    set_ones = [code for code in codes if code]
    powers = all(code & (code - 1) == 0 for code in set_ones)
    told = _BIT.search(said) or _BIT.search(" ".join(identifier_words(column.name)))
    if not powers or (len(set_ones) < BITS and not told):
        return ()
    return tuple(each for each, code in zip(meanings, codes, strict=True) if code)


@once_per_snapshot
def legends(snapshot: Snapshot) -> Mapping[ColumnKey, tuple[Meaning, ...]]:
    """The columns with a legend of codes in their descriptions; one of bits tells no value that a column has."""
    found = {
        (*table.key, column.name): legend(column.description)
        for table, column in snapshot.columns()
        if column.description and _PLAIN.match(column.type) and not bits(column)
    }
    return {key: meanings for key, meanings in found.items() if meanings}


def code_of(text: str, column: ColumnKey, snapshot: Snapshot) -> str | None:
    """The code of a column that means `text`; None where the text is a code itself, or means none or several."""
    meanings = legends(snapshot).get(column, ())
    if any(each.code == text for each in meanings):
        return None
    words = identifier_words(text)
    codes = [each.code for each in meanings if identifier_words(each.words) == words]
    return codes[0] if len(codes) == 1 and words else None


def coded_links(question: Question, snapshot: Snapshot) -> tuple[ValueLink, ...]:
    """The codes whose meanings stand in `question`, and are no part of a longer meaning or name there.

    Not a meaning that is a name of the schema, or words of grammar and of operations alone.
    """
    known = legends(snapshot)
    if not known:
        return ()
    names = {identifier_words(table.name) for table in snapshot.tables}
    names.update(identifier_words(column.name) for _, column in snapshot.columns())
    meant = {identifier_words(each.words) for meanings in known.values() for each in meanings}
    said = standing_alone(question.words, names | meant) - names
    return tuple(
        ValueLink(each.words.lower(), key, (each.code,), CERTAIN, Relation.EQUALS, coded=True)
        for key, meanings in known.items()
        for each in meanings
        if (words := identifier_words(each.words)) in said and not GRAMMAR.issuperset(words)
    )
