"""What comments of a schema say in English: what codes mean ("30 invoiced, 40 paid"), and which rows do not count."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

LONGEST = 60
"""Characters of a meaning at most: more is a text, and no legend."""

SHORT = 4
"""Letters of a code in lower case at most: what is longer is a word."""

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


speaks_of_bits = re.compile(r"\bbits?\b|bit.?(?:mask|field|flag)|\bflags?\b", re.IGNORECASE).search
"""Where a comment, or a name in words, says that codes are bits."""

counts_places = re.compile(r"\bbit\s*\d", re.IGNORECASE).search
"""Where a comment names a bit by its place."""

says_not_counted = re.compile(
    r"\b(?:not|never|n't)\s+(?:to\s+)?(?:be\s+)?(?:count(?:ed)?|included|considered)\b"
    r"|\b(?:excluded?|ignored?|disregard(?:ed)?|left\s+out)\b|\bsoft[- ]delet",
    re.IGNORECASE,
).search
"""Where a comment says that rows do not count."""


CALLED, CALLED_LONGEST = 5, 40
"""Words, and characters, of what a column is called in place of its name, at most."""

_FIRST = re.compile(r"[,;:.(\[|/]|\s[-\u2013\u2014=]\s")
"""What ends the first thing that a comment says."""

_OF_NULL = re.compile(r"\bNULL\s*(?:=>?|->|→|:)\s*(?P<meaning>[^,;.()\[\]|/]+)")


def called(comment: str) -> str:
    """What a comment calls its column in a few words; empty where it says more, or explains codes at once."""
    said = _FIRST.split(comment, maxsplit=1)[0].strip()
    words = said.split()
    if not 0 < len(words) <= CALLED or len(said) > CALLED_LONGEST or len(words[0]) == 1 or said.isupper():
        return ""
    return _within_line(said)


def meaning_of_null(comment: str) -> str:
    """What a comment says that NULL means ("NULL: still on loan"); empty where it says nothing of it."""
    found = _OF_NULL.search(comment)
    said = "" if found is None else found["meaning"].strip()
    return _within_line(said) if len(said) <= LONGEST else ""


def _within_line(said: str) -> str:
    """With a small first letter, where the second one is small as well."""
    return said[:1].lower() + said[1:] if said[1:2].islower() else said
