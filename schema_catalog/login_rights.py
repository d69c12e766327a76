"""What pgparley's own two logins may do beyond what they need, and the SQL to use instead.

The store's role owns the store; the catalog's reads schemas, and values where a DBA allowed that. Neither asks.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from schema_catalog.dsn import with_user, without_login
from schema_catalog.naming import dotted, quote_ident, quote_literal
from schema_catalog.pg import Connection, Pool
from schema_catalog.types import Database
from schema_catalog.values import ValueStore

STORE_ROLE, CATALOG_ROLE = "pgparley", "pgparley_catalog"
"""The names that are proposed."""

_HANDING_OVER = "-- then: docs/operations.md, A role for the store, hands over what is in it"

# Of groups those count by which it would have the rights of others who can log in, or reach files and everybody's data.
_BEYOND = """
    WITH me AS (SELECT r.* FROM pg_roles r WHERE r.rolname = session_user)
    SELECT 'is a superuser' AS words, NULL AS sql FROM me WHERE rolsuper
    UNION ALL
    SELECT 'has ' || a.attribute, format('ALTER ROLE %I NO%s;', rolname, a.attribute)
    FROM me, LATERAL (VALUES (rolcreaterole, 'CREATEROLE'), (rolreplication, 'REPLICATION'),
                             (rolbypassrls, 'BYPASSRLS')) AS a (has, attribute)
    WHERE a.has AND NOT rolsuper
    UNION ALL
    SELECT 'is a member of ' || quote_ident(g.rolname), format('REVOKE %I FROM %I;', g.rolname, me.rolname)
    FROM me JOIN pg_auth_members m ON m.member = me.oid JOIN pg_roles g ON g.oid = m.roleid
    WHERE NOT me.rolsuper AND EXISTS (
        SELECT FROM pg_roles o
        WHERE CASE WHEN o.oid >= 16384 THEN o.rolcanlogin AND NOT o.rolsuper AND o.oid <> me.oid
                        AND g.rolname NOT IN ('nl_admin', 'nl_steward') AND pg_has_role(o.oid, g.oid, 'MEMBER')
                   ELSE o.rolname IN ('pg_read_all_data', 'pg_write_all_data', 'pg_read_server_files',
                                      'pg_write_server_files', 'pg_execute_server_program')
                        AND pg_has_role(g.oid, o.oid, 'MEMBER') END
    )
"""


@dataclass(frozen=True, slots=True)
class LoginRights:
    """A login's `role`, what it may do `beyond` its needs, in words, and the `sql` that ends it; both may be empty."""

    role: str
    beyond: str
    sql: str


async def store_rights(connection: Connection) -> LoginRights:
    """Those of a connection to the store; raises asyncpg's errors."""
    name = quote_ident(await connection.fetchval("SELECT current_database()::text"))
    own = f"CREATE ROLE {STORE_ROLE} LOGIN;\nALTER DATABASE {name} OWNER TO {STORE_ROLE};\n{_HANDING_OVER}"
    return await _rights(connection, own)


async def catalog_rights(connection: Connection, database: Database, store: Pool) -> LoginRights:
    """Those of the catalog's connection to `database`; raises asyncpg's errors."""
    columns = await ValueStore(store).allowed(database.name)
    objects = [f"CONNECT ON DATABASE {quote_ident(database.dbname)}"]
    objects += [
        f"USAGE ON SCHEMA {schema}" for schema in dict.fromkeys(quote_ident(each[0]) for each in columns)
    ]
    for table, of_table in groupby(columns, lambda column: column[:2]):
        names = ", ".join(quote_ident(column[2]) for column in of_table)
        objects.append(f"SELECT ({names}) ON {dotted(table)}")
    name, dsn = map(
        quote_literal, (database.name, with_user(without_login(database.dsn, proofs=True), CATALOG_ROLE))
    )
    own = [
        f"CREATE ROLE {CATALOG_ROLE} LOGIN;",
        *(f"GRANT {each} TO {CATALOG_ROLE};" for each in objects),
        "-- and in the store:",
        f"UPDATE pgparley.database SET dsn = {dsn} WHERE name = {name};",  # noqa: S608 - to be read, of quoted texts
    ]
    return await _rights(connection, "\n".join(own))


async def _rights(connection: Connection, instead: str) -> LoginRights:
    """`instead`: the SQL that makes a role for a superuser's place."""
    role: str = await connection.fetchval("SELECT session_user::text")
    found = await connection.fetch(_BEYOND)
    sql = (row["sql"] or instead for row in found)
    return LoginRights(role, ", ".join(row["words"] for row in found), "\n".join(sql))
