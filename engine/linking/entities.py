"""The phrases of a question that a schema may have a name for (Odin §5.3 calls them entities).

The paper asks a model for them; here they are the runs of content words, which costs nothing and is the same each time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from engine.text.stopwords import OPERATION_WORDS, STOP_WORDS

ENTITY_WORDS = 3
"""Words that one entity has at most; a longer run of content words is cut."""

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?|[.,;:?!()]")
_PHRASES = re.compile(r"\bnumbers? of\b|\bin (?:\w+ )?order\b", re.IGNORECASE)
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|“[^”]*”")
_LEFT_OUT = STOP_WORDS | OPERATION_WORDS


def entities(question: str) -> list[str]:
    """Runs of content words, in order and without repetition; numbers and quoted values are no entities."""
    found = [" ".join(run) for run in _runs(_PHRASES.sub(" , ", _QUOTED.sub(" , ", question)))]
    return list(dict.fromkeys(found))


def _runs(question: str) -> Iterator[Sequence[str]]:
    run: list[str] = []
    for word in [*_WORD.findall(question), "."]:
        lower = word.lower()
        if lower in _LEFT_OUT or not word[0].isalpha() or len(run) == ENTITY_WORDS:
            if run:
                yield run
            run = []
        if lower not in _LEFT_OUT and word[0].isalpha():
            run.append(lower)
