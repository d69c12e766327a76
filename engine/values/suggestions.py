"""The requests and replies between `pgparley catalog suggest` and the engine."""

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
