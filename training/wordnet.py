"""Words near a word in WordNet, and questions with words replaced by them.

Owns reading WordNet's data files (Debian: wordnet-base) and which neighbours are taken: members of the same
set of synonyms, of the sets right above, and, of those right below, words that the encoder knows whole.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine.models.encoder import packaged_model
from engine.question.tokens import question_words
from schema_catalog.words import identifier_words, plural

_KINDS = ("noun", "verb", "adj")
_SENSES = 2
"""Meanings of a word taken, the most frequent ones: the rest are seldom meant."""

_SAME, _ABOVE, _BELOW = 3.0, 1.5, 1.0
"""How much likelier a synonym is taken than a broader or a narrower word."""

_ASIDE = 0.1
"""Share of replaced words among those that do not name anything of the schema."""


def writable() -> frozenset[str]:
    """The words that the encoder knows whole."""
    return frozenset((packaged_model() / "vocab.txt").read_text(encoding="utf-8").split())


@dataclass(frozen=True, slots=True)
class WordNet:
    """`sets`: (kind, offset) → words and pointers (symbol, kind, offset). `senses`: word → its sets, by frequency."""

    sets: dict[tuple[str, str], tuple[tuple[str, ...], tuple[tuple[str, str, str], ...]]]
    senses: dict[str, list[tuple[str, str]]]

    @staticmethod
    def load(folder: Path) -> WordNet:
        """Reads `data.*` and `index.*` (format: wndb(5WN))."""
        sets = {}
        senses: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for name in _KINDS:
            for fields in _lines(folder / f"data.{name}"):
                count = int(fields[3], 16)
                words = tuple(fields[4 + 2 * n].split("(")[0] for n in range(count))
                at = 4 + 2 * count
                pointers = tuple(
                    (fields[at + 1 + 4 * n], fields[at + 3 + 4 * n], fields[at + 2 + 4 * n])
                    for n in range(int(fields[at]))
                )
                sets[name[0], fields[0]] = (words, pointers)
            for fields in _lines(folder / f"index.{name}"):
                senses[fields[0]] += [(name[0], offset) for offset in fields[-int(fields[2]) :]]
        return WordNet(sets, dict(senses))

    def near(self, word: str, known: frozenset[str]) -> list[tuple[str, float]]:
        """Neighbours of a word, all of whose words are in `known`, with their weights."""
        found: list[tuple[str, float]] = []
        for kind in ("n", "v", "a"):
            for key in [one for one in self.senses.get(word, ()) if one[0] == kind][:_SENSES]:
                words, pointers = self.sets[key]
                found += [(one, _SAME) for one in words]
                for symbol, where, offset in pointers:
                    if kind == "n" and symbol in {"@", "~"}:
                        weight = _ABOVE if symbol == "@" else _BELOW
                        found += [(one, weight) for one in self.sets[where, offset][0][:2]]
        spoken = [(one.replace("_", " ").lower(), weight) for one, weight in found]
        return [
            (one, weight)
            for one, weight in spoken
            if one != word and known.issuperset(one.split()) and (weight != _BELOW or " " not in one)
        ]


def _lines(file: Path) -> Iterator[list[str]]:
    for line in file.read_text(encoding="latin-1").splitlines():
        if not line.startswith(" "):
            yield line.split("|")[0].split()


def reworded(
    item: Mapping[str, Any],
    share: float,
    wordnet: WordNet,
    known: frozenset[str],
    rng: np.random.Generator,
    *,
    spared: Callable[[str, str], bool] | None = None,
) -> str:
    """The question with `share` of the words that name its tables and columns replaced, and a few others.

    `spared`: tells of a word and a neighbour whether the pair may not be used.
    """
    names = {word for name in [*item["tables"], *(item["columns"] or [])] for word in identifier_words(name)}
    telling = set(question_words(item["question"]))

    def other(match: re.Match[str]) -> str:
        word = identifier_words(match[0])[0]
        if word not in telling or rng.random() > (share if word in names else _ASIDE):
            return match[0]
        near = wordnet.near(word, known)
        if spared is not None:
            near = [pair for pair in near if not spared(word, pair[0])]
        if not near:
            return match[0]
        weights = np.array([weight for _, weight in near])
        chosen = near[int(rng.choice(len(near), p=weights / weights.sum()))][0]
        return plural(chosen) if match[0].lower() != word and match[0].endswith("s") else chosen

    return re.sub(r"[A-Za-z]{3,}", other, item["question"])
