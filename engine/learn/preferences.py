"""From choices to votes (Odin §7.1, algorithm 3), and from votes to what an asker means by a phrase.

A phrase is linked to the nearest element that only the chosen statement reads, and to the nearest that only a rejected
one reads: a pair of alternatives, of tables where the tables differ. A vote decays with its age and with each newer one
on the same pair; votes for the other element are negative. Strength = |net| / (total + 1).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from engine.link.element_text import compared
from engine.question.question import Question
from engine.values.elements import WHOLE_TABLE, Entity
from engine.values.learned import Cast, Element, Preference, Vote
from engine.values.ports import Encoder
from engine.values.settings import LearningSettings
from schema_catalog.types import Snapshot
from schema_catalog.words import folded_name, identifier_words

NEAREST = 0.3
"""Cosine below which a phrase is not linked to a pair of elements."""

SHARED = 0.5
"""Weight of a phrase's cosine to the nearest table that both statements read, subtracted from its cosine to a pair."""

Elements = frozenset[Element]
_Votes = tuple[Element, Element]


def bare_entities(texts: Sequence[str], snapshot: Snapshot, encoder: Encoder) -> tuple[Entity, ...]:
    """Phrases with their cosines to tables and bare column names: with the table's, *name* is nearer to `singer`."""
    names = {(*table.key, WHOLE_TABLE): folded_name(table.name) for table in snapshot.tables}
    names |= {(*table.key, column.name): folded_name(column.name) for table, column in snapshot.columns()}
    return compared(texts, names, encoder)


def votes(
    entities: Sequence[Entity], chosen: Elements, rejected: Iterable[Elements], weight: float
) -> tuple[Vote, ...]:
    """The votes of one choice, each pair of elements once."""
    found: dict[_Votes, str] = {}
    for other in rejected:
        taken: set[Element] = set()
        for _, phrase, pair in sorted(_pairs(entities, chosen, other), key=lambda each: -each[0]):
            if not taken & set(pair):
                taken |= set(pair)
                found.setdefault(pair, phrase)
    return tuple(Vote(phrase, preferred, instead, weight) for (preferred, instead), phrase in found.items())


def _pairs(
    entities: Sequence[Entity], chosen: Elements, other: Elements
) -> Iterator[tuple[float, str, _Votes]]:
    """(score, phrase, pair) for each phrase that is near enough to a pair: higher where no shared table is as near."""
    for entity in entities:
        wanted, instead = _nearest(entity, chosen - other), _nearest(entity, other - chosen)
        if wanted is None or instead is None:
            continue
        pair = _lifted(wanted, instead, chosen, other)
        cosine = max(entity.similarities.get(element, -1.0) for element in pair)
        if cosine >= NEAREST:
            shared = _nearest(entity, frozenset(key for key in chosen & other if key[2] == WHOLE_TABLE))
            yield (
                cosine - SHARED * (0.0 if shared is None else entity.similarities[shared]),
                entity.text,
                pair,
            )


def _lifted(wanted: Element, instead: Element, chosen: Elements, other: Elements) -> _Votes:
    tables = (*wanted[:2], WHOLE_TABLE), (*instead[:2], WHOLE_TABLE)
    alone = tables[0] not in other and tables[1] not in chosen
    same = wanted[2] == instead[2] or WHOLE_TABLE in {wanted[2], instead[2]}
    return tables if alone and same else (wanted, instead)


def _nearest(entity: Entity, used: Elements) -> Element | None:
    known = sorted(element for element in used if element in entity.similarities)
    return max(known, key=entity.similarities.__getitem__, default=None)


Alike = Callable[[str, str], float]
"""Cosine of a phrase of a vote and a phrase of the question."""

LEAST = 0.05
"""Least strength of a preference."""

_Pair = tuple[Element, Element]
_Matched = tuple[Cast, str, float]
"""A vote, the phrase of the question that it is about, and how alike the two are, in (0, 1]."""


def preferences(
    question: Question,
    phrases: Sequence[str],
    casts: Sequence[Cast],
    alike: Alike,
    *,
    settings: LearningSettings,
) -> tuple[Preference, ...]:
    """A question's preferences, strongest first. `casts`: newest first; others' count where the asker has none.

    A vote counts where its phrase is one of the question's: of an element that was not asked for it says nothing.
    """
    pools: defaultdict[_Pair, list[_Matched]] = defaultdict(list)
    for cast in casts:
        if cast.age > settings.window_days or _named_otherwise(question, cast):
            continue
        phrase, match = _matching(cast.vote.phrase, phrases, alike, settings.alike)
        if match > 0.0:
            first, second = sorted((cast.vote.preferred, cast.vote.rejected))
            pools[first, second].append((cast, phrase, match))
    found = [each for pair, pool in pools.items() if (each := _weighed(pair, pool, settings)) is not None]
    return tuple(sorted(found, key=lambda each: -each.strength)[: settings.hints])


def _weighed(pair: _Pair, pool: list[_Matched], settings: LearningSettings) -> Preference | None:
    own = [each for each in pool if each[0].own]
    counted = (own or pool)[: settings.window_votes]
    net = total = 0.0
    for newer, (cast, _, match) in enumerate(counted):
        decay = 0.5 ** (cast.age / settings.half_life_days + newer / settings.half_life_votes)
        weight = cast.vote.weight * match * decay
        total += weight
        net += weight if cast.vote.preferred == pair[0] else -weight
    strength = abs(net) / (total + 1.0)
    if strength < LEAST:
        return None
    preferred, rejected = pair if net > 0 else (pair[1], pair[0])
    _, phrase, _ = max(counted, key=lambda each: each[2])
    return Preference(
        phrase, preferred, rejected, strength, strength >= settings.strong, len(counted), own=bool(own)
    )


def _matching(phrase: str, phrases: Sequence[str], alike: Alike, least: float) -> tuple[str, float]:
    """(phrase of the question most like `phrase`, its cosine); 1 where it has all words of `phrase`."""
    words = set(identifier_words(phrase))
    best = ("", 0.0)
    for other in phrases:
        theirs = set(identifier_words(other))
        match = 1.0 if words and words <= theirs else alike(phrase, other)
        if match >= least and match > best[1]:
            best = (other, match)
    return best


def _named_otherwise(question: Question, cast: Cast) -> bool:
    """Whether the question has a word of the rejected element's name alone, and none of the preferred one's alone."""
    asked = question.bare_words
    preferred, rejected = _words(cast.vote.preferred), _words(cast.vote.rejected)
    named = ((rejected - preferred) & asked) - set(identifier_words(cast.vote.phrase))
    return bool(named) and not (preferred - rejected) & asked


def _words(element: Element) -> set[str]:
    return {word for name in element[1:] for word in identifier_words(name)}
