"""The questions, and which half each belongs to.

Owns the file's form. A half is decided by the question's id alone: what is set aside was so before anything was asked.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

FILE = Path(__file__).parent / "questions.jsonl"


class Half(StrEnum):
    """`open`: for looking at. `aside`: for being sure at the end, each look at it is logged."""

    OPEN = "open"
    ASIDE = "aside"


class Kind(StrEnum):
    """What a question needs; it may need several."""

    FILTER = "filter"
    JOIN = "join"
    AGGREGATE = "aggregate"
    TOP_N = "top-n"
    DATE = "date"
    RATIO = "ratio"
    SET = "set"
    """A difference, or something that is not there."""
    VALUES = "values"
    """The spelling of a stored value, or a code."""
    SEVERAL_SCHEMAS = "several-schemas"
    """Tables outside the search path."""


@dataclass(frozen=True, slots=True)
class RealQuestion:
    """A question of an analyst. `gold`: statements, each right by another fair reading of what is to be shown."""

    id: str
    database: str
    text: str
    kinds: tuple[Kind, ...]
    gold: tuple[str, ...]

    @property
    def half(self) -> Half:
        """By the last bit of the id's SHA-256."""
        return Half.ASIDE if hashlib.sha256(self.id.encode()).digest()[-1] % 2 else Half.OPEN


def read_questions(file: Path = FILE) -> tuple[RealQuestion, ...]:
    """All of them, in the file's order, which keeps those of a database together."""
    items = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return tuple(
        RealQuestion(
            item["id"], item["db"], item["question"], tuple(map(Kind, item["kinds"])), tuple(item["gold"])
        )
        for item in items
    )
