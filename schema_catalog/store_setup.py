"""The roles and the database that a store needs: which are missing, as SQL for whoever may make them.

Owns no connection. Roles are the server's, so that several stores share `nl_admin` and `nl_steward`.
"""

from __future__ import annotations

from collections.abc import Mapping

import asyncpg

from schema_catalog.login_rights import CATALOG_ROLE
from schema_catalog.naming import quote_ident, quote_literal
from schema_catalog.pg import Connection

DBA_ROLES = {
    "nl_admin": "decides which databases are registered, and open to whom",
    "nl_steward": "says what databases mean that are open to them",
}
"""The groups of DBAs, and what a member does."""

MAKE_DBA_ROLES = "SELECT nl_catalog.create_roles();"
"""In the store's database, by its owner where that may create roles, else by a superuser."""

_MISSING = "SELECT n FROM unnest($1::text[]) WITH ORDINALITY AS t (n, place) WHERE {} IS NULL ORDER BY place"


async def missing_roles(connection: Connection, names: tuple[str, ...] = tuple(DBA_ROLES)) -> tuple[str, ...]:
    """Those of `names` that the server has not, in order; raises asyncpg's errors."""
    rows = await connection.fetch(_MISSING.format("to_regrole(quote_ident(n))"), list(names))
    return tuple(row[0] for row in rows)


async def missing_parts(connection: Connection, role: str, database: str) -> tuple[str, ...]:
    """The SQL that makes what a store of `role` lacks, statement by statement; raises asyncpg's errors."""
    roles = await missing_roles(connection, (role, CATALOG_ROLE, *DBA_ROLES))
    there = await connection.fetchval("SELECT 1 FROM pg_database WHERE datname = $1", database)
    return statements(roles, role, None if there else database)


def statements(roles: tuple[str, ...], role: str, database: str | None) -> tuple[str, ...]:
    """The SQL that makes `roles`, and the `database` of `role` where one is to be made."""
    made = [f"CREATE ROLE {quote_ident(name)}{'' if name in DBA_ROLES else ' LOGIN'};" for name in roles]
    if database is not None:
        made.append(f"CREATE DATABASE {quote_ident(database)} OWNER {quote_ident(role)};")
    return tuple(made)


def all_parts(role: str, database: str) -> tuple[str, ...]:
    """The SQL that makes everything, where nothing is known of the server."""
    return statements(tuple(dict.fromkeys((role, CATALOG_ROLE, *DBA_ROLES))), role, database)


async def make_parts(connection: Connection, made: tuple[str, ...], passwords: Mapping[str, str]) -> None:
    """Runs `made`, one by one, and gives `passwords`; raises asyncpg's errors."""
    for statement in made:
        await connection.execute(statement)
    for role, password in passwords.items():
        await connection.execute(f"ALTER ROLE {quote_ident(role)} PASSWORD {quote_literal(password)}")


async def dba_roles_made(connection: Connection) -> bool:
    """Makes the roles of DBAs, with their rights on a migrated store; False where a superuser has to."""
    try:
        await connection.execute(MAKE_DBA_ROLES)
    except asyncpg.InsufficientPrivilegeError:
        return False
    return True


async def dba_roles_ready(connection: Connection) -> bool:
    """Whether a migrated store's server has them, with their rights there."""
    found = await connection.fetchval(
        "SELECT bool_and(coalesce(has_schema_privilege(to_regrole(n), 'nl_catalog', 'USAGE'), false))"
        " FROM unnest($1::text[]) AS n",
        list(DBA_ROLES),
    )
    return bool(found)
