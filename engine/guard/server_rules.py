"""Reads the `Rules` of one database from its server.

Owns the two queries, and which functions can never be allowed. Each reads the catalogs once; the caller caches.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files

from asyncpg import Record

from engine.guard import allowed
from engine.guard.calls import BOUNDED
from engine.values.guard_rules import Dropped, QualifiedName, Rules
from engine.values.settings import Allowances
from schema_catalog.pg import Connection
from schema_catalog.privileges import with_trusted_roles

NEVER_ALLOWED = (
    "^(dblink|crosstab|connectby|xpath_table|query_to_|cursor_to_|table_to_|schema_to_|database_to_|ts_stat|ts_rewrite|"
    "pg_read_|pg_ls_|pg_stat_file|lo_|set_config|current_setting|addgeometry|updategeometry|dropgeometry|"
    "populate_geometry|find_srid|st_findextent|st_find_extent|st_estimatedextent|st_estimated_extent|postgis_)"
)
"""Functions that run a text as SQL, or read files, settings, statistics or the catalogs: never allowed."""

_QUERIES = files("engine").joinpath("guard")


async def rules_for(
    connection: Connection, allowances: Allowances, trusted_owners: Sequence[str] = ()
) -> Rules:
    """The rules of the connected database; raises asyncpg's errors.

    `trusted_owners`: roles whose types and functions are safe, besides superusers and the database's owner.
    """
    owners, extensions = list(trusted_owners), list(allowances.extensions)
    names = await connection.fetch(
        with_trusted_roles(_QUERIES.joinpath("guard_names.sql").read_text("utf-8"), "$4::text[]"),
        list(allowances.functions),
        list(allowances.operators),
        extensions,
        owners,
        sorted(allowed.FUNCTIONS - BOUNDED),
        sorted(allowed.TYPES),
        NEVER_ALLOWED,
    )
    types = await connection.fetch(
        with_trusted_roles(_QUERIES.joinpath("guard_types.sql").read_text("utf-8"), "$3::text[]"),
        list(allowances.types),
        extensions,
        owners,
        sorted(allowed.TYPES),
    )
    return _rules(names, types, allowances)


def _rules(names: Sequence[Record], types: Sequence[Record], allowances: Allowances) -> Rules:
    def of(kind: str) -> frozenset[QualifiedName]:
        return frozenset(
            (row["schema"], row["name"]) for row in names if row["kind"] == kind and row["problem"] is None
        )

    safe_types = _safe(types)
    functions, operators, relations = of("function"), of("operator"), of("relation")
    bare = {name for _, name in safe_types}
    ambiguous = (
        _others(of("other function"), functions)
        | _others(of("other operator"), operators)
        | _others(of("other relation"), relations)
        | {row["name"] for row in types if (row["schema"], row["name"]) not in safe_types or row["built_in"]}
    )
    # A type's name before a dot is a cast to it: as safe as the type, where nothing else bears that name.
    fields = {name for _, name in of("field")} | ({name for _, name in of("type field")} - (bare - ambiguous))
    return Rules(
        version=int(_one(names, "version")) // 10_000,
        database=_one(names, "database"),
        functions=functions,
        operators=operators,
        types=safe_types,
        relations=relations,
        ambiguous=frozenset(ambiguous),
        callable_fields=frozenset(fields),
        dropped=tuple(_dropped(names, types, safe_types, allowances)),
    )


def _others(others: Iterable[QualifiedName], confirmed: frozenset[QualifiedName]) -> set[str]:
    return {name for schema, name in others if (schema, name) not in confirmed}


def _one(names: Sequence[Record], kind: str) -> str:
    return next(str(row["name"]) for row in names if row["kind"] == kind)


def _safe(types: Sequence[Record]) -> frozenset[QualifiedName]:
    """The wanted types without a problem in themselves or in the types they consist of."""
    trusted = {row["oid"]: row for row in types if row["problem"] is None}
    while True:
        broken = [oid for oid, row in trusted.items() if not trusted.keys() >= set(row["parts"])]
        if not broken:
            return frozenset((row["schema"], row["name"]) for row in trusted.values() if row["wanted"])
        for oid in broken:
            del trusted[oid]


def _dropped(
    names: Sequence[Record],
    types: Sequence[Record],
    safe: frozenset[QualifiedName],
    allowances: Allowances,
) -> Iterable[Dropped]:
    """Names that the settings allow in vain; of types, those allowed by name."""
    problems = {
        (row["kind"], f"{row['schema']}.{row['name']}"): row["problem"]
        for row in names
        if row["kind"] in {"function", "operator"}
    }
    for (_, name), why in sorted(problems.items()):
        if why is not None:
            yield Dropped(name, why)
    missing = [("function", name) for name in allowances.functions]
    missing += [("operator", name) for name in allowances.operators]
    for kind, name in missing:
        if (kind, name) not in problems:
            yield Dropped(name, f"this database has no such {kind}")
    known = {f"{row['schema']}.{row['name']}": row["problem"] for row in types}
    for name in allowances.types:
        if name not in known:
            yield Dropped(name, "this database has no such type")
        elif tuple(name.split(".", 1)) not in safe:
            yield Dropped(name, known[name] or "it holds a type that is not safe")
    for row in types:
        name = f"{row['schema']}.{row['name']}"
        if row["wanted"] and row["around"] and name not in allowances.types:
            yield Dropped(name, row["problem"])
