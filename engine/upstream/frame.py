"""The frame in which a statement runs: a transaction that can only read, with our settings, and names that are fixed.

Owns the steps before a statement is planned: our settings, locking the relations that it names, printing it anew, and
refusing code of owners who are not trusted. See docs/security.md, "The frame".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib.resources import files
from itertools import groupby
from operator import itemgetter

import asyncpg

from engine.core.deadline import Deadline
from engine.errors import UnsafeSQLError
from engine.guard import Analysis, Rules, allowed
from engine.guard.analyse import analyse
from engine.printing.names import (
    SYSTEM,
    Kind,
    Names,
    Overload,
    Relation,
    Type,
    Uses,
    bare_names,
    relation_names,
    uses,
)
from engine.printing.statement import Printed, PrintingError, printed
from engine.settings import UpstreamSettings
from engine.upstream.access import Access
from engine.upstream.meter import MeteredConnection
from engine.upstream.ttl_cache import TTLCache
from schema_catalog.naming import quote_ident
from schema_catalog.privileges import SERVERS_OWN, with_trusted_roles
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


_NamesKey = tuple[Database, str, tuple[str, ...]]
"""Database, role, bare names of relations."""

_VerdictKey = tuple[Database, str, tuple[int, ...], tuple[str, ...]]
"""Database, role, OIDs of the relations, names of types."""

_OverloadsKey = tuple[Database, str, tuple[str, ...], tuple[str, ...]]
"""Database, role, names of functions, names of operators."""


class Frame:
    """Begins the transactions of askers."""

    def __init__(self, settings: UpstreamSettings, clock: Callable[[], float]) -> None:
        self._settings = settings
        self._trusted = json.dumps(settings.trusted_owners)
        self._resolve = _query("resolve.sql")
        self._relations = _query("relations.sql")
        self._overloads = with_trusted_roles(_query("overloads.sql"), _names("$5"), _TRUSTED_TOO)
        self._untrusted_owner = with_trusted_roles(_query("untrusted_owner.sql"), _names("$3"), _TRUSTED_TOO)
        self._untrusted_code = with_trusted_roles(_query("untrusted_code.sql"), _names("$4"), _TRUSTED_TOO)
        self._schemas = TTLCache[_NamesKey, Mapping[str, str]](settings.privileges_ttl, clock)
        self._known_overloads = TTLCache[_OverloadsKey, tuple[Overload, ...]](settings.privileges_ttl, clock)
        self._verdicts = TTLCache[_VerdictKey, bool](settings.privileges_ttl, clock)

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

    async def printed(
        self, connection: MeteredConnection, analysis: Analysis, access: Access, rules: Rules
    ) -> Printed:
        """The statement to send, once it is known that no code but trusted would run.

        `rules`: the guard's for this server. Raises `UnsafeSQLError` where other code would run, or where the statement
        cannot be printed, and the driver's exceptions.
        """
        key = (access.database, access.role, bare_names(analysis))
        schemas = await self._schemas_of(connection, key)
        written = relation_names(analysis, schemas)
        try:
            oids, relations = await self._locked(connection, written)
        except asyncpg.UndefinedTableError:
            # It was there when it was last looked up; the next statement looks again.
            self._schemas.forget(key)
            raise
        used = uses(analysis, relations, rules)
        overloads = await self._overloads_of(connection, access, used, rules)
        types = {name: schema for schema, name in rules.types if name not in allowed.TYPES}
        try:
            statement = printed(analysis, Names(schemas, relations, types, overloads), rules)
        except PrintingError as problem:
            raise UnsafeSQLError(
                "the statement is refused",
                detail=f"It cannot run safely: {problem}.",
                hint="Write it in another way.",
            ) from problem
        if written or statement.types:
            await self._verdicts.get(
                (access.database, access.role, oids, statement.types),
                lambda: self._trusted_alone(connection, written, statement.types),
            )
        if used.own or statement.types:
            await self._code_trusted(connection, statement)
        return statement

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

    async def _locked(
        self, connection: MeteredConnection, written: tuple[str, ...]
    ) -> tuple[tuple[int, ...], tuple[Relation, ...]]:
        """The OIDs and columns of relations, whose names stay theirs until the transaction's end."""
        if not written:
            return (), ()
        # Parsing locks them, and runs nothing.
        await connection.prepare(f"SELECT FROM {', '.join(written)}")
        rows = await connection.fetch(self._relations, json.dumps(written))
        found: dict[int, Relation] = {}
        for oid, group in groupby(rows, key=itemgetter("oid")):
            listed = list(group)
            columns = tuple(
                (row["column"], Type(row["type_schema"], row["type"], row["of_array"], row["own"]))
                for row in listed
                if row["column"] is not None
            )
            found[oid] = Relation(listed[0]["schema"], listed[0]["relation"], columns)
        return tuple(found), tuple(found.values())

    async def _overloads_of(
        self, connection: MeteredConnection, access: Access, used: Uses, rules: Rules
    ) -> tuple[Overload, ...]:
        """What the names of functions and operators can mean beside PostgreSQL's own; see `overloads.sql`."""
        if not used.own:
            return ()
        allowances = [json.dumps(sorted(each)) for each in (rules.functions, rules.operators)]

        async def ask() -> tuple[Overload, ...]:
            names = (json.dumps(used.functions), json.dumps(used.operators))
            rows = await connection.fetch(self._overloads, *names, *allowances, self._trusted)
            return tuple(map(_overload, rows))

        # The asker's own are trusted: what is remembered of them is for nobody else.
        key = (access.database, access.role, used.functions, used.operators)
        return await self._known_overloads.get(key, ask)

    async def _trusted_alone(
        self, connection: MeteredConnection, relations: tuple[str, ...], types: tuple[str, ...]
    ) -> bool:
        """True; raises `UnsafeSQLError` where they may run code of an owner who is not trusted."""
        found = await connection.fetchrow(
            self._untrusted_owner, json.dumps(relations), json.dumps(types), self._trusted
        )
        if found is not None:
            owner = found["owner"]
            raise UnsafeSQLError(
                f'reading that could run code of role "{owner}"',
                detail=f'{found["object"]} belongs to role "{owner}", which is not trusted with your rights.',
                hint=f"The operator may add {quote_ident(owner)} to trusted_owners in [upstream].",
            )
        return True

    async def _code_trusted(self, connection: MeteredConnection, statement: Printed) -> None:
        """Raises `UnsafeSQLError` where a name outside of pg_catalog means, now, what is not trusted.

        Never remembered: an extension can be dropped, and another's function be put in its place, at any moment.
        """
        sent = analyse(statement.text)
        names = [
            json.dumps([name for name in dict.fromkeys(each) if len(name) > 1 and name[0] != SYSTEM])
            for each in (sent.functions, sent.operators)
        ]
        types = json.dumps(statement.types)
        found = await connection.fetchrow(self._untrusted_code, *names, types, self._trusted)
        if found is not None:
            raise UnsafeSQLError(
                "the statement could run code that is not trusted",
                detail=f"Of {found['object']}: {found['problem']}.",
                hint="The operator may mend that, or add roles to trusted_owners in [upstream].",
            )


def _overload(row: asyncpg.Record) -> Overload:
    *arguments, result = (Type(*each) for each in [*json.loads(row["arguments"]), json.loads(row["result"])])
    kind = Kind(row["kind"])
    return Overload(kind, row["schema"], row["name"], tuple(arguments), result, row["exact"], row["trusted"])
