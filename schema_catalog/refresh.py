"""Connects to registered databases and brings the catalog up to date with them.

Owns the connection to a registered database for introspection, trying a login, and naming the owners that a DBA has to
trust. Does not decide when to look.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import asyncpg

from schema_catalog.drift import Change, compare, renames
from schema_catalog.identity import read_identity, read_numbers, schema_digest
from schema_catalog.introspect import introspect
from schema_catalog.join_values import proposed_joins
from schema_catalog.pg import CATALOG_PATH, Connection, own_password
from schema_catalog.privileges import unbound, untrusted_owners
from schema_catalog.store import CatalogStore
from schema_catalog.types import Database, Login


@dataclass(frozen=True, slots=True)
class ConnectSettings:
    """Seconds that connecting and each query of an introspection may take."""

    connect_timeout: float = 10.0
    query_timeout: float = 60.0


class UnreachableError(Exception):
    """A registered database cannot be read. The message names no password."""


async def opened(dsn: str, settings: ConnectSettings, path: str | None = CATALOG_PATH) -> Connection:
    """A connection under the search path `path`, None: the one that the server sets; raises `UnreachableError`."""
    searched = {} if path is None else {"search_path": path}
    try:
        return await asyncpg.connect(
            dsn,
            password=own_password(dsn),
            timeout=settings.connect_timeout,
            command_timeout=settings.query_timeout,
            # A pooler in transaction mode may stand in between.
            statement_cache_size=0,
            server_settings={"application_name": "pgparley catalog", **searched},
        )
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, ValueError) as error:
        raise UnreachableError(f"cannot connect: {str(error) or type(error).__name__}") from error


@asynccontextmanager
async def connected(
    dsn: str, settings: ConnectSettings, path: str | None = CATALOG_PATH
) -> AsyncIterator[Connection]:
    """`opened`, and closed after the block; also raises `UnreachableError` where a query of the block fails."""
    connection = await opened(dsn, settings, path)
    try:
        yield connection
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
        raise UnreachableError(f"cannot read: {str(error) or type(error).__name__}") from error
    finally:
        await connection.close(timeout=settings.connect_timeout)


async def describe(name: str, dsn: str, schemas: tuple[str, ...], settings: ConnectSettings) -> Database:
    """The entry for a database: its name on the server, its identity, and the search path for reading it.

    The path is `schemas` where given, else the one that the server sets for new connections, less `"$user"`:
    it must mean the same for every asker. Raises `UnreachableError`, also where one of `schemas` does not
    exist.
    """
    async with connected(dsn, settings, None) as connection:
        dbname: str = await connection.fetchval("SELECT pg_catalog.current_database()::pg_catalog.text")
        path = await _search_path(connection, schemas)
        identity = await read_identity(connection)
    absent = set(schemas).difference(path)
    if absent:
        raise UnreachableError(f'database "{dbname}" has no schema "{min(absent)}"')
    return Database(name, dsn, dbname, path, schemas, identity=identity)


async def _search_path(connection: Connection, schemas: tuple[str, ...]) -> tuple[str, ...]:
    path = await connection.fetchval("SELECT pg_catalog.current_schemas(false)::pg_catalog.text[]")
    setting = await connection.fetchval("SELECT pg_catalog.current_setting('search_path')")
    await connection.execute(f"SET search_path = {CATALOG_PATH}")
    if schemas:
        query = "SELECT nspname::text FROM pg_catalog.pg_namespace WHERE nspname = ANY ($1::text[])"
        present = {row[0] for row in await connection.fetch(query, list(schemas))}
        return tuple(schema for schema in schemas if schema in present)
    own = await connection.fetchval("SELECT current_user::text")
    if "$user" not in setting:
        return tuple(path)
    return tuple(schema for schema in path if schema != own)


async def owners_to_trust(
    database: Database, trusted_owners: Sequence[str], settings: ConnectSettings
) -> tuple[str, ...]:
    """The roles beyond `trusted_owners` that own tables or schemas of `database`; raises `UnreachableError`.

    Nobody but such a role can ask about what it owns.
    """
    async with connected(database.dsn, settings) as connection:
        return await untrusted_owners(connection, database.schemas, trusted_owners)


async def refresh(store: CatalogStore, database: Database, settings: ConnectSettings) -> tuple[Change, ...]:
    """Takes a snapshot, stores it and what joins it implies, and returns the changes.

    Raises `UnreachableError` and the store's errors.

    What changed since an earlier snapshot, and what may have been renamed, is noted before it counts: what it breaks
    is then still known.
    """
    before = await store.newest(database.name)
    async with connected(database.dsn, settings) as connection:
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            snapshot = await introspect(connection, database)
            numbers = await read_numbers(connection, database.schemas)
        identity = await read_identity(connection)
    changes = compare(before, snapshot)
    if before is not None:
        known = await store.drift.numbers(database.name) if identity == database.identity else {}
        await store.drift.note(database.name, changes, renames(before, snapshot, known, numbers))
    await store.save_snapshot(snapshot)
    await store.drift.keep_numbers(database.name, numbers)
    await store.set_identity(database.name, identity)
    async with connected(database.dsn, settings) as connection:
        await store.propose(database.name, await proposed_joins(connection, snapshot))
    return changes


async def digest_now(database: Database, settings: ConnectSettings) -> str:
    """What changes with the schema of `database`, by one query; raises `UnreachableError`."""
    async with connected(database.dsn, settings) as connection:
        return await schema_digest(connection, database.schemas)


@dataclass(frozen=True, slots=True)
class Tried:
    """The role that a login has on the server; `unbound`: why no grant bounds what it may read, None where one does."""

    role: str
    unbound: str | None


async def try_login(database: Database, login: Login, settings: ConnectSettings) -> Tried:
    """Connects as `login`, which is of one asker by name; raises `UnreachableError`, also where it leads elsewhere."""
    async with connected(login.dsn, settings) as connection:
        role: str = await connection.fetchval("SELECT session_user::pg_catalog.text")
        why = await unbound(connection, role)
        identity = await read_identity(connection)
    if None not in (identity, database.identity) and identity != database.identity:
        raise UnreachableError(f'this login leads to another database than the registered "{database.name}"')
    return Tried(role, why)
