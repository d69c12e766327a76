"""The frame in which a statement runs: a transaction that can only read, with our settings, and names that are fixed.

Owns the steps before a statement is planned: setting the search path, writing out the schemas of its relations,
locking them, and refusing code of owners who are not trusted. See docs/security.md, "The frame".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files

import asyncpg

from engine.core.deadline import Deadline
from engine.errors import UnsafeSQLError
from engine.guard import Analysis, Rules
from engine.settings import UpstreamSettings
from engine.upstream.access import Access
from engine.upstream.meter import MeteredConnection
from engine.upstream.qualify import Qualified, bare_names, qualified
from engine.upstream.ttl_cache import TTLCache
from schema_catalog.naming import quote_ident
from schema_catalog.trust import SERVERS_OWN, with_trusted_roles
from schema_catalog.types import Database

_SETTINGS = {
    # Unqualified names find PostgreSQL's own functions, operators and types alone (docs 5.10.6).
    "search_path": "pg_catalog, pg_temp",
    # The guard's parser reads backslashes so; a server that read them otherwise would see another statement.
    "standard_conforming_strings": "on",
    "row_security": "on",
    # `x = NULL` is NULL, as in the standard, despite a role's setting.
    "transform_null_equals": "off",
    "datestyle": "ISO",
    "intervalstyle": "postgres",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "client_min_messages": "error",
}
"""Settings that change a statement's meaning or the text of its values; the time zone stays the server's."""

_OIDS = (
    "SELECT pg_catalog.to_regclass(name)::pg_catalog.oid::int8"
    " FROM pg_catalog.json_array_elements_text($1::json) AS name"
)

_CHECKS_CONNECTIONS = 14
"""The version from which a server can notice during a statement that its client is gone (docs 19.3.2)."""

_SLACK = 10.0
"""Seconds beyond the statement timeout after which a server ends a transaction that the engine left idle."""

_TRUSTED_TOO = f"{SERVERS_OWN} OR r.rolname = session_user"


def _query(name: str) -> str:
    return files("engine").joinpath("upstream", "sql", name).read_text("utf-8")


def _names(parameter: str) -> str:
    """A JSON list as SQL's array of text: of a parameter that is an array, the driver would first ask for the type."""
    return f"ARRAY(SELECT pg_catalog.json_array_elements_text({parameter}::json))"


@dataclass(frozen=True, slots=True)
class Fixed:
    """A statement with unambiguous names. `path`: the schemas that are searched beside pg_catalog."""

    statement: Qualified
    path: tuple[str, ...]


_NamesKey = tuple[Database, str, tuple[str, ...]]
"""Database, role, bare names of relations."""

_VerdictKey = tuple[Database, str, tuple[int, ...], tuple[str, ...], tuple[str, ...]]
"""Database, role, OIDs of the relations, names of types, schemas of what a DBA allowed."""


