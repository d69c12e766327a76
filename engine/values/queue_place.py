"""The place of a question that waits for its turn: how it is told, by the engine's queue and over its interface.

A context variable, since who waits is deep below who is asked. Over HTTP each place is a line of JSON before the reply;
the last line has the reply's status. What is answered without waiting has no such lines.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass

CONTENT_TYPE = "application/x-ndjson"
"""Of a reply with such lines."""


@dataclass(frozen=True, slots=True)
class Line:
    """`before`: how many questions begin before this one; None once it has its turn. `status`: of the last line."""

    before: int | None = None
    status: int | None = None


async def _nobody(_before: int | None) -> None:
    pass


teller: ContextVar[Callable[[int | None], Awaitable[None]]] = ContextVar("teller", default=_nobody)
"""Is told `Line.before` each time it changes."""
