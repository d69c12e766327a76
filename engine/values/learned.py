"""The values of learning. Imports nothing of the engine, so that the pipeline's state may hold them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

Element = tuple[str, str, str]
"""(schema, table, column); the column `*` stands for the table."""


class ExampleKind(StrEnum):
    """The feedback that an example comes from."""

    CHOSEN = "chosen"
    CORRECTED = "corrected"
    REJECTED = "rejected"
    VERIFIED = "verified"
    """Of nobody's feedback: a DBA says so."""


@dataclass(frozen=True, slots=True)
class Vote:
    """An asker meant `preferred` by `phrase` and not `rejected`, its alternative."""

    phrase: str
    preferred: Element
    rejected: Element
    weight: float


@dataclass(frozen=True, slots=True)
class Cast:
    """A vote that counts for an asker: `own`, or another's that was approved. `age` in days."""

    vote: Vote
    own: bool
    age: float


@dataclass(frozen=True, slots=True)
class Lesson:
    """A question with a statement that a person judged. `key`: normal form."""

    question: str
    key: str
    sql: str
    kind: ExampleKind
    own: bool


@dataclass(frozen=True, slots=True)
class AskerFeedback:
    """All that may count for one asker on one database: what is verified, then the newest first.

    `adapter`: the weights in use (`engine.learning.phrase_adapter`), None where there are none; `version` and `scope`
    are the adapter's.
    """

    casts: tuple[Cast, ...] = ()
    lessons: tuple[Lesson, ...] = ()
    adapter: bytes | None = None
    version: int = 0
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Preference:
    """By `phrase` the asker means `preferred` rather than `rejected`.

    `phrase`: of the question. `strength` in (0, 1); `strong`: it raises similarities as well. `votes`: how many count.
    `own`: they are the asker's, else approved ones.
    """

    phrase: str
    preferred: Element
    rejected: Element
    strength: float
    strong: bool
    votes: int
    own: bool


@dataclass(frozen=True, slots=True)
class Example:
    """A verified answer to a question like this one. `similarity`: cosine of the two questions.

    `corrected`: its asker wrote it in the place of another.
    """

    question: str
    sql: str
    similarity: float
    own: bool
    corrected: bool = False


@dataclass(frozen=True, slots=True)
class Learned:
    """What concerns one question, database and asker. `refused`: statements rejected for this very question."""

    preferences: tuple[Preference, ...] = ()
    examples: tuple[Example, ...] = ()
    refused: tuple[str, ...] = ()

    @property
    def personal(self) -> bool:
        """Whether any of it is the asker's own."""
        own = [each.own for each in self.preferences] + [each.own for each in self.examples]
        return bool(self.refused) or any(own)
