"""What names of a schema are short for in a question: `spcs` for species, `lsh` described as leisure and hospitality.

Of 271 such words in Spider's training questions 246 are answered by statements that read one of the names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from engine.linking.element_text import name_words
from engine.text.abbreviations import LONG, surest
from engine.text.stopwords import LABEL_WORDS, OPERATION_WORDS, STOP_WORDS
from engine.text.tokens import identifier_words
from schema_catalog.types import Column, Snapshot

MOST = 2
"""Parts that are equally sure to be short for a word, at most: more say nothing."""

DESCRIBED = range(2, 6)
"""Words of a description that may stand in a question: one says little, and of many some are about something else."""

_ENDINGS = frozenset("d ed er ers est ing ings ion ly r ry s ses st".split())  # noqa: SIM905  easier to read
"""What a word may have more than a part of a name that says it in full."""

_LEFT_OUT = STOP_WORDS | OPERATION_WORDS | LABEL_WORDS | {"during", "since", "until"}


@dataclass(frozen=True, slots=True)
class ShortName:
    """A name, or a part of names, that stands for words of a question: as the schema and as people write them."""

    part: str
    words: str


def short_names(question: str, snapshot: Snapshot) -> tuple[ShortName, ...]:
    """The parts surest to be short for words of `question` that no name says in full, and names that it describes."""
    return (*_abbreviated(question, snapshot), *_described(question, snapshot))


def _abbreviated(question: str, snapshot: Snapshot) -> Iterator[ShortName]:
    names = [table.name for table in snapshot.tables] + [column.name for _, column in snapshot.columns()]
    parts = _spelt(" ".join(names))
    asked = _spelt(question)
    words = (each for each in asked if len(each) >= LONG and each.isalpha() and each not in _LEFT_OUT)
    for word in words:
        if any(_says_in_full(part, word) for part in parts):
            continue
        best = surest(word, parts)
        if len(best) <= MOST:
            yield from (ShortName(parts[part], asked[word]) for part in best)


def _described(question: str, snapshot: Snapshot) -> Iterator[ShortName]:
    """Columns whose whole description, of a few words, stands in the question: `lsh`, "leisure and hospitality"."""
    asked = frozenset(identifier_words(question))
    found: dict[frozenset[str], dict[str, str]] = {}
    for _, column in snapshot.columns():
        told = short_description(column)
        if told and told <= asked and not told <= set(identifier_words(column.name)):
            found.setdefault(told, {})[column.name] = " ".join((column.description or "").split())
    for same in found.values():
        if len(same) <= MOST:
            yield from (ShortName(name, words) for name, words in same.items())


def short_description(column: Column) -> frozenset[str]:
    """The folded words of what is said of a column, without stop words; none where they are not few (`DESCRIBED`)."""
    told = frozenset(identifier_words(column.description or "")) - STOP_WORDS
    return told if len(told) in DESCRIBED else frozenset()


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


def short_names_not_used(short: Sequence[ShortName], names: Iterable[str]) -> tuple[ShortName, ...]:
    """Those of `short` that stand for words of which a statement of these `names` reads nothing."""
    read = [frozenset(identifier_words(name)) for name in names] if short else []
    said = {each.words for each in short if any(parts >= set(identifier_words(each.part)) for parts in read)}
    return tuple(each for each in short if each.words not in said)
