"""Spider's training questions said otherwise: with synonyms, and without the columns' names.

Owns the rules; they stand in for Spider-Syn and Spider-Realistic on databases that have neither. What is done to a
word is drawn from a hash of the question's id and the word, so that a question reads alike in every run. A synonym is
taken from the `reserved` pairs alone, which no training question may use: a router that learned WordNet's neighbours of
a word by heart gains nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from benchmarks.harness.drawing import Item, share
from benchmarks.quality.routing.folds import Variant
from engine.question.tokens import STOP_WORDS, question_words
from engine.values.ports import Encoder
from schema_catalog.words import identifier_words, plural
from training.wordnet import WordNet


@dataclass(frozen=True, slots=True)
class Shares:
    """Share of a question's words that are replaced where a neighbour is found.

    `tables`: of those in the names of the tables that the gold reads; `columns`: of the other words in its columns'
    names; `rest`: of the rest.
    """

    tables: float
    columns: float
    rest: float


SYNONYMS = Shares(0.95, 0.4, 0.2)
"""Near to what Spider-Syn's open questions replace, 0.68, 0.26 and 0.11, since many words have no neighbour."""

BESIDE_COLUMNS = Shares(0.2, 0.0, 0.2)
"""The same for Spider-Realistic's: 0.13 and 0.11 beside the columns' names."""

RESERVED = 2
"""One in so many pairs of a word and its neighbour is kept for measuring."""

NEAR = 0.4
"""Cosine of a word and what replaces it, at least: odd senses lie below."""

REMOVED = 0.6
"""Of the columns that a question names, how many are left out; the others' names are replaced. All are replaced where
the question does not name a table: it would be about nothing."""

_KEYS = frozenset({"id", "code", "key"})
"""Words of keys: a question that names one means the thing."""

_WORD = re.compile(r"[A-Za-z]{3,}")
_BEFORE = r"(?:\b(?:the|their|its|each|whose|of|and|with|by)\s+)?"
"""A word that leads to a column's name and says nothing without it."""

_GENERAL = frozenset({"name", "title", "type"})
"""Words that are left out and never replaced: what WordNet has near them fits no column."""


def reserved(word: str, other: str) -> bool:
    """Whether the pair is kept for measuring."""
    return share(f"reserved\0{word}\0{other}") * RESERVED < 1


@dataclass(frozen=True, slots=True)
class Paraphraser:
    """`vocabulary`: words that may be written. `used`: (word, what was written instead) so far."""

    wordnet: WordNet
    encoder: Encoder
    vocabulary: frozenset[str]
    used: set[tuple[str, str]] = field(default_factory=set)
    _known: dict[str, list[tuple[str, float]]] = field(default_factory=dict)

    def question(self, item: Item, variant: Variant) -> str | None:
        """The question in a variant; None where it has nothing that the variant would change."""
        if variant is Variant.PLAIN:
            return str(item["question"])
        if variant is Variant.SYNONYMS:
            return self._with_synonyms(item, item["question"], SYNONYMS)
        return self._without_columns(item)

    def _with_synonyms(self, item: Item, text: str, shares: Shares) -> str:
        tables, columns = _name_words(item)
        telling = set(question_words(text))

        def other(match: re.Match[str]) -> str:
            word = identifier_words(match[0])[0]
            limit = shares.tables if word in tables else shares.columns if word in columns else shares.rest
            if word not in telling or share("\0".join(("replaced", item["id"], word))) >= limit:
                return match[0]
            return self.instead(match[0], word, item["id"])

        return _WORD.sub(other, text)

    def _without_columns(self, item: Item) -> str | None:
        tables, _ = _name_words(item)
        text, about = item["question"], bool(tables & set(question_words(item["question"])))
        for name in sorted(set(item["columns"] or ())):
            words = identifier_words(name.split(".")[1])
            if _KEYS.issuperset(words) or tables.issuperset(words) or STOP_WORDS.issuperset(words):
                continue
            said = r"[\s_]+".join(rf"{re.escape(_stem(word))}\w{{0,3}}" for word in words)
            mention = re.compile(rf"{_BEFORE}\b({said})\b", re.IGNORECASE)
            removed = about and (
                words[-1] in _GENERAL or share("\0".join(("removed", item["id"], *words))) < REMOVED
            )
            text = mention.sub(self._gap(item["id"], words, tables, removed=removed), text)
        text = _tidy(text)
        changed = text != _tidy(item["question"])
        return self._with_synonyms(item, text, BESIDE_COLUMNS) if changed else None

    def _gap(
        self, key: str, words: tuple[str, ...], kept: Collection[str], *, removed: bool
    ) -> Callable[[re.Match[str]], str]:
        """What stands for a mention of the column named by `words`; of these, `kept` name tables and stay."""

        def other(match: re.Match[str]) -> str:
            if identifier_words(match[1]) != words:
                return match[0]
            lead = match[0][: match.start(1) - match.start()]
            pairs = list(zip(re.split(r"[\s_]+", match[1]), words, strict=True))
            left = [written for written, word in pairs if word in kept]
            if removed or words[-1] in kept:
                return lead + " ".join(left) if left else ""
            written, word = pairs[-1]
            return lead + " ".join([*left, self.instead(written, word, key)])

        return other

    def instead(self, written: str, word: str, key: str) -> str:
        """A reserved neighbour of `word` in the number in which it is `written`; `written` where there is none."""
        near = self._near(word)
        total = sum(weight for _, weight in near)
        left = share(f"synonym\0{key}\0{word}") * total
        for one, weight in near:
            left -= weight
            if left < 0:
                self.used.add((word, one))
                return plural(one) if written.lower() != word and written.endswith("s") else one
        return written

    def _near(self, word: str) -> list[tuple[str, float]]:
        if word not in self._known:
            weights: dict[str, float] = {}
            for one, weight in self.wordnet.near(word, self.vocabulary):
                if reserved(word, one) and word not in identifier_words(one):
                    weights[one] = max(weight, weights.get(one, 0.0))
            vectors = self.encoder.encode([word, *weights])
            cosines = (vectors[1:] @ vectors[0]).tolist()
            pairs = zip(weights.items(), cosines, strict=True)
            self._known[word] = sorted(pair for pair, cosine in pairs if cosine >= NEAR)
        return self._known[word]


def _name_words(item: Item) -> tuple[set[str], set[str]]:
    """The words of the names of the tables that the gold reads, and those of its columns."""
    columns = [name.split(".")[1] for name in item["columns"] or ()]
    tables, others = (
        {word for name in names for word in identifier_words(name)} for names in (item["tables"], columns)
    )
    return tables, others - tables


def _tidy(text: str) -> str:
    """Without the spaces and commas that stood around what is gone."""
    return re.sub(r"(,\s*)+", ", ", re.sub(r"\s+(?=[,.?])|(?<=\s)\s+", "", text)).strip()


def _stem(word: str) -> str:
    return word.removesuffix("y")
