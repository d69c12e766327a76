"""Checks of the registered databases: reachable, the same as registered, and what the catalog's role may do there."""

from __future__ import annotations

from collections.abc import AsyncIterator

from engine.settings import UpstreamSettings
from pgparley.check.finding import Finding, ok, problem, said, warning
from schema_catalog.dsn import user_of
from schema_catalog.identity import read_identity
from schema_catalog.naming import quote_ident
from schema_catalog.pg import Connection, Pool
from schema_catalog.privileges import untrusted_owners
from schema_catalog.refresh import ConnectSettings, UnreachableError, connected, try_login
from schema_catalog.store import CatalogStore, Entry
from schema_catalog.types import EVERYONE, Database

_LENT = """
    SELECT r.rolname::text FROM pg_catalog.pg_roles r
    WHERE r.oid >= 16384 AND r.rolcanlogin AND r.rolname <> session_user
      AND pg_catalog.pg_has_role(session_user, r.oid, 'MEMBER') ORDER BY 1
"""
"""Roles that can log in and that the session's own role is a member of."""


async def check_databases(
    pool: Pool, upstream: UpstreamSettings, settings: ConnectSettings
) -> AsyncIterator[Finding]:
    """Each registered database, then the logins of askers in it."""
    entries = await CatalogStore(pool).list()
    if not entries:
        yield warning("databases", "none is registered", "Run: pgparley catalog add NAME --dsn DSN")
    for entry in entries:
        yield await _database(entry, upstream, settings)
        for login in entry.database.logins:
            if login.asker != EVERYONE:
                yield await _login(entry.database, login.asker, settings)


async def _database(entry: Entry, upstream: UpstreamSettings, settings: ConnectSettings) -> Finding:
    database = entry.database
    check = f"database {database.name}"
    try:
        async with connected(database.dsn, settings) as connection:
            identity = await read_identity(connection)
            return await _looked_at(check, entry, identity, connection, upstream)
    except UnreachableError as error:
        action = "Start its server and see that the catalog's role may log in, or register it anew."
        return problem(check, said(error), action)


async def _looked_at(
    check: str, entry: Entry, identity: str | None, connection: Connection, upstream: UpstreamSettings
) -> Finding:
    """The first thing that is wrong there, or nothing."""
    database = entry.database
    again = f"pgparley catalog refresh {database.name}"
    if None not in (identity, database.identity) and identity != database.identity:
        return problem(check, "is another database than the registered one", f"If it was moved, run: {again}")
    if entry.snapshot_id is None:
        return warning(check, "its schema was never read", f"Run: {again}")
    role: str = await connection.fetchval("SELECT session_user::text")
    if await connection.fetchval("SELECT pg_catalog.current_setting('is_superuser') = 'on'"):
        action = "Give the catalog a role of its own, with rights on data only where values are allowed."
        return warning(check, f"the catalog's role {role} is a superuser", action)
    if lent := [row[0] for row in await connection.fetch(_LENT)]:
        action = f"REVOKE them from {quote_ident(role)}: the catalog must not be able to act for an asker."
        return warning(check, f"the catalog's role {role} is a member of {', '.join(lent)}", action)
    if owners := await untrusted_owners(connection, database.schemas, upstream.trusted_owners):
        action = (
            "If you trust their code with every asker's rights, add them to trusted_owners in [upstream]."
        )
        return warning(check, f"only {', '.join(owners)} can ask about what they own", action)
    return ok(check, f"read as {role}")


async def _login(database: Database, asker: str, settings: ConnectSettings) -> Finding:
    check = f"login of {asker} in {database.name}"
    login = next(each for each in database.logins if each.asker == asker)
    try:
        tried = await try_login(database, login, settings)
    except UnreachableError as error:
        action = f"Correct it: pgparley catalog login {database.name} {asker} --dsn DSN"
        return problem(check, said(error), action)
    if tried.superuser:
        action = "Let the asker log in as a role with the rights that its questions may use."
        return warning(check, f"{tried.role} is a superuser: no privilege bounds its statements", action)
    if tried.role == user_of(database.dsn):
        action = f"Give {asker} a role of its own: this one reads whatever the catalog can."
        return warning(check, f"{tried.role} is the catalog's own role", action)
    return ok(check, f"as {tried.role}")
