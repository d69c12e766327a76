"""What identifies databases, tables and columns beyond their names, and whether a schema has changed.

Owns the queries for it. Two clusters may have databases, and roles, of the same names; a physical copy of a cluster (a
standby, a restored base backup) has the identity of its original. An OID and a column's number stay when a table or
column is renamed or moved to another schema (PostgreSQL docs 52.7, 52.11); in another cluster or a restored dump they
mean nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import asyncpg

from schema_catalog.introspect import VISIBLE_RELATIONS
from schema_catalog.pg import CATALOG_PATH, Connection

# Everything is named with its schema, so that it means the same in anybody's session. Every role may read it unless
# a DBA revoked that (docs 9.28, control data functions).
IDENTITY_QUERY = """
    SELECT pg_catalog.concat(c.system_identifier, '/', d.oid)
    FROM pg_catalog.pg_control_system() AS c, pg_catalog.pg_database AS d
    WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
"""
"""One row of one text, such as `7423561190340012345/16384`: the cluster's system identifier and the database's OID.

Raises 42501 where the role may not call `pg_control_system()`, which ends a transaction that is open.
"""


async def read_identity(connection: Connection) -> str | None:
    """The result of `IDENTITY_QUERY` outside of a transaction; None where the server refuses."""
    try:
        identity: str = await connection.fetchval(IDENTITY_QUERY)
    except asyncpg.PostgresError:
        return None
    return identity


Element = tuple[str, ...]
"""(schema, table) or (schema, table, column)."""


@dataclass(frozen=True, slots=True, order=True)
class Number:
    """`relation`: the OID of the table; `attnum`: the column's number, 0 for the table itself."""

    relation: int
    attnum: int


Numbers = dict[Element, Number]

_NUMBERS = f"""
    SELECT c.oid::bigint AS relation, 0 AS attnum, n.nspname::text AS schema, c.relname::text AS name,
           NULL::text AS part
    {VISIBLE_RELATIONS}
    UNION ALL
    SELECT v.oid, a.attnum, v.nspname, v.relname, a.attname::text
    FROM (SELECT c.oid::bigint, c.oid AS relid, n.nspname::text, c.relname::text {VISIBLE_RELATIONS}) AS v
    JOIN pg_catalog.pg_attribute a ON a.attrelid = v.relid
    WHERE a.attnum > 0 AND NOT a.attisdropped
"""  # noqa: S608  only the constant above is put in

# Row estimates are left out, as in a snapshot's fingerprint. One row of 32 characters comes back.
_DIGEST = f"""
    WITH covered AS MATERIALIZED (SELECT c.oid, n.nspname, c.relname, c.relkind {VISIBLE_RELATIONS}),
    line (kind, one, two, body) AS (
        SELECT 1, v.oid, 0, concat_ws('/', v.nspname, v.relname, v.relkind,
                                  pg_catalog.obj_description(v.oid, 'pg_class'))
        FROM covered v
        UNION ALL
        SELECT 2, a.attrelid, a.attnum::int,
               concat_ws('/', a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attnotnull,
                         pg_catalog.col_description(a.attrelid, a.attnum))
        FROM pg_catalog.pg_attribute a
        WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attrelid IN (SELECT oid FROM covered)
        UNION ALL
        SELECT 3, i.indexrelid, 0,
               concat_ws('/', i.indrelid, i.indkey, i.indnkeyatts, i.indisprimary, i.indisvalid, i.indimmediate,
                         i.indpred IS NULL, i.indexprs IS NULL)
        FROM pg_catalog.pg_index i WHERE i.indisunique AND i.indrelid IN (SELECT oid FROM covered)
        UNION ALL
        SELECT 4, k.oid, 0,
               concat_ws('/', k.conrelid, k.conkey, k.confrelid, k.confkey, k.convalidated, k.condeferrable)
        FROM pg_catalog.pg_constraint k
        WHERE k.contype = 'f' AND k.conparentid = 0 AND k.conrelid IN (SELECT oid FROM covered)
        UNION ALL
        SELECT 5, k.oid, 0, concat_ws('/', k.conrelid, pg_catalog.pg_get_constraintdef(k.oid))
        FROM pg_catalog.pg_constraint k
        WHERE k.contype = 'c' AND k.conrelid IN (SELECT oid FROM covered)
    )
    SELECT pg_catalog.md5(coalesce(pg_catalog.string_agg(pg_catalog.md5(l.body), '' ORDER BY l.kind, l.one, l.two), ''))
    FROM line l
"""  # noqa: S608  only the constant above is put in


async def read_numbers(connection: Connection, schemas: tuple[str, ...]) -> Numbers:
    """Of all tables and columns that the catalog covers; the search path is `CATALOG_PATH`. Raises asyncpg's errors."""
    return {
        (row["schema"], row["name"], *filter(None, [row["part"]])): Number(row["relation"], row["attnum"])
        for row in await connection.fetch(_NUMBERS, list(schemas))
    }


async def schema_digest(connection: Connection, schemas: tuple[str, ...]) -> str:
    """32 hex digits that change with the schema that a snapshot would hold; raises asyncpg's errors."""
    async with connection.transaction(readonly=True):
        await connection.execute(f"SET LOCAL search_path = {CATALOG_PATH}")
        digest: str = await connection.fetchval(_DIGEST, list(schemas))
    return digest
