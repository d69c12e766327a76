"""Checks of the registered databases: reachable, the same as registered, and what the catalog's role may do there."""

from __future__ import annotations

from collections.abc import AsyncIterator

from engine.values.settings import EXTENSIONS, UpstreamSettings
from pgparley.check.finding import Finding, ok, problem, said, warning
from schema_catalog.dsn import CLEAR, in_the_clear, user_of
from schema_catalog.identity import read_identity
from schema_catalog.login_rights import catalog_rights
from schema_catalog.pg import Connection, Pool
from schema_catalog.privileges import untrusted_extensions, untrusted_owners
from schema_catalog.refresh import ConnectSettings, UnreachableError, connected, try_login
from schema_catalog.store import CatalogStore, Entry
from schema_catalog.types import EVERYONE, Database

_TO_ENCRYPT = "Add sslmode=verify-full to its connection string."


async def check_databases(
    pool: Pool, upstream: UpstreamSettings, settings: ConnectSettings
) -> AsyncIterator[Finding]:
    """Each registered database, then the logins of askers in it."""
    entries = await CatalogStore(pool).list()
    if not entries:
        yield warning("databases", "none is registered", "Run: pgparley catalog add NAME --dsn DSN")
    for entry in entries:
        yield await _database(pool, entry, upstream, settings)
        for login in entry.database.logins:
            if login.asker != EVERYONE:
                yield await _login(entry.database, login.asker, settings)


async def _database(
    pool: Pool, entry: Entry, upstream: UpstreamSettings, settings: ConnectSettings
) -> Finding:
    try:
        async with connected(entry.database.dsn, settings) as connection:
            return await _looked_at(pool, entry, connection, upstream)
    except UnreachableError as error:
        action = "Start its server and see that the catalog's role may log in, or register it anew."
        return problem(f"database {entry.database.name}", said(error), action)


async def _looked_at(pool: Pool, entry: Entry, connection: Connection, upstream: UpstreamSettings) -> Finding:
    """The first thing that is wrong there, or nothing."""
    database, identity = entry.database, await read_identity(connection)
    check, again = f"database {database.name}", f"pgparley catalog refresh {database.name}"
    if None not in (identity, database.identity) and identity != database.identity:
        return problem(check, "is another database than the registered one", f"If it was moved, run: {again}")
    if entry.snapshot_id is None:
        return warning(check, "its schema was never read", f"Run: {again}")
    rights = await catalog_rights(connection, database, pool)
    if rights.beyond:
        return warning(check, f"the catalog's role {rights.role} {rights.beyond}", rights.sql)
    if in_the_clear(database.dsn):
        return warning(check, CLEAR, _TO_ENCRYPT)
    return await _askable(check, database, connection, upstream) or ok(check, f"read as {rights.role}")


async def _askable(
    check: str, database: Database, connection: Connection, upstream: UpstreamSettings
) -> Finding | None:
    """What no question can use for its owner's sake."""
    if owners := await untrusted_owners(connection, database.schemas, upstream.trusted_owners):
        action = (
            "If you trust their code with every asker's rights, add them to trusted_owners in [upstream]."
        )
        return warning(check, f"only {', '.join(owners)} can ask about what they own", action)
    if away := await untrusted_extensions(connection, upstream.trusted_owners, sorted(EXTENSIONS)):
        name, why = away[0]
        action = "Have the DBA mend that, move it (ALTER EXTENSION … SET SCHEMA), or name its owner in trusted_owners."
        return warning(check, f"no question can use the extension {name}: {why}", action)
    return None


async def _login(database: Database, asker: str, settings: ConnectSettings) -> Finding:
    check = f"login of {asker} in {database.name}"
    login = next(each for each in database.logins if each.asker == asker)
    try:
        tried = await try_login(database, login, settings)
    except UnreachableError as error:
        action = f"Correct it: pgparley catalog login {database.name} {asker} --dsn DSN"
        return problem(check, said(error), action)
    if tried.unbound:
        action = "Let the asker log in as a role with the rights that its questions may use."
        return warning(check, f"{tried.role} {tried.unbound}: no privilege bounds its statements", action)
    if in_the_clear(login.dsn):
        return warning(check, CLEAR, _TO_ENCRYPT)
    if tried.role == user_of(database.dsn):
        action = f"Give {asker} a role of its own: this one reads whatever the catalog can."
        return warning(check, f"{tried.role} is the catalog's own role", action)
    return ok(check, f"as {tried.role}")
