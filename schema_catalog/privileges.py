"""The columns of a database that a role may read.

Owns the queries that ask the server itself, so that role membership, PUBLIC, column grants, schema usage,
ownership and superusers count exactly as they do when a statement runs. Which rows row-level security shows is
left to the server at execution; which tables have it is known here.
"""

from __future__ import annotations

from collections.abc import Sequence

from schema_catalog.introspect import VISIBLE_RELATIONS
from schema_catalog.pg import Connection
from schema_catalog.types import ReadableColumns, TableKey

SERVERS_OWN = "r.oid < 16384"
"""For `also`: roles that came with the server (`FirstNormalObjectId`), such as the owner of the schema public."""

_MARKER = ":trusted_roles"

_CHAIN_MARKER = ":trust_chain"

# A member of a trusted role acts as that role: its grants count, who its members are does not. PUBLIC is role 0, and
# pg_database_owner has one member (docs 21.5). Others may drop what lies in a schema of theirs, and put something of
# the same name in its place.
_CHAIN = """schema_problem (oid, problem) AS (
    SELECT n.oid, CASE
        WHEN n.nspname ~ '^pg_(temp|toast)' THEN 'its schema is a session''s own'
        WHEN n.nspowner NOT IN (SELECT oid FROM trusted)
            AND pg_catalog.pg_get_userbyid(n.nspowner) <> 'pg_database_owner'
            THEN pg_catalog.format('its schema belongs to role "%s", which is not trusted',
                                   pg_catalog.pg_get_userbyid(n.nspowner))
        ELSE pg_catalog.format('others may create in its schema: REVOKE CREATE ON SCHEMA %I FROM ', n.nspname) || (
            SELECT pg_catalog.string_agg(DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC'
                ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(a.grantee)) END, ', ')
            FROM pg_catalog.aclexplode(n.nspacl) AS a
            WHERE a.privilege_type = 'CREATE' AND a.grantee NOT IN (SELECT oid FROM trusted)
              AND (a.grantee = 0 OR pg_catalog.pg_get_userbyid(a.grantee) <> 'pg_database_owner'))
    END
    FROM pg_catalog.pg_namespace n
), extension_problem (oid, problem) AS (
    SELECT e.oid, CASE
        WHEN e.extowner NOT IN (SELECT oid FROM trusted)
            THEN pg_catalog.format('its extension belongs to role "%s", which is not trusted',
                                   pg_catalog.pg_get_userbyid(e.extowner))
        ELSE s.problem
    END
    FROM pg_catalog.pg_extension e LEFT JOIN schema_problem s ON s.oid = e.extnamespace
), member_problem (classid, objid, problem) AS (
    SELECT d.classid, d.objid, e.problem
    FROM pg_catalog.pg_depend d JOIN extension_problem e ON e.oid = d.refobjid
    WHERE d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass AND d.deptype = 'e' AND e.problem IS NOT NULL
)"""


def trusted_roles(names: str, also: str = "false") -> str:
    """A SELECT of OIDs, each once: superusers, the database's owner, the roles called `names`, those that fit `also`.

    Both are SQL: `names` an array of text, `also` a condition over `r`, a row of pg_roles.
    """
    return f"""
    SELECT r.oid FROM pg_catalog.pg_roles r WHERE r.rolsuper OR r.rolname = ANY ({names}) OR {also}
    UNION
    SELECT d.datdba FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database()
"""  # noqa: S608  both come from code, never from data


def with_trusted_roles(query: str, names: str, also: str = "false") -> str:
    """`query` with `trusted_roles` in place of its one `:trusted_roles`; raises `ValueError` where it has none.

    `:trust_chain`, behind a query named `trusted`, becomes three more: `schema_problem (oid, problem)` and
    `extension_problem` say why what lies in a schema or belongs to an extension is not trusted, NULL where it is;
    `member_problem (classid, objid, problem)` has the members of the latter.
    """
    before, marker, after = query.partition(_MARKER)
    if not marker:
        raise ValueError(f"the query has no {_MARKER}")
    return f"{before}{trusted_roles(names, also)}{after.replace(_CHAIN_MARKER, _CHAIN)}"


