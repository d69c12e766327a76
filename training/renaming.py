"""Two other names for a table or a column, which a question could mean alike.

Owns which word of a name is replaced and by which neighbours of it (`training.wordnet`): synonyms and broader words,
nouns that the encoder knows whole and finds near the word, so that no odd sense is taken; the nearest in the name's own
context first. No narrower words: they say more than the name.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import combinations

from engine.core.ports import Encoder
from engine.text.tokens import OPERATION_WORDS, STOP_WORDS, question_words
from schema_catalog.words import identifier_words, plural
from training.wordnet import BELOW, WordNet

NEAR = 0.4
"""Cosine of a neighbour and the word, at least."""

_ALIKE = 4
"""Letters with which two words of one stem begin: color, colour."""


@dataclass(frozen=True, slots=True)
class Renamer:
    """`vocabulary`: words that may be taken."""

    wordnet: WordNet
    encoder: Encoder
    vocabulary: frozenset[str]

    def pair(self, name: str, context: str, question: str, taken: Collection[str]) -> tuple[str, str] | None:
        """Two names in which the same word of `name` is replaced; None where there are no two good ones.

        `context`: words to be read before the name. Neither name is in `taken`, nor its new word in the question.
        """
        asked = set(question_words(question))
        if not asked.issuperset(set(identifier_words(name)) - STOP_WORDS):
            return None
        pieces = name.split("_")
        found = []
        for at, piece in enumerate(pieces):
            word = "".join(identifier_words(piece))
            new = self._replacements(piece, word) if word in asked - OPERATION_WORDS else {}
            names = {"_".join([*pieces[:at], one, *pieces[at + 1 :]]): near for one, near in new.items()}
            kept = {one: near for one, near in names.items() if one not in taken and near not in asked}
            found += self._nearest(context, name, kept)
        return max(found)[1] if found else None

    def _replacements(self, piece: str, word: str) -> dict[str, str]:
        """Neighbours of `word` in the number that `piece` has it in: what is written → the neighbour."""
        if piece == word or not piece.endswith("s"):
            return {near: near for near in self._near(word)}
        written = {near if near.endswith("s") else plural(near): near for near in self._near(word)}
        return {new: near for new, near in written.items() if new in self.vocabulary}

    def _near(self, word: str) -> list[str]:
        """Single nouns near `word`, of other stems than its own."""
        weights = dict(sorted(self.wordnet.near(word, self.vocabulary, kinds=("n",)), key=lambda one: one[1]))
        plain = [
            one
            for one, weight in weights.items()
            if weight > BELOW and one.isalpha() and not _one_stem(one, word)
        ]
        vectors = self.encoder.encode([word, *plain])
        cosines = vectors[1:] @ vectors[0]
        return [one for one, cosine in zip(plain, cosines, strict=True) if cosine >= NEAR]

    def _nearest(
        self, context: str, name: str, others: dict[str, str]
    ) -> list[tuple[float, tuple[str, str]]]:
        """The two of `others` nearest to `name` by the sum of their cosines, and that sum; empty without two.

        `others`: name → its new word.
        """
        pairs = [(a, b) for a, b in combinations(others, 2) if not _one_stem(others[a], others[b])]
        vectors = self.encoder.encode([_spoken(f"{context} {each}") for each in (name, *others)])
        cosines = dict(zip(others, (vectors[1:] @ vectors[0]).tolist(), strict=True))
        return sorted((cosines[a] + cosines[b], (a, b)) for a, b in pairs)[-1:]


def _spoken(text: str) -> str:
    return text.replace("_", " ")


def _one_stem(one: str, other: str) -> bool:
    return one in other or other in one or one[:_ALIKE] == other[:_ALIKE]
