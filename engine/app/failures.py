"""From an unexpected exception to the error that a user sees."""

from __future__ import annotations

import asyncpg

from engine.values import wording
from engine.values.errors import InternalError, ModelUnavailableError, NLError
from schema_catalog.catalog import StoreUnavailableError

_STORE_TROUBLE = ("08", "25006", "28", "3D", "3F", "42501", "53", "57", "58", "XX")
"""How SQLSTATEs begin of a server that has gone, starts, ends, has no room, only reads, is damaged, or whose login,
database or privileges are not what they were (PostgreSQL docs, appendix A)."""

_STORE_GONE = (asyncpg.InterfaceError, asyncpg.InternalClientError, OSError, StoreUnavailableError)
"""Beside them what a connection meets, `TimeoutError` and names that are not found among them."""


def as_reply(problem: Exception) -> NLError:
    """An unexpected exception as the error that a user sees: its type alone.

    Of PostgreSQL's own errors only the store's come here: those on the asker's databases are reported as they are.
    """
    gone = isinstance(problem, _STORE_GONE) or (
        isinstance(problem, asyncpg.PostgresError) and (problem.sqlstate or "").startswith(_STORE_TROUBLE)
    )
    if gone:
        return ModelUnavailableError.told(wording.STORE_TROUBLE, kind=type(problem).__name__)
    return InternalError.told(wording.ENGINE_FAILED, kind=type(problem).__name__)
