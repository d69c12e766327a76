"""asyncpg's exceptions as the engine's: the one home of that mapping."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import asyncpg

from engine.values.deadline import Deadline
from engine.values.errors import CancelledError, DatabaseUnavailableError, NLError
from engine.values.ports import StatementError
from schema_catalog.types import Database

_UNAVAILABLE = ("08", "57P", "53300")
"""SQLSTATEs (or their beginnings) that mean the server, not the statement: docs appendix A."""

_TIMER_SLACK = 0.05
"""Seconds by which a timer may fire before its deadline; what times out earlier is a connection attempt."""


@contextmanager
def translated(database: Database, deadline: Deadline) -> Iterator[None]:
    """Raises `StatementError`, `CancelledError` or `DatabaseUnavailableError` where the driver raises its own."""
    try:
        yield
    except (NLError, StatementError):
        raise
    except asyncpg.QueryCanceledError as error:
        raise _out_of_time(error.message or "canceled") from error
    except asyncpg.PostgresError as error:
        if (error.sqlstate or "").startswith(_UNAVAILABLE) or error.severity_en == "FATAL":
            raise unavailable(database, error) from error
        raise _refused(error) from error
    except TimeoutError as error:
        if deadline.at - deadline.clock() > _TIMER_SLACK:
            raise unavailable(database, error) from error
        raise _out_of_time("the question ran out of time") from error
    except (OSError, asyncpg.InterfaceError, asyncpg.InternalClientError) as error:
        # InternalClientError: the server closed the connection between two operations of the driver.
        raise unavailable(database, error) from error


def unavailable(database: Database, error: Exception) -> DatabaseUnavailableError:
    """The error for a database that cannot be asked now."""
    return DatabaseUnavailableError(f"database {database.name} does not answer", detail=str(error) or None)


def _out_of_time(message: str) -> CancelledError:
    return CancelledError(message, hint="Ask for less, or raise nl.timeout.")


def _refused(error: asyncpg.PostgresError) -> StatementError:
    return StatementError(
        error.sqlstate or "XX000",
        # What runs names everything with its schema, what the asker wrote did not.
        (error.message or str(error)).replace("pg_catalog.", ""),
        error.detail,
        error.hint,
        int(error.position) if error.position else None,
    )
