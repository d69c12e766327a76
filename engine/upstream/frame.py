"""The frame in which a statement runs: a transaction that can only read, with our settings, and names that are fixed.

Owns what has to stand before anything of the statement is planned: the search path, the names of its relations with
their schemas, locks on them, and the look at who owns what would run. See docs/security.md, "The frame".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.resources import files

import asyncpg

from engine.core.deadline import Deadline
from engine.errors import UnsafeSQLError
from engine.guard import Analysis, Rules
from engine.settings import UpstreamSettings
from engine.upstream.meter import MeteredConnection
from engine.upstream.qualify import Qualified, bare_names, qualified
from schema_catalog.naming import quote_ident
from schema_catalog.types import Database

_SETTINGS = {
    # What is not qualified finds PostgreSQL's own functions, operators and types alone (docs 5.10.6).
    "search_path": "pg_catalog, pg_temp",
    # The guard's parser reads backslashes so; a server that read them otherwise would see another statement.
    "standard_conforming_strings": "on",
    "row_security": "on",
    # `x = NULL` means what the standard says, whatever a role has set.
    "transform_null_equals": "off",
    "datestyle": "ISO",
    "intervalstyle": "postgres",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "client_min_messages": "error",
    # A cursor's rows are all wanted.
    "cursor_tuple_fraction": "1",
}
"""What a statement's meaning and the text of its values depend on, apart from the server's time zone."""

_OIDS = (
    "SELECT pg_catalog.to_regclass(name)::pg_catalog.oid::int8"
    " FROM pg_catalog.json_array_elements_text($1::json) AS name"
)

_LOOKS_AFTER_CLIENTS = 14
"""The version from which a server can notice that its client has hung up, whatever code catches a cancellation."""

_SLACK = 10.0
"""Seconds beyond the statement's that a server waits for the engine's next word."""


def _query(name: str) -> str:
    return files("engine").joinpath("upstream", "sql", name).read_text("utf-8")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a statement runs: `role` is the session's own, `rules` are the guard's for this server."""

    database: Database
    role: str
    rules: Rules


_Key = tuple[Database, str, tuple[int, ...], tuple[str, ...]]
"""Of a verdict: database, role, OIDs of the relations, names of types and schemas."""


class Frame:
    """How transactions of askers begin."""

    def __init__(self, settings: UpstreamSettings, clock: Callable[[], float]) -> None:
        self._settings = settings
        self._clock = clock
        self._trusted = json.dumps(settings.trusted_owners)
        self._resolve = _query("resolve.sql")
        self._type_schemas = _query("type_schemas.sql")
        self._untrusted_owner = _query("untrusted_owner.sql")
        self._unsafe_schema = _query("unsafe_schema.sql")
        self._found: dict[tuple[Database, str, tuple[str, ...]], tuple[float, Mapping[str, str]]] = {}
        self._verdicts: dict[_Key, tuple[float, tuple[str, ...]]] = {}

    async def open(
        self, connection: MeteredConnection, deadline: Deadline, *, version: int, lent: bool
    ) -> None:
        """Makes the settings, for a server of major `version`.

        A session that is `lent` is in a transaction already, which the gateway watches.
        """
        milliseconds = max(1, int(min(self._settings.statement_timeout, deadline.remaining()) * 1000))
        settings = {
            **_SETTINGS,
            "statement_timeout": str(milliseconds),
            "lock_timeout": str(int(self._settings.lock_timeout * 1000)),
        }
        if version >= _LOOKS_AFTER_CLIENTS:
            settings["client_connection_check_interval"] = "1000"
        if not lent:
            idle = milliseconds + int(_SLACK * 1000)
            settings["idle_in_transaction_session_timeout"] = str(idle)
        local = "".join(f"SET LOCAL {name} = {value}; " for name, value in settings.items())
        await connection.execute(local if lent else f"BEGIN READ ONLY; {local}")

    async def fixed(self, connection: MeteredConnection, analysis: Analysis, place: Place) -> Qualified:
        """The statement with its relations' schemas, once it is known that no code but trusted would run.

        Raises `UnsafeSQLError` where it would, and the driver's exceptions.
        """
        names = bare_names(analysis)
        statement = qualified(analysis, await self._schemas(connection, names, place), place.rules)
        try:
            schemas = await self._checked(connection, statement, place)
        except asyncpg.UndefinedTableError:
            # It was there when it was last looked up; the next statement looks again.
            self._found.pop((place.database, place.role, names), None)
            raise
        if schemas:
            path = ", ".join(["pg_catalog", *map(quote_ident, schemas), "pg_temp"])
            await connection.execute(f"SET LOCAL search_path = {path}")
        return replace(statement, schemas=schemas)

    async def _schemas(
        self, connection: MeteredConnection, names: tuple[str, ...], place: Place
    ) -> Mapping[str, str]:
        """Relation → the schema in which the search path finds it, at most `privileges_ttl` seconds old."""
        if not names:
            return {}
        key, now = (place.database, place.role, names), self._clock()
        found = self._found.get(key)
        if found is not None and found[0] > now:
            return found[1]
        rows = await connection.fetch(
            self._resolve, json.dumps(names), json.dumps(place.database.search_path)
        )
        schemas: dict[str, str] = {row["name"]: row["schema"] for row in rows}
        self._found = {key: value for key, value in self._found.items() if value[0] > now}
        if len(schemas) == len(names):
            self._found[key] = (now + self._settings.privileges_ttl, schemas)
        return schemas

    async def _checked(
        self, connection: MeteredConnection, statement: Qualified, place: Place
    ) -> tuple[str, ...]:
        """The schemas that have to be searched beside pg_catalog; see `fixed`.

        A good verdict is remembered for `privileges_ttl` by what was locked: only a trusted owner could make it wrong.
        """
        oids: list[int] = []
        if statement.relations:
            # Parsing locks them until the transaction's end, and runs nothing: from here on the names stay theirs.
            await connection.prepare(f"SELECT FROM {', '.join(statement.relations)}")
            rows = await connection.fetch(_OIDS, json.dumps(statement.relations))
            oids = [row[0] for row in rows]
        elif not (statement.types or statement.schemas):
            return ()
        key = (place.database, place.role, tuple(oids), (*statement.types, "", *statement.schemas))
        now = self._clock()
        found = self._verdicts.get(key)
        if found is not None and found[0] > now:
            return found[1]
        await self._refuse_untrusted(connection, statement)
        schemas = await self._searched(connection, statement)
        self._verdicts = {key: value for key, value in self._verdicts.items() if value[0] > now}
        self._verdicts[key] = (now + self._settings.privileges_ttl, schemas)
        return schemas

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
        schemas = sorted({*(row[0] for row in found), *statement.schemas})
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
