"""A question cut up: its entities, the spans that may be values, and its numbers.

The entities of a question (Odin §5.3): runs of content words. The paper asks a model for them.

The spans of a question that may be a value: quoted texts, names, numbers and codes, dates, short phrases.

The numbers that a question says, and those of them that a statement does without.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from sqlglot import exp

from engine.question import normalise as folding
from engine.question.numerals import NUMBER, NUMBERS
from engine.question.tokens import GRAMMAR, PLAIN, QUOTED, STOP_WORDS

ENTITY_WORDS = 3
"""Words of an entity at most; a longer run is split."""

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?|[.,;:?!()]")
_PHRASES = re.compile(r"\bnumbers? of\b|\bin (?:\w+ )?order\b", re.IGNORECASE)
_THAT_IS = re.compile(r"\b(?:i\.\s?e|e\.\s?g)\b\.?")


def entities_in(text: str) -> tuple[str, ...]:
    """Runs of content words, in order, each once, without numbers and quoted values."""
    bare = _PHRASES.sub(" , ", QUOTED.sub(" , ", _without_that_is(text)))
    found = [" ".join(run) for run in _content_runs(bare)]
    return tuple(dict.fromkeys(found))


def _without_that_is(text: str) -> str:
    """The text, as long as it is, with a break for each "i.e." and "e.g."."""
    return _THAT_IS.sub(lambda match: ";" * len(match[0]), text)


def _content_runs(text: str) -> Iterator[Sequence[str]]:
    run: list[str] = []
    for word in [*_WORD.findall(text), "."]:
        lower = word.lower()
        if lower in GRAMMAR or not word[0].isalpha() or len(run) == ENTITY_WORDS:
            if run:
                yield run
            run = []
        if lower not in GRAMMAR and word[0].isalpha():
            run.append(lower)


PHRASE_WORDS = 4
NAME_WORDS = 8
"""Words at most of a phrase in lower case, and of a name or a quoted text."""

NUMBER_DIGITS = 3
"""Digits of a number that may be a value, at least: shorter ones are counts and limits."""

_TOKEN = re.compile(r"[^\W_]+(?:['\u2019.][^\W_]+)*")
_BREAK = re.compile(r"[;:?!()\"\u201c\u201d]")
_POSSESSIVE = re.compile(r"['\u2019]s$")


class SpanKind(Enum):
    """The form of a span, which sets its least similarity. PHRASE: content words; MIXED: others inside as well."""

    QUOTED = auto()
    NAME = auto()
    DATE = auto()
    NUMBER = auto()
    PHRASE = auto()
    MIXED = auto()


@dataclass(frozen=True, slots=True)
class Span:
    """A part of the question from character `start` to `end`; `key` as in `folding`."""

    text: str
    kind: SpanKind
    start: int
    end: int
    key: str
    words: int

    def within(self, other: Span) -> bool:
        """Whether it lies inside of `other` and is not all of it."""
        inside = other.start <= self.start and self.end <= other.end
        return inside and (self.start, self.end) != (other.start, other.end)


def spans_in(text: str) -> tuple[Span, ...]:
    """The spans of a question, by their start; they overlap, and parts of a quoted text are spans as well."""
    text = _without_that_is(text)
    dated = list(_dated(text))
    found = [*_quoted(text), *dated]
    edges = {edge for span in found for edge in (span.start, span.end)}
    loud = text.upper() == text
    for run in _runs(text, [(span.start, span.end) for span in dated], edges):
        found.extend(_windows(text, run, loud=loud))
    unique = {(span.start, span.end): span for span in reversed(found) if span.key}
    return tuple(sorted(unique.values(), key=lambda span: (span.start, -span.end)))


def _quoted(text: str) -> Iterator[Span]:
    for match in QUOTED.finditer(text):
        said = match[0][1:-1]
        yield Span(said, SpanKind.QUOTED, *match.span(), folding.key(said), len(said.split()))


def _dated(text: str) -> Iterator[Span]:
    for key, (start, end) in folding.dates(text):
        said = text[start:end]
        yield Span(said, SpanKind.DATE, start, end, key, len(said.split()))


_Words = Sequence[re.Match[str]]


def _runs(text: str, taken: Sequence[tuple[int, int]], edges: set[int]) -> Iterator[_Words]:
    """Runs of words without a break, an edge of a quoted text, or a span in `taken`; a full stop is no break."""
    run: list[re.Match[str]] = []
    for token in _TOKEN.finditer(text):
        between = range(run[-1].end(), token.start() + 1) if run else range(0)
        if run and (_BREAK.search(text, run[-1].end(), token.start()) or not edges.isdisjoint(between)):
            yield run
            run = []
        if any(start < token.end() and token.start() < end for start, end in taken):
            yield run
            run = []
        else:
            run.append(token)
    yield run


def _windows(text: str, run: _Words, *, loud: bool) -> Iterator[Span]:
    for first in range(len(run)):
        for last in range(first, min(len(run), first + NAME_WORDS)):
            span = _span(text, run[first : last + 1], loud=loud)
            if span is not None:
                yield span


def _span(text: str, words: _Words, *, loud: bool) -> Span | None:
    start, end = words[0].start(), words[-1].end()
    kind = _kind([word[0] for word in words], opens=not text[:start].strip(), loud=loud)
    if kind is None:
        return None
    said = _POSSESSIVE.sub("", text[start:end])
    return Span(said, kind, start, end, folding.key(said), len(words))


def _kind(words: Sequence[str], *, opens: bool, loud: bool) -> SpanKind | None:
    stops = [_stop(word, loud=loud) for word in words]
    capital = [word[0].isupper() or word[0].isdigit() for word in words]
    # "First aid" and "top floor" may be values, "the floor" is none.
    within = len(words) > 1 and not any(stops[1:]) and words[0].lower() not in STOP_WORDS
    if stops[-1] or (stops[0] and not within and (len(words) == 1 or not capital[0])):
        return None
    if len(words) == 1 and words[0].isdigit():
        return SpanKind.NUMBER if len(words[0]) >= NUMBER_DIGITS else None
    # The first word of a sentence has its capital from there.
    plain = loud or (opens and len(words) == 1 and words[0][1:].islower())
    named = all(big or stop for big, stop in zip(capital, stops, strict=True))
    if named and capital[0] and capital[-1] and not plain:
        return SpanKind.NAME
    if (stops[0] and not within) or len(words) > PHRASE_WORDS or len(words[0]) == len(words) == 1:
        return None
    return SpanKind.MIXED if any(stops) else SpanKind.PHRASE


def _stop(word: str, *, loud: bool) -> bool:
    """Whether the word is a stop word; `OR` and `IN` in capitals may be codes, unless all is in capitals."""
    return word.lower() in PLAIN and (loud or not (word.isupper() and len(word) > 1))


_SAID = re.compile(r"(?<![\w.])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?!\w)")
_DIGITS = re.compile(r"\d+(?:\.\d+)?")

_SAID_IN_WORDS = re.compile(rf"\b(?:{NUMBER})\b", re.IGNORECASE)

_UNITS = (1.0, 1e3, 1e6, 1e9, 0.01)
"""What a number may be counted in: "1.5 million", "20 %"."""

_PLACES = 6
"""Behind the point, in which numbers are compared."""

Number = tuple[str, float]
"""As the question says it, and what it is."""


def numbers_in(text: str) -> tuple[Number, ...]:
    """In digits, then in words."""
    digits = ((each[0], float(each[0].replace(",", ""))) for each in _SAID.finditer(text))
    return (*digits, *((each[0], float(NUMBERS[each[0].lower()])) for each in _SAID_IN_WORDS.finditer(text)))


def numbers_not_used(numbers: Iterable[Number], tree: exp.Expr, names: Iterable[str]) -> list[str]:
    """Those of a question's `numbers` that are in no literal of `tree` and in no name that it reads.

    `names`: of its columns and tables. A whole number is used as well by its neighbours: "at least 3" is `> 2`.
    """
    texts = (*(literal.this for literal in tree.find_all(exp.Literal)), *names)
    used = {round(float(digits), _PLACES) for text in texts for digits in _DIGITS.findall(text)}
    return [said for said, number in numbers if not used & set(_alike(number))]


def _alike(number: float) -> Iterator[float]:
    yield from (round(number * unit, _PLACES) for unit in _UNITS)
    if number.is_integer():
        yield from (number - 1, number + 1)