class Frame:
    """Begins the transactions of askers."""

    def __init__(self, settings: UpstreamSettings, clock: Callable[[], float]) -> None:
        self._settings = settings
        self._trusted = json.dumps(settings.trusted_owners)
        self._resolve = _query("resolve.sql")
        self._type_schemas = _query("type_schemas.sql")
        self._untrusted_owner = with_trusted_roles(_query("untrusted_owner.sql"), _names("$3"), _TRUSTED_TOO)
        self._unsafe_schema = with_trusted_roles(_query("unsafe_schema.sql"), _names("$1"), _TRUSTED_TOO)
        self._schemas = TTLCache[_NamesKey, Mapping[str, str]](settings.privileges_ttl, clock)
        self._verdicts = TTLCache[_VerdictKey, tuple[str, ...]](settings.privileges_ttl, clock)

    async def open(
        self, connection: MeteredConnection, deadline: Deadline, *, version: int, lent: bool
    ) -> None:
        """Begins a read-only transaction with our settings, on a server of major `version`; raises asyncpg's errors.

        A `lent` session is in a transaction already, which the gateway watches.
        """
        milliseconds = max(1, int(min(self._settings.statement_timeout, deadline.remaining()) * 1000))
        settings = {
            **_SETTINGS,
            "statement_timeout": str(milliseconds),
            "lock_timeout": str(int(self._settings.lock_timeout * 1000)),
        }
        if version >= _CHECKS_CONNECTIONS:
            settings["client_connection_check_interval"] = "1000"
        if not lent:
            idle = milliseconds + int(_SLACK * 1000)
            settings["idle_in_transaction_session_timeout"] = str(idle)
        local = "".join(f"SET LOCAL {name} = {value}; " for name, value in settings.items())
        await connection.execute(local if lent else f"BEGIN READ ONLY; {local}")

    async def fixed(
        self, connection: MeteredConnection, analysis: Analysis, access: Access, rules: Rules
    ) -> Fixed:
        """The statement with its relations' schemas, once it is known that no code but trusted would run.

        `rules`: the guard's for this server. Raises `UnsafeSQLError` where other code would run, and the driver's
        exceptions.
        """
        key = (access.database, access.role, bare_names(analysis))
        statement = qualified(analysis, await self._schemas_of(connection, key), rules)
        try:
            path = await self._checked(connection, statement, access)
        except asyncpg.UndefinedTableError:
            # It was there when it was last looked up; the next statement looks again.
            self._schemas.forget(key)
            raise
        if path:
            searched = ", ".join(["pg_catalog", *map(quote_ident, path), "pg_temp"])
            await connection.execute(f"SET LOCAL search_path = {searched}")
        return Fixed(statement, path)

    async def _schemas_of(self, connection: MeteredConnection, key: _NamesKey) -> Mapping[str, str]:
        """Relation → the schema in which the search path finds it, at most `privileges_ttl` seconds old."""
        database, _, names = key
        if not names:
            return {}

        async def ask() -> Mapping[str, str]:
            rows = await connection.fetch(self._resolve, json.dumps(names), json.dumps(database.search_path))
            return {row["name"]: row["schema"] for row in rows}

        schemas = await self._schemas.get(key, ask)
        if len(schemas) < len(names):
            self._schemas.forget(key)
        return schemas

    async def _checked(
        self, connection: MeteredConnection, statement: Qualified, access: Access
    ) -> tuple[str, ...]:
        """The schemas that have to be searched beside pg_catalog; see `fixed`.

        A good verdict is cached for `privileges_ttl` by the locked relations: only a trusted owner could make it wrong.
        """
        oids: list[int] = []
        if statement.relations:
            # Parsing locks them until the transaction's end, and runs nothing: from here on the names stay theirs.
            await connection.prepare(f"SELECT FROM {', '.join(statement.relations)}")
            rows = await connection.fetch(_OIDS, json.dumps(statement.relations))
            oids = [row[0] for row in rows]
        elif not (statement.types or statement.allowed_schemas):
            return ()

        async def ask() -> tuple[str, ...]:
            await self._refuse_untrusted(connection, statement)
            return await self._searched(connection, statement)

        key = (access.database, access.role, tuple(oids), statement.types, statement.allowed_schemas)
        return await self._verdicts.get(key, ask)

    async def _refuse_untrusted(self, connection: MeteredConnection, statement: Qualified) -> None:
        found = await connection.fetchrow(
            self._untrusted_owner,
            json.dumps(statement.relations),
            json.dumps(statement.types),
            self._trusted,
        )
        if found is not None:
            owner = found["owner"]
            raise UnsafeSQLError(
                f'reading that could run code of role "{owner}"',
                detail=f'{found["object"]} belongs to role "{owner}", which is not trusted with your rights.',
                hint=f"The operator may add {quote_ident(owner)} to trusted_owners in [upstream].",
            )

    async def _searched(self, connection: MeteredConnection, statement: Qualified) -> tuple[str, ...]:
        """The schemas of types with operators of their own, and of what a DBA allowed; raises as `fixed`."""
        found = await connection.fetch(self._type_schemas, json.dumps(statement.relations))
        schemas = sorted({*(row[0] for row in found), *statement.allowed_schemas})
        if not schemas:
            return ()
        unsafe = await self.unsafe_schema(connection, schemas)
        if unsafe is not None:
            raise UnsafeSQLError(
                f'what the statement needs of schema "{unsafe}" cannot be called safely',
                detail=f'Others than trusted roles may create functions and operators in schema "{unsafe}".',
                hint=f"The DBA may REVOKE CREATE ON SCHEMA {quote_ident(unsafe)}, or move it to another schema.",
            )
        return tuple(schemas)

    async def unsafe_schema(self, connection: MeteredConnection, path: list[str]) -> str | None:
        """The first schema of `path` to which others than trusted owners can add functions; None: there is none."""
        name: str | None = await connection.fetchval(self._unsafe_schema, self._trusted, json.dumps(path))
        return name
