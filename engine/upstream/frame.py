"""The frame in which a statement runs: a transaction that can only read, with our settings, and names that are fixed.

Owns what has to stand before anything of the statement is planned: the search path, the names of its relations with
their schemas, locks on them, and the look at who owns what would run. See docs/security.md, "The frame".
"""

from __future__ import annotations

from importlib.resources import files

from engine.errors import UnsafeSQLError
from engine.guard import Analysis, Rules
from engine.settings import UpstreamSettings
from engine.state import Deadline
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
    "datestyle": "ISO",
    "intervalstyle": "postgres",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "client_min_messages": "error",
    # A cursor's rows are all wanted.
    "cursor_tuple_fraction": "1",
}
"""What a statement's meaning and the text of its values depend on, apart from the server's time zone."""

_SLACK = 10.0
"""Seconds beyond the statement's that a server waits for the engine's next word."""


def _query(name: str) -> str:
    return files("engine").joinpath("upstream", "sql", name).read_text("utf-8")


class Frame:
    """How transactions of askers begin."""

    def __init__(self, settings: UpstreamSettings) -> None:
        self._settings = settings
        self._trusted = list(settings.trusted_owners)
        self._resolve = _query("resolve.sql")
        self._type_schemas = _query("type_schemas.sql")
        self._untrusted_owner = _query("untrusted_owner.sql")
        self._unsafe_schema = _query("unsafe_schema.sql")

    async def open(self, connection: MeteredConnection, deadline: Deadline, *, lent: bool) -> None:
        """Makes the settings. A session that is `lent` is in a transaction already, which the gateway watches."""
        milliseconds = max(1, int(min(self._settings.statement_timeout, deadline.remaining()) * 1000))
        settings = {
            **_SETTINGS,
            "statement_timeout": str(milliseconds),
            "lock_timeout": str(int(self._settings.lock_timeout * 1000)),
        }
        if not lent:
            idle = milliseconds + int(_SLACK * 1000)
            settings["idle_in_transaction_session_timeout"] = str(idle)
        local = "".join(f"SET LOCAL {name} = {value}; " for name, value in settings.items())
        await connection.execute(local if lent else f"BEGIN READ ONLY; {local}")

    async def fixed(
        self, connection: MeteredConnection, analysis: Analysis, database: Database, rules: Rules
    ) -> Qualified:
        """The statement with its relations' schemas, once it is known that no code but trusted would run.

        Raises `UnsafeSQLError` where it would, and the driver's exceptions.
        """
        names = bare_names(analysis)
        rows = await connection.fetch(self._resolve, names, list(database.search_path)) if names else []
        statement = qualified(analysis, {row["name"]: row["schema"] for row in rows}, rules)
        if statement.relations:
            # Parsing locks them until the transaction's end, and runs nothing: from here on the names stay theirs.
            await connection.prepare(f"SELECT FROM {', '.join(statement.relations)}")
        await self._refuse_untrusted(connection, statement)
        await self._widen(connection, statement)
        return statement

    async def _widen(self, connection: MeteredConnection, statement: Qualified) -> None:
        """Puts the schemas of types with operators of their own, and of what a DBA allowed, on the search path."""
        found = await self._schemas_of_types(connection, statement)
        schemas = sorted({*found, *statement.schemas})
        if not schemas:
            return
        unsafe = await self.unsafe_schema(connection, schemas)
        if unsafe is not None:
            raise UnsafeSQLError(
                f'what the statement needs of schema "{unsafe}" cannot be called safely',
                detail=f'Others than trusted roles may create functions and operators in schema "{unsafe}".',
                hint=f"The DBA may REVOKE CREATE ON SCHEMA {quote_ident(unsafe)}, or move it to another schema.",
            )
        path = ", ".join(["pg_catalog", *map(quote_ident, schemas), "pg_temp"])
        await connection.execute(f"SET LOCAL search_path = {path}")

    async def _refuse_untrusted(self, connection: MeteredConnection, statement: Qualified) -> None:
        if not statement.relations and not statement.types:
            return
        found = await connection.fetchrow(
            self._untrusted_owner, list(statement.relations), list(statement.types), self._trusted
        )
        if found is not None:
            owner = found["owner"]
            raise UnsafeSQLError(
                f'reading that could run code of role "{owner}"',
                detail=f'{found["object"]} belongs to role "{owner}", which is not trusted with your rights.',
                hint=f"The operator may add {quote_ident(owner)} to trusted_owners in [upstream].",
            )

    async def _schemas_of_types(self, connection: MeteredConnection, statement: Qualified) -> list[str]:
        if not statement.relations:
            return []
        found = await connection.fetch(self._type_schemas, list(statement.relations))
        return [row[0] for row in found]

    async def unsafe_schema(self, connection: MeteredConnection, path: list[str]) -> str | None:
        """The first schema of `path` to which others than trusted owners can add functions; None: there is none."""
        name: str | None = await connection.fetchval(self._unsafe_schema, self._trusted, path)
        return name
