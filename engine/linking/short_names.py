"""What parts of a schema's names are short for in a question: `cnst` for construction, `spcs` for species.

Of 271 such words in Spider's training questions 246 are answered by statements that read one of the names.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from engine.linking.element_text import name_words
from engine.text.abbreviations import CLEAR, shortness
from engine.text.stopwords import LABEL_WORDS, OPERATION_WORDS, STOP_WORDS
from engine.text.tokens import identifier_words
from schema_catalog.types import ColumnKey, Snapshot, TableKey

LONG = 4
"""Letters of a word that a name may be short for, at least."""

MOST = 2
"""Parts that are equally sure to be short for a word, at most: more say nothing."""

_ENDINGS = frozenset("d ed er ers est ing ings ion ly r ry s ses st".split())  # noqa: SIM905  easier to read
"""What a word may have more than a part of a name that says it in full."""

_LEFT_OUT = STOP_WORDS | OPERATION_WORDS | LABEL_WORDS | {"during", "since", "until"}


@dataclass(frozen=True, slots=True)
class ShortName:
    """A part of names that is short for a word of a question, both as they are written there."""

    part: str
    word: str


def short_names(question: str, snapshot: Snapshot) -> tuple[ShortName, ...]:
    """The parts surest to be short for the words of `question` that no name says in full."""
    names = [table.name for table in snapshot.tables] + [column.name for _, column in snapshot.columns()]
    parts = _spelt(" ".join(names))
    asked = _spelt(question)
    words = (each for each in asked if len(each) >= LONG and each.isalpha() and each not in _LEFT_OUT)
    found = []
    for word in words:
        if any(_says_in_full(part, word) for part in parts):
            continue
        sure = {part: chance for part in parts if (chance := shortness(part, word)) >= CLEAR}
        best = [part for part, chance in sure.items() if chance == max(sure.values())]
        found += [ShortName(parts[part], asked[word]) for part in best if len(best) <= MOST]
    return tuple(found)


def _spelt(text: str) -> dict[str, str]:
    """The folded words of a text, in order, and how each is first written there, in lower case."""
    found: dict[str, str] = {}
    for piece in name_words(text).split():
        for word in identifier_words(piece):
            found.setdefault(word, piece)
    return found


def _says_in_full(part: str, word: str) -> bool:
    """Whether they are one word but for its ending: `order` and "ordered", `rate` and "rating"."""
    stem = part.removesuffix("e")
    ending = word.removeprefix(part if word.startswith(part) else stem)
    return part == word or (len(part) >= LONG and word.startswith(stem) and ending in _ENDINGS)


def short_names_not_used(
    question: str, snapshot: Snapshot, tables: Iterable[TableKey], columns: Iterable[ColumnKey]
) -> tuple[ShortName, ...]:
    """What is short for a word of `question` of which a statement over these elements reads nothing."""
    names = (*(name for _, name in tables), *(name for *_, name in columns))
    read = {part for name in names for part in identifier_words(name)}
    found = short_names(question, snapshot)
    said = {each.word for each in found if not read.isdisjoint(identifier_words(each.part))}
    return tuple(each for each in found if each.word not in said)
