"""A dialogue as it is kept in a journal: what the engine showed in each turn, and what the user said to it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from benchmarks.harness.journal import Cost


class Shown(StrEnum):
    """What a reply of the engine is."""

    STATEMENTS = "statements"
    QUESTION = "question"
    ABSTENTION = "abstention"


class Said(StrEnum):
    """What the user did about it. `nothing` ends the dialogue."""

    OPTION = "option"
    OWN_WORDS = "own words"
    NONE = "none"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Turn:
    """One reply of the engine and the user's reaction.

    `statements`: best first: those shown; while a question is open, those that agree with the answers so far.
    `considered`: all that the engine has, those it does not show among them.
    `rows`: of the reply, to be read. `question`, `options`: in words, where it is a question. `words`: what the user
    said: an option's number, or a text. `erred`: they said other than they meant.
    """

    shown: Shown
    statements: tuple[str, ...]
    rows: int
    cost: Cost
    considered: tuple[str, ...] = ()
    question: str = ""
    ambiguity: str = ""
    options: tuple[str, ...] = ()
    said: Said = Said.NOTHING
    words: str = ""
    erred: bool = False


@dataclass(frozen=True, slots=True)
class Conversation:
    """All turns about one question. `reading`: that the user means, 1 or 2. `id`, `error`, `crashed`: as `Answer`'s."""

    id: str
    set: str
    system: str
    reading: int
    turns: tuple[Turn, ...]
    error: str | None = None
    crashed: bool = False
    commit: str = ""

    @property
    def statements(self) -> tuple[str, ...]:
        """Every statement of any turn, each once."""
        return tuple(
            dict.fromkeys(sql for turn in self.turns for sql in (*turn.statements, *turn.considered))
        )

    @property
    def answers(self) -> int:
        """How often the user had to say something."""
        return sum(turn.said is not Said.NOTHING for turn in self.turns)
