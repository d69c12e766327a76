"""What a calibration belongs to: all that the scores depend on, besides the schema and the question.

Points of another recipe are kept and do not count. The schema is kept with each point: a changed one voids the
points of its database and no others. The version of a scoring function is part of its name.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import msgspec

from engine.prompts import source

PIPELINE = 1
"""Counts changes of the stages' code after which the same question has other candidates or other scores."""

PROMPTS = ("generate_system", "generate_user", "repair_user", "values", "learned", "examples", "judge_user")
"""The prompts by which candidates are written, repaired and judged."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """`model`: the language model's name. `grammar`: how it takes one. `calls`: the budget of one question.

    `hints`: a version of what was learnt from users, which changes prompts or scores; what of it grows in the store is
    added by the store (`engine.calibration.store`).
    """

    model: str
    grammar: str
    calls: int
    encoder: str
    hints: str = ""

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of the recipe with the prompts' texts and the pipeline's version."""
        prompts = [source(name) for name in PROMPTS]
        return hashlib.sha256(msgspec.json.encode([self, PIPELINE, prompts])).hexdigest()
