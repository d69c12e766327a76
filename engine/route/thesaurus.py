"""A second reading of a question: words that the catalog gives as synonyms, in the names that they stand for.

Said of one database, a synonym would draw a question about another one there. Read with the name instead, the question
finds the others, too; each database keeps the likelier reading. Made of what one asker may see.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from engine.question.question import Question
from engine.question.tokens import STOP_WORDS, WORD
from engine.route.index import Index
from engine.values.ports import Match
from schema_catalog.types import Column, Snapshot, Table
from schema_catalog.words import identifier_words

Words = tuple[str, ...]


class Thesaurus:
    """`names`: what is read instead of a word that is a synonym in most of the databases that hold it."""

    def __init__(self, index: Index) -> None:
        said: dict[Words, Counter[Words]] = defaultdict(Counter)
        for part in index.parts:
            for synonym, name in set(_synonyms(part.snapshot)):
                said[synonym][name] += 1
        self.names: dict[Words, str] = {
            synonym: " ".join(min(names.items(), key=lambda one: (-one[1], one[0]))[0])
            for synonym, names in said.items()
            if 2 * names.total() > min(len(index.words[word].databases) for word in synonym)
        }
        self._longest = max(map(len, self.names), default=0)

    def reading(self, question: Question) -> Question | None:
        """The question with names in the place of synonyms, the longest first; None where it has none."""
        if not self.names:
            return None
        found = [
            (each.start(), each.end(), identifier_words(each[0])) for each in WORD.finditer(question.text)
        ]
        parts, done, place = [], 0, 0
        while place < len(found):
            for size in range(min(self._longest, len(found) - place), 0, -1):
                run = found[place : place + size]
                name = self.names.get(tuple(word for *_, words in run for word in words))
                if name is not None:
                    parts += [question.text[done : run[0][0]], name]
                    done = run[-1][1]
                    place += size
                    break
            else:
                place += 1
        return replace(question, text="".join([*parts, question.text[done:]])) if parts else None


def _synonyms(snapshot: Snapshot) -> Iterator[tuple[Words, Words]]:
    """Each synonym and its element's name, less the words that both begin or end with."""
    for table in snapshot.tables:
        elements: tuple[Table | Column, ...] = (table, *table.columns)
        for element in elements:
            for synonym in element.synonyms:
                said, name = _differing(identifier_words(synonym), identifier_words(element.name))
                if said and name and not STOP_WORDS.issuperset(said):
                    yield said, name


def _differing(one: Words, other: Words) -> tuple[Words, Words]:
    while one and other and one[0] == other[0]:
        one, other = one[1:], other[1:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    return one, other


def likelier(first: Sequence[Match], second: Sequence[Match], reading: Question) -> tuple[Match, ...]:
    """Each database's likelier match, likeliest first, at most as many as `first`; both readings weigh the same."""
    moved = _total(first) - _total(second)
    best = {match.position: match for match in first}
    for match in second:
        held = best.get(match.position)
        logit = match.logit + moved
        if held is None or logit > held.logit:
            best[match.position] = replace(
                match, logit=logit, retrieval=match.retrieval + moved, reading=reading.text
            )
    return tuple(sorted(best.values(), key=lambda match: -match.logit)[: len(first)])


def _total(matches: Sequence[Match]) -> float:
    most = max(match.logit for match in matches)
    return most + math.log(math.fsum(math.exp(match.logit - most) for match in matches))
