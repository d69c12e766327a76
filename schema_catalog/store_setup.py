"""The roles and the database that a store needs: which are missing, and the SQL for whoever may make them.

Roles are the server's, so that several stores share `nl_admin` and `nl_steward`. All raise asyncpg's errors.
"""

from __future__ import annotations

from collections.abc import Iterable

import asyncpg

from schema_catalog.login_rights import CATALOG_ROLE
from schema_catalog.naming import quote_ident
from schema_catalog.pg import Connection

DBA_ROLES = ("nl_admin", "nl_steward")

MAKE_DBA_ROLES = "SELECT nl_catalog.create_roles();"
"""In the store's database, by its owner where that may create roles, else by a superuser."""


def statements(role: str, database: str, there: Iterable[str] = ()) -> tuple[str, ...]:
    """The SQL that makes the `database` of `role`, and all roles, less the roles and the database that are `there`."""
    known = set(there)
    roles = dict.fromkeys((role, CATALOG_ROLE, *DBA_ROLES))
    made = {
        name: f"CREATE ROLE {quote_ident(name)}{'' if name in DBA_ROLES else ' LOGIN'};" for name in roles
    }
    made = {f"role {name}": sql for name, sql in made.items()}
    made[f"database {database}"] = f"CREATE DATABASE {quote_ident(database)} OWNER {quote_ident(role)};"
    return tuple(sql for name, sql in made.items() if name not in known)


async def there(connection: Connection) -> frozenset[str]:
    """The server's roles and databases, as "role NAME" and "database NAME"."""
    rows = await connection.fetch(
        "SELECT 'role ' || rolname FROM pg_roles UNION ALL SELECT 'database ' || datname FROM pg_database"
    )
    return frozenset(row[0] for row in rows)


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
