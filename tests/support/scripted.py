"""An engine's models, scripted: an encoder by words and a language model that says its lines."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray

from engine.values.model_profile import UNKNOWN, ModelProfile
from engine.values.ports import Completion, Prompt
from schema_catalog.words import identifier_words


class WordEncoder:
    """A text is the sum of its words' vectors, drawn from the word's hash: only equal words are alike."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of `texts`."""
        return np.stack([self._sum(identifier_words(text) or ("",)) for text in texts])

    def encode_tokens_many(
        self, texts: Sequence[str]
    ) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """Each text's vector and its words'."""
        spoken = [identifier_words(text) or ("",) for text in texts]
        return [(self._sum(words), np.stack([self._sum((word,)) for word in words])) for words in spoken]

    @staticmethod
    def _sum(words: Sequence[str]) -> NDArray[np.float32]:
        total = sum(map(_vector, words), np.zeros(128))
        return (total / (float(np.linalg.norm(total)) or 1.0)).astype(np.float32)


@cache
def _vector(word: str) -> NDArray[np.float64]:
    # The mark decides chance likenesses, by which a stage name is nearer to a name than a family name is.
    seed = int.from_bytes(hashlib.sha256(f"{word}-".encode()).digest()[:8], "big")
    return np.random.default_rng(seed).normal(size=128)


@dataclass
class ScriptedLLM:
    """Says its lines in turn, the last one for ever."""

    lines: list[str]
    prompts: list[Prompt] = field(default_factory=list)
    profile: ModelProfile = UNKNOWN

    async def complete(self, prompt: Prompt, **_: object) -> Completion:
        """The next line."""
        self.prompts.append(prompt)
        line = self.lines[min(len(self.prompts), len(self.lines)) - 1]
        return Completion(line + "\n```", 1, 0, 1, -0.1, finished=True)

    async def read(self, prompt: Prompt, **_: object) -> None:
        """Nothing to keep."""
