"""The entities of a question (Odin §5.3): runs of content words. The paper asks a model for them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from engine.text.stopwords import OPERATION_WORDS, STOP_WORDS

ENTITY_WORDS = 3
"""Words of an entity at most; a longer run is split."""

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?|[.,;:?!()]")
_PHRASES = re.compile(r"\bnumbers? of\b|\bin (?:\w+ )?order\b", re.IGNORECASE)
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|“[^”]*”")
_LEFT_OUT = STOP_WORDS | OPERATION_WORDS


def entities(question: str) -> list[str]:
    """Runs of content words, in order, each once, without numbers and quoted values."""
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
