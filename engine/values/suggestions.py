"""The requests and replies between `pgparley catalog suggest`, `pgparley catalog questions` and the engine."""

from __future__ import annotations

from dataclasses import dataclass

from schema_catalog.types import Suggestion, TableKey


@dataclass(frozen=True, slots=True)
class SuggestRequest:
    """Asks for suggestions for the first table of `database` behind `after` that lacks something.

    `table`: for this one alone, as it is called in the database: `orders` or `public.orders`.
    `missed`: only for what words of questions came near to that nothing stood for.
    """

    database: str
    after: TableKey | None = None
    table: str | None = None
    missed: bool = False


@dataclass(frozen=True, slots=True)
class SuggestReply:
    """What was suggested for `table`; None: no table behind lacks anything. `left`: tables that still do."""

    table: TableKey | None = None
    suggestions: tuple[Suggestion, ...] = ()
    left: int = 0


@dataclass(frozen=True, slots=True)
class AskAheadRequest:
    """Has the model asked about the next tables of `database`; `estimate`: only what asking about all would cost."""

    database: str
    estimate: bool = False


@dataclass(frozen=True, slots=True)
class AskedAhead:
    """What was made of `tables`, by a prompt that took `tokens` and `money`; of an estimate those of all prompts.

    `words`: how many. `left`: prompts still to be sent. `unreached`: tables that none is about. `own`: the model is the
    operator's.
    """

    left: int = 0
    tables: tuple[TableKey, ...] = ()
    questions: tuple[str, ...] = ()
    words: int = 0
    tokens: int = 0
    money: float = 0.0
    model: str = ""
    own: bool = False
    unreached: int = 0
