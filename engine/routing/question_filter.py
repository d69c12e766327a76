"""Questions that a language model wrote, one a line: the grammar for five of them, the filter, and their style.

The filter is for models that take no grammar. Pure: calls nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from engine.routing.walks import Walk
from engine.text.tokens import identifier_words, question_words
from schema_catalog.types import Snapshot

_LENGTHS = range(12, 201)
"""Characters of a question."""

_LEAST_WORDS = 3
_SHORT_WORD = 3

_EVERYDAY = frozenset(
    """
    name id code number year date month day time type value title first last other total
    """.split()  # noqa: SIM905  a list of quoted words is no easier to read
)
"""Generic words of schemas, which have no paraphrase."""

_TOOLS = ("database", "dataset", "table", "column", "record")
"""Words that an asker who does not know the schema would not use."""

_MARKER = re.compile(
    r"^\s*(?:[-*•]+|\(?\d{1,2}[.):]|[QA]\d*[.:]|(?:question|line)\s*\d*\s*[.:])\s*", re.IGNORECASE
)
_SQL = re.compile(
    r"\bselect\b.+\bfrom\b|\bgroup by\b|\border by\b|\binner join\b|[;{}<>=`]|\w\.\w+_|\(\*\)", re.IGNORECASE
)


_LINE = r"/[A-Z][ !\"#$%&'(),\-0-9A-Za-z]+[a-z0-9?.!]\n/"
"""One sentence. A small multilingual model left to itself drifts into other scripts."""

_LINE_OF_ANY_SCRIPT = r"/[^ \n_;`*:?.0-9\-][^\n_;`*:?.]+[^ \n_;`*:,]\n/"

_CHAT = re.compile(
    r"\bI['\u2019](?:m|d|ll)\b|\bI (?:can|will|am)\b|\b(?:assist|help) you\b|\bfeel free\b|\bclarif|\byour question",
    re.IGNORECASE,
)
"""The model talks to its user instead."""


class Style(StrEnum):
    """Whether a question uses the schema's words."""

    OWN = "own"
    """It names a table."""
    MIXED = "mixed"
    """It names columns alone."""
    OTHER = "other"
    """It shares no word with the columns and tables shown, generic words aside."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The folded words of the tables and of the columns that a walk shows, less those that everybody uses."""

    tables: frozenset[str]
    columns: frozenset[str]

    @staticmethod
    def of(snapshot: Snapshot, walk: Walk) -> Vocabulary:
        """The words that a paraphrase avoids."""
        shown = [snapshot.tables[t] for t in walk.tables]
        names = [t.columns[c].name for t, picked in zip(shown, walk.columns, strict=True) for c in picked]
        return Vocabulary(_words(table.name for table in shown), _words(names))

    def style(self, question: str) -> Style:
        """The style of `question`."""
        words = frozenset(question_words(question))
        if words & self.tables:
            return Style.OWN
        return Style.MIXED if words & self.columns else Style.OTHER


def _words(names: Iterable[str]) -> frozenset[str]:
    return frozenset(word for name in names for word in identifier_words(name)) - _EVERYDAY


def grammar(vocabulary: Vocabulary) -> str:
    """Lark: five lines, all but the first without the tables' words, the second and fourth without the columns' either.

    Lines that may name columns stand between those that may not, and bring the model back to what it was given.

    Repetition counts are left out: with the forbidden words they make more lexer states than a mask may visit.
    """
    own = [word for word in _TOOLS if word not in vocabulary.tables | vocabulary.columns]
    tables = [*own, *vocabulary.tables]
    every = [*tables, *vocabulary.columns]
    line = _LINE if all(word.isascii() for word in every) else _LINE_OF_ANY_SCRIPT
    return "\n".join(
        (
            "start: OWN OTHER MIXED OTHER MIXED",
            f"OWN: {line}{_without(own)}",
            f"MIXED: {line}{_without(tables)}",
            f"OTHER: {line}{_without(every)}",
        )
    )


def _without(words: Sequence[str]) -> str:
    """The rest of a Lark terminal that holds none of `words` at the beginning of a word."""
    patterns = [_beginning(word) for word in sorted(words) if len(word) >= _SHORT_WORD]
    return f" & ~/(?s:(.*[^a-zA-Z])?({'|'.join(patterns)}).*)/" if patterns else ""


def _beginning(word: str) -> str:
    """What its forms share: `allies` for ally, `moved` for move. No whole words: `legs` would come out as `legsof`."""
    return _any_case(word[:-1] if len(word) > _SHORT_WORD and word[-1] in "ey" else word)


def _any_case(word: str) -> str:
    return "".join(f"[{c}{c.upper()}]" if c.isalpha() and len(c.upper()) == 1 else c for c in word)


def read_lines(text: str, database: str, *, finished: bool) -> tuple[str, ...]:
    """The questions in a model's answer, each once; where it was cut off, its last line is dropped.

    So is what speaks of `database` by a name of several words, `flight 2`: that is the prompt's heading, echoed.
    """
    heading = " ".join(identifier_words(database))
    echo = re.compile(rf"\b{re.escape(heading)}\b" if " " in heading else r"(?!)")
    lines = text.splitlines()
    if not finished:
        lines = lines[:-1]
    kept: dict[str, str] = {}
    for line in lines:
        question = _MARKER.sub("", line).strip().strip("\"'").strip()
        if _is_question(question) and not echo.search(fold(question)):
            kept.setdefault(fold(question), question)
    return tuple(kept.values())


def fold(question: str) -> str:
    """Equal for questions that differ in case, spaces and punctuation alone."""
    return " ".join(re.findall(r"\w+", question.casefold()))


def _is_question(text: str) -> bool:
    """Whether a line can be one: prose of a sensible length, no SQL, no echoed identifier, no heading, no chat."""
    return (
        len(text) in _LENGTHS
        and len(text.split()) >= _LEAST_WORDS
        and not text.endswith((":", ","))
        and "_" not in text
        and _SQL.search(text) is None
        and _CHAT.search(text) is None
    )
