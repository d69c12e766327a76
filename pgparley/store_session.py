"""What the commands on the catalog have in common: the store they work on, and what they say where that fails.

Owns the exit status of expected failures (1) and that no control character of a database reaches the terminal.
"""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Awaitable, Callable
from typing import NoReturn, TypeVar

import asyncpg
import typer
from rich.text import Text

from schema_catalog.dsn import DSNError, as_uri, redacted
from schema_catalog.migrate import MigrationError, migrate
from schema_catalog.pg import Pool
from schema_catalog.refresh import ConnectSettings, UnreachableError
from schema_catalog.store import CatalogError, UnknownLoginError, UnknownNameError

T = TypeVar("T")

SETTINGS = ConnectSettings()


def run_on_store(dsn: str, work: Callable[[Pool], Awaitable[T]]) -> T:
    """Runs `work` on the migrated store; every expected failure ends the command with a message."""

    async def session() -> T:
        async with asyncpg.create_pool(
            as_uri(dsn), min_size=1, max_size=1, timeout=SETTINGS.connect_timeout, statement_cache_size=0
        ) as pool:
            async with pool.acquire() as connection:
                await migrate(connection)
            return await work(pool)

    try:
        return asyncio.run(session())
    except UnknownNameError as error:
        fail(f"{error}. Run `pgparley catalog list` to see the names.")
    except UnknownLoginError as error:
        fail(f"{error}. Run `pgparley catalog show {error.database}` to see who has.")
    except DSNError as error:
        fail(f"store: {error}.")
    except (CatalogError, UnreachableError, MigrationError) as error:
        fail(f"{error}.")
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, ValueError) as error:
        fail(
            f"the store does not answer: {error or type(error).__name__}. "
            f"Check that {redacted(as_uri(dsn))} is right and its server runs."
        )


def fail(message: str) -> NoReturn:
    """Ends the command."""
    typer.echo(f"pgparley: {printable(message)}", err=True)
    raise typer.Exit(1)


def cell(text: str) -> Text:
    """`text` for a grid, without markup."""
    return Text(printable(text))


def printable(text: str) -> str:
    """`text` without what could drive a terminal: names, comments and values come from databases."""
    return "".join(repr(c)[1:-1] if unicodedata.category(c) in {"Cc", "Cf", "Cs"} else c for c in text)
