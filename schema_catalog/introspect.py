"""Reads the schema of a live database out of `pg_catalog`.

Owns the four queries and how their rows become a `Snapshot`. Does not connect, store or decide who may see
what: the snapshot holds what exists (names and comments are readable by every role), `privileges` says what a
role may read of it. Works on PostgreSQL 13 and newer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import asyncpg

from schema_catalog.naming import quote_ident
from schema_catalog.pg import CATALOG_PATH, Connection
from schema_catalog.types import Check, Column, Database, ForeignKey, Snapshot, Table, TableKind

_KINDS = {
    "r": TableKind.TABLE,
    "p": TableKind.PARTITIONED,
    "v": TableKind.VIEW,
    "m": TableKind.MATERIALIZED_VIEW,
    "f": TableKind.FOREIGN,
}

VISIBLE_RELATIONS = """
    FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
      AND NOT c.relispartition
      AND n.nspname !~ '^pg_'
      AND n.nspname NOT IN ('information_schema', 'pgparley', 'nl_catalog')
      AND (cardinality($1::text[]) = 0 OR n.nspname = ANY ($1::text[]))
      AND NOT EXISTS (
          SELECT FROM pg_catalog.pg_depend d
          WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
"""
"""The relations that the catalog covers; `$1` holds the schemas to keep, none for all.

Schemas named pg_… are the server's (a reserved prefix). Partitions are read through their parent. What an
extension owns (PostGIS's spatial_ref_sys, pg_stat_statements) is not the user's data.
"""

# Before PostgreSQL 14 a table that was never analysed has reltuples 0, as an empty one has; -1 since then.
_RELATIONS = f"""
    SELECT c.oid::bigint, n.nspname::text, c.relname::text, c.relkind::text AS kind,
           pg_catalog.obj_description(c.oid, 'pg_class') AS description,
           CASE WHEN c.relkind = 'v' OR c.reltuples < 0 THEN NULL
                WHEN c.reltuples = 0 AND c.relpages = 0 AND $2 < 140000 THEN NULL
                ELSE c.reltuples::bigint END AS row_estimate
    {VISIBLE_RELATIONS}
    ORDER BY n.nspname COLLATE "C", c.relname COLLATE "C"
"""

_COLUMNS = f"""
    SELECT a.attrelid::bigint, a.attnum, a.attname::text, a.attnotnull,
           pg_catalog.format_type(a.atttypid, a.atttypmod) AS type,
           pg_catalog.col_description(a.attrelid, a.attnum) AS description,
           ARRAY(SELECT e.enumlabel::text FROM pg_catalog.pg_enum e
                 WHERE e.enumtypid IN (t.oid, t.typbasetype) ORDER BY e.enumsortorder) AS labels,
           ARRAY(SELECT pg_catalog.concat_ws(' ', pg_catalog.quote_ident(f.attname),
                                             pg_catalog.format_type(f.atttypid, f.atttypmod))
                 FROM pg_catalog.pg_attribute f
                 WHERE t.typtype = 'c' AND f.attrelid = t.typrelid AND f.attnum > 0 AND NOT f.attisdropped
                 ORDER BY f.attnum) AS fields,
           CASE WHEN t.typtype = 'd' THEN pg_catalog.concat_ws(' ',
               pg_catalog.format_type(t.typbasetype, t.typtypmod),
               (SELECT pg_catalog.string_agg(pg_catalog.pg_get_constraintdef(k.oid), ' ' ORDER BY k.conname COLLATE "C")
                FROM pg_catalog.pg_constraint k WHERE k.contypid = t.oid AND k.contype = 'c')) ELSE '' END AS domain
    FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
    WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attrelid IN (SELECT c.oid {VISIBLE_RELATIONS})
    ORDER BY a.attrelid, a.attnum
"""  # noqa: S608  only the constant above is put in

# A check that reads no column, or all of them as a row, names none that could be hidden: it is left out.
_CHECKS = f"""
    SELECT k.conrelid::bigint AS oid, k.conkey AS attnums, pg_catalog.pg_get_constraintdef(k.oid) AS sql
    FROM pg_catalog.pg_constraint k
    WHERE k.contype = 'c' AND k.conrelid IN (SELECT c.oid {VISIBLE_RELATIONS})
      AND pg_catalog.cardinality(k.conkey) > 0 AND NOT 0 OPERATOR(pg_catalog.=) ANY (k.conkey)
    ORDER BY k.conrelid, k.conname COLLATE "C"
"""  # noqa: S608  only the constant above is put in

# Unique indexes cover constraints too; a partial, deferred or expression index promises less than a key does.
_KEYS = f"""
    WITH covered AS MATERIALIZED (SELECT c.oid {VISIBLE_RELATIONS})
    SELECT i.indrelid::bigint AS oid, CASE WHEN i.indisprimary THEN 'p' ELSE 'u' END AS kind,
           (i.indkey::int2[])[0:i.indnkeyatts - 1] AS attnums,
           NULL::bigint AS ref_oid, NULL::int2[] AS ref_attnums, NULL::boolean AS enforced
    FROM pg_catalog.pg_index i
    WHERE i.indrelid IN (SELECT oid FROM covered)
      AND i.indisunique AND i.indisvalid AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL
    UNION ALL
    SELECT k.conrelid::bigint, 'f', k.conkey, k.confrelid::bigint, k.confkey,
           k.convalidated AND NOT k.condeferrable
    FROM pg_catalog.pg_constraint k
    WHERE k.contype = 'f' AND k.conparentid = 0 AND k.conrelid IN (SELECT oid FROM covered)
    ORDER BY 1, 2, 3, 4, 5
"""  # noqa: S608  only the constant above is put in


async def introspect(connection: Connection, database: Database) -> Snapshot:
    """The schema of the connected database as of one moment.

    Covers `database.schemas`, or every schema of the user's where that is empty. Types are written as
    `format_type` writes them, without the schemas of `database.search_path`. Raises asyncpg's errors.
    """
    schemas = list(database.schemas)
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        # Whoever may create in a schema of the path could define an operator that these queries would call.
        await connection.execute(f"SET LOCAL search_path = {CATALOG_PATH}")
        version = int(await connection.fetchval("SELECT pg_catalog.current_setting('server_version_num')"))
        relations = await connection.fetch(_RELATIONS, schemas, version)
        columns = await connection.fetch(_COLUMNS, schemas)
        keys = await connection.fetch(_KEYS, schemas)
        checks = await connection.fetch(_CHECKS, schemas)
    tables = _tables(relations, columns, keys, checks, database.search_path)
    return Snapshot(database.name, database.search_path, tables)


def _tables(
    relations: Iterable[asyncpg.Record],
    columns: Iterable[asyncpg.Record],
    keys: Iterable[asyncpg.Record],
    checks: Iterable[asyncpg.Record],
    search_path: tuple[str, ...],
) -> tuple[Table, ...]:
    relations = list(relations)
    found = tuple(f"{quote_ident(schema)}." for schema in search_path)
    known = {row["oid"]: (row["nspname"], row["relname"]) for row in relations}
    names: dict[int, dict[int, str]] = defaultdict(dict)
    described: dict[int, list[Column]] = defaultdict(list)
    for row in columns:
        names[row["attrelid"]][row["attnum"]] = row["attname"]
        described[row["attrelid"]].append(
            Column(
                row["attname"],
                _bare(row["type"], found),
                not row["attnotnull"],
                row["description"] or None,
                labels=tuple(row["labels"]),
                fields=tuple(row["fields"]),
                domain=_bare(row["domain"], found),
            )
        )
    checked: dict[int, list[Check]] = defaultdict(list)
    for row in checks:
        checked[row["oid"]].append(Check(_named(names[row["oid"]], row["attnums"]), row["sql"]))
    primary: dict[int, tuple[str, ...]] = {}
    unique: dict[int, list[tuple[str, ...]]] = defaultdict(list)
    foreign: dict[int, list[ForeignKey]] = defaultdict(list)
    for row in keys:
        own = _named(names[row["oid"]], row["attnums"])
        if row["kind"] == "p":
            primary[row["oid"]] = own
        elif row["kind"] == "u":
            unique[row["oid"]].append(own)
        elif row["ref_oid"] in known:
            refers = _named(names[row["ref_oid"]], row["ref_attnums"])
            foreign[row["oid"]].append(ForeignKey(own, *known[row["ref_oid"]], refers, row["enforced"]))
    return tuple(
        Table(
            schema=row["nspname"],
            name=row["relname"],
            kind=_KINDS[row["kind"]],
            columns=tuple(described[row["oid"]]),
            primary_key=primary.get(row["oid"], ()),
            unique_keys=tuple(dict.fromkeys(unique[row["oid"]])),
            foreign_keys=tuple(foreign[row["oid"]]),
            checks=tuple(checked[row["oid"]]),
            description=row["description"] or None,
            row_estimate=row["row_estimate"],
        )
        for row in relations
    )


def _bare(type_: str, prefixes: tuple[str, ...]) -> str:
    """A type's name as it is written where these schemas are searched."""
    prefix = next((prefix for prefix in prefixes if type_.startswith(prefix)), "")
    return type_.removeprefix(prefix)


def _named(names: dict[int, str], attnums: Iterable[int]) -> tuple[str, ...]:
    return tuple(names[number] for number in attnums)
