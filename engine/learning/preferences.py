"""From votes to preferences: what the phrases of a question mean for an asker, and how surely.

Owns the arithmetic of decay and contradiction. A vote counts less with every day and with every newer vote on the same
pair (exponential decay), and not at all outside of the window; votes for the other side count against. A strength is
net / (total + 1): one fresh vote gives 0.5, two that agree 0.64, two that do not next to nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence

from engine.learning.types import Cast, Element, Preference
from engine.settings import LearningSettings
from engine.text.tokens import identifier_words

Alike = Callable[[str, str], float]
"""Cosine of a phrase of a vote and a phrase of the question."""

Near = Callable[[Element], float]
"""Cosine of an element and the phrase of the question that is nearest to it."""

ABOUT = 0.4
"""Cosine from which a question is about an element in any words."""

FAINT = 0.5
"""What a vote counts where the question is about its elements in other words than the vote's."""

LEAST = 0.05
"""A strength below this is none: both alternatives stay as they are."""

_Pair = tuple[Element, Element]
_Matched = tuple[Cast, str, float]
"""A vote, the phrase of the question that it is about ("": in other words), and how alike the two are, in (0, 1]."""


def preferences(
    question: str,
    phrases: Sequence[str],
    casts: Sequence[Cast],
    alike: Alike,
    near: Near,
    *,
    settings: LearningSettings,
) -> tuple[Preference, ...]:
    """The preferences that concern a question, strongest first, at most `settings.hints`.

    `casts`: newest first. An asker's own votes on a pair go before everybody's: those count only where there are none.
    """
    pools: defaultdict[_Pair, list[_Matched]] = defaultdict(list)
    for cast in casts:
        if cast.age > settings.window_days or _named_otherwise(question, cast):
            continue
        phrase, match = _matching(cast.vote.phrase, phrases, alike, settings.alike)
        if not phrase and max(near(cast.vote.preferred), near(cast.vote.rejected)) >= ABOUT:
            phrase, match = "", FAINT
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
    cast, phrase, _ = max(counted, key=lambda each: each[2])
    strong = strength >= settings.strong and phrase != ""
    return Preference(
        phrase or cast.vote.phrase,
        preferred,
        rejected,
        strength,
        strong,
        len(counted),
        own=bool(own),
        named=phrase != "",
    )


def _matching(phrase: str, phrases: Sequence[str], alike: Alike, least: float) -> tuple[str, float]:
    """The phrase of the question that is most like `phrase`: 1 where one's words are among the other's."""
    words = set(identifier_words(phrase))
    best = ("", 0.0)
    for other in phrases:
        theirs = set(identifier_words(other))
        match = 1.0 if words and (words <= theirs or theirs <= words) else alike(phrase, other)
        if match >= least and match > best[1]:
            best = (other, match)
    return best


def _named_otherwise(question: str, cast: Cast) -> bool:
    """Whether the question names the rejected element by a word that sets it apart, and not the preferred one.

    Who once meant `artist` by "singers" and now says "performers" means the performers.
    """
    asked = set(identifier_words(re.sub(r"['\u2019]s\b", "", question)))
    preferred, rejected = _words(cast.vote.preferred), _words(cast.vote.rejected)
    named = ((rejected - preferred) & asked) - set(identifier_words(cast.vote.phrase))
    return bool(named) and not (preferred - rejected) & asked


def _words(element: Element) -> set[str]:
    return {word for name in element[1:] for word in identifier_words(name)}