# CASE keeps the order of evaluation: a schema without USAGE hides its tables despite grants on them, and
# a grant on the table spares the look at each column.
_READABLE = f"""
    WITH asking AS (
        SELECT r.oid FROM pg_catalog.pg_roles r
        WHERE r.rolname = $2
          AND pg_catalog.has_database_privilege(r.oid, pg_catalog.current_database(), 'CONNECT')
    ), trusted (oid) AS ({trusted_roles("$3::text[]", f"{SERVERS_OWN} OR r.rolname = $2")}
    ), covered AS MATERIALIZED (
        SELECT c.oid, n.nspname::text AS schema, c.relname::text AS name,
               pg_catalog.has_table_privilege((SELECT oid FROM asking), c.oid, 'SELECT') AS whole
        {VISIBLE_RELATIONS}
          AND pg_catalog.has_schema_privilege((SELECT oid FROM asking), n.oid, 'USAGE')
          AND c.relowner IN (SELECT oid FROM trusted) AND n.nspowner IN (SELECT oid FROM trusted)
    )
    SELECT covered.schema, covered.name, a.attname::text
    FROM covered
    JOIN pg_catalog.pg_attribute a ON a.attrelid = covered.oid
    WHERE a.attnum > 0 AND NOT a.attisdropped
      AND CASE WHEN covered.whole THEN true ELSE
              pg_catalog.has_column_privilege((SELECT oid FROM asking), covered.oid, a.attnum, 'SELECT') END
"""  # noqa: S608  only constants are put in

_UNTRUSTED_OWNERS = f"""
    WITH trusted (oid) AS ({trusted_roles("$2::text[]", SERVERS_OWN)})
    SELECT DISTINCT pg_catalog.pg_get_userbyid(owner.oid)::text
    FROM (SELECT c.relowner, n.nspowner {VISIBLE_RELATIONS}) AS found,
         LATERAL (VALUES (found.relowner), (found.nspowner)) AS owner (oid)
    WHERE owner.oid NOT IN (SELECT oid FROM trusted)
    ORDER BY 1
"""  # noqa: S608  only constants are put in


async def readable_columns(
    connection: Connection, role: str, trusted_owners: Sequence[str] = ()
) -> ReadableColumns:
    """The (schema, table, column) triples of the connected database that `role` may SELECT and trust.

    What belongs to somebody else than superusers, the database's owner, `trusted_owners` and the role itself is
    left out: reading it runs code of its owner's, who may change it at any time, with the rights of `role`. Empty
    where the role does not exist or may not connect to the database. Raises asyncpg's errors.
    """
    rows = await connection.fetch(_READABLE, [], role, list(trusted_owners))
    return frozenset((row[0], row[1], row[2]) for row in rows)


async def untrusted_owners(
    connection: Connection, schemas: Sequence[str], trusted_owners: Sequence[str] = ()
) -> tuple[str, ...]:
    """The roles whose tables and schemas `readable_columns` leaves out for every other role; sorted.

    `schemas`: only these, none for all. Raises asyncpg's errors.
    """
    rows = await connection.fetch(_UNTRUSTED_OWNERS, list(schemas), list(trusted_owners))
    return tuple(row[0] for row in rows)


_UNBOUND = """
    SELECT r.rolname::text, CASE WHEN r.rolsuper THEN 'is a superuser' WHEN r.rolbypassrls THEN 'passes by row security'
        ELSE 'is a member of ' || g.rolname END
    FROM pg_catalog.pg_roles r
    LEFT JOIN pg_catalog.pg_roles g ON g.rolname = ANY (ARRAY['pg_read_all_data', 'pg_write_all_data',
        'pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program'])
        AND pg_catalog.pg_has_role(r.oid, g.oid, 'MEMBER')
    WHERE r.rolname = $1 AND (r.rolsuper OR r.rolbypassrls OR g.oid IS NOT NULL)
    ORDER BY g.rolname LIMIT 1
"""


async def unbound(connection: Connection, role: str) -> str | None:
    """Why no grant bounds what `role` may read, as a clause about it; None where grants do. Raises asyncpg's errors."""
    row = await connection.fetchrow(_UNBOUND, role)
    return None if row is None else str(row[1])


_UNTRUSTED_EXTENSIONS = with_trusted_roles(
    """WITH trusted (oid) AS (:trusted_roles), :trust_chain
    SELECT e.extname::text, p.problem FROM pg_catalog.pg_extension e JOIN extension_problem p ON p.oid = e.oid
    WHERE p.problem IS NOT NULL AND e.extname = ANY ($2::text[]) ORDER BY 1""",
    "$1::text[]",
)


async def untrusted_extensions(
    connection: Connection, trusted_owners: Sequence[str], names: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    """(extension, why) of those of `names` that count as not there for questions. Raises asyncpg's errors."""
    rows = await connection.fetch(_UNTRUSTED_EXTENSIONS, list(trusted_owners), list(names))
    return tuple((row[0], row[1]) for row in rows)


async def row_secured_tables(connection: Connection) -> frozenset[TableKey]:
    """(schema, table) of the tables with row-level security (docs 5.9), with any policies.

    Raises asyncpg's errors.
    """
    rows = await connection.fetch(
        "SELECT n.nspname::text, c.relname::text FROM pg_catalog.pg_class c"
        " JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relrowsecurity"
    )
    return frozenset((row[0], row[1]) for row in rows)
