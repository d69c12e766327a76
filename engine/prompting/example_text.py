"""Preferences and verified examples as text for a prompt, behind the schema, which stays the same.

Questions are data: quoted, on one line, cut short, without marks of the prompt's structure. A statement is shown whole
and on one line or not at all.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterator

from engine.core.elements import elements_read, is_masked
from engine.learning.types import Example, Learned, Preference
from engine.prompting.prompts import prompt
from engine.prompting.value_text import element_name
from engine.sql.resolution import resolve
from schema_catalog.types import ColumnKey, Snapshot

QUESTION = 160
"""Characters of an earlier question that a prompt shows."""

STATEMENT = 400
"""Characters of an example's statement at most."""

_LITERAL = re.compile(r"('(?:[^']|'')*'|\"(?:[^\"]|\"\")*\")")
_MARKS = ("--", "/*", "```", "###", "$$")
"""Comments, and marks of the prompt's and the answer's structure."""


def example_text(learned: Learned, shown: Snapshot, hidden: Container[ColumnKey] = frozenset()) -> str:
    """The blocks for the prompt, or an empty text; only of elements of `shown` that are not in `hidden`."""
    text = ""
    if lines := list(dict.fromkeys(_preferences(learned, shown, hidden))):
        text += prompt("learned", lines="\n".join(lines)) + "\n\n"
    if lines := list(_examples(learned, shown, hidden)):
        text += prompt("examples", lines="\n".join(lines)) + "\n\n"
    return text


def _preferences(learned: Learned, shown: Snapshot, hidden: Container[ColumnKey]) -> Iterator[str]:
    for each in learned.preferences:
        if each.named and not any(is_masked(element, hidden) for element in (each.preferred, each.rejected)):
            line = preference_line(each, shown)
            if line is not None:
                yield line


def preference_line(preference: Preference, shown: Snapshot) -> str | None:
    """`"name": singer.artist_name rather than singer.performer_name`; None where `shown` lacks one of the two."""
    preferred, rejected = (element_name(each, shown) for each in (preference.preferred, preference.rejected))
    if preferred is None or rejected is None:
        return None
    return f"{quoted(preference.phrase)}: {preferred} rather than {rejected}"


def _examples(learned: Learned, shown: Snapshot, hidden: Container[ColumnKey]) -> Iterator[str]:
    for each in learned.examples:
        sql = one_line(each.sql)
        if sql is not None and _names_only(each, shown, hidden):
            yield f"{quoted(each.question)}\n{sql}"


def _names_only(example: Example, shown: Snapshot, hidden: Container[ColumnKey]) -> bool:
    resolution = resolve(example.sql, shown)
    read = elements_read(resolution.columns, resolution.tables)
    return not resolution.problems and not any(is_masked(element, hidden) for element in read)


def quoted(text: str) -> str:
    """Foreign text in double quotes, on one line, cut short, without marks of structure."""
    plain = "".join(" " if unicodedata.category(each)[0] in "CZ" else each for each in text)
    plain = " ".join(plain.replace('"', "'").replace("`", "'").replace("#", "").split())
    return f'"{plain if len(plain) <= QUESTION else plain[: QUESTION - 1] + "…"}"'


def one_line(sql: str) -> str | None:
    """A statement on one line; None where it is too long, or has a line break in a literal or a mark of structure."""
    parts = _LITERAL.split(sql)
    written = "".join(
        part if place % 2 else re.sub(r"\s+", " ", part) for place, part in enumerate(parts)
    ).strip()
    if len(written) > STATEMENT or any(mark in written for mark in _MARKS):
        return None
    return (
        None if any(unicodedata.category(each) in {"Cc", "Cf", "Zl", "Zp"} for each in written) else written
    )
