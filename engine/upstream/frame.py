"""The frame in which a statement runs: a transaction that can only read, with our settings, and names that are fixed.

Owns the steps before a statement is planned: our settings, the path of trusted schemas, locking the relations that it
names, printing it anew, and refusing code of owners who are not trusted. See docs/security.md, "The frame".
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from itertools import groupby
from operator import itemgetter

import asyncpg

from engine.guard import Analysis, Rules, allowed
from engine.guard.analyse import analyse
from engine.statement.printing.names import (
    SYSTEM,
    Kind,
    Names,
    Relation,
    bare_names,
    functions,
    operators,
    relation_names,
)
from engine.statement.printing.statement import Printed, PrintingError, placed, printed
from engine.upstream import referee
from engine.upstream.access import Access
from engine.upstream.meter import MeteredConnection
from engine.upstream.ttl_cache import TTLCache
from engine.values.deadline import Deadline
from engine.values.errors import UnsafeSQLError
from engine.values.settings import UpstreamSettings
from schema_catalog.naming import quote_ident
from schema_catalog.privileges import SERVERS_OWN, with_trusted_roles
from schema_catalog.types import Database

_SETTINGS = {
    # For our own queries; for the statement `path.sql` adds what is trusted (docs 5.10.6).
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
    # Names of types are remembered as the server writes them, for all who ask.
    "quote_all_identifiers": "off",
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


@dataclass(frozen=True, slots=True)
class Framed:
    """A statement in its frame. `whole`: every schema of the asker's path is trusted with its names."""

    statement: Printed
    names: Names
    whole: bool


class Frame:
    """Begins the transactions of askers."""

    def __init__(self, settings: UpstreamSettings, clock: Callable[[], float]) -> None:
        self._settings = settings
        self._trusted = json.dumps(settings.trusted_owners)
        self._resolve = _query("resolve.sql")
        self._relations = _query("relations.sql")
        self._path = with_trusted_roles(_query("path.sql"), _names("$6"), _TRUSTED_TOO)
        self._untrusted_owner = with_trusted_roles(_query("untrusted_owner.sql"), _names("$3"), _TRUSTED_TOO)
        self._untrusted_code = with_trusted_roles(_query("untrusted_code.sql"), _names("$4"), _TRUSTED_TOO)
        self._schemas = TTLCache[_NamesKey, Mapping[str, str]](settings.privileges_ttl, clock)
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
        """The statement to send here, once it is known that no code but trusted would run.

        `rules`: the guard's for this server. Raises `UnsafeSQLError` where other code would run, where the statement
        cannot be printed, or where it may mean something else along the asker's path; and the driver's exceptions.
        """
        framed = await self._framed(connection, analysis, access, rules)
        if not framed.whole and await self._placed(connection, framed, rules) is None:
            raise UnsafeSQLError(
                "the statement is refused",
                detail="What it means may depend on a schema of the search path that others can change.",
                hint="The operator may revoke CREATE on that schema, or add its owner to trusted_owners in [upstream].",
            )
        return framed.statement

    async def placed(
        self, connection: MeteredConnection, analysis: Analysis, access: Access, rules: Rules
    ) -> str | None:
        """What to send in the asker's own session; None where it may mean something else there. Raises as `printed`."""
        framed = await self._framed(connection, analysis, access, rules)
        return await self._placed(connection, framed, rules)

    async def _placed(self, connection: MeteredConnection, framed: Framed, rules: Rules) -> str | None:
        tried = None
        with suppress(PrintingError, asyncpg.InFailedSQLTransactionError):
            expected = None
            for typed in (True, False):
                text = await asyncio.to_thread(placed, framed.statement, framed.names, typed=typed)
                if text == tried:
                    break
                tried = text
                expected = expected or await referee.plan(connection, framed.statement.text)
                if await referee.agree(connection, expected, text, framed.names, rules.version):
                    return text
        return None

    async def _framed(
        self, connection: MeteredConnection, analysis: Analysis, access: Access, rules: Rules
    ) -> Framed:
        key = (access.database, access.role, bare_names(analysis))
        schemas = await self._schemas_of(connection, key)
        written = relation_names(analysis, schemas)
        try:
            oids, relations = await self._locked(connection, written)
        except asyncpg.UndefinedTableError:
            # It was there when it was last looked up; the next statement looks again.
            self._schemas.forget(key)
            raise
        types = {name: schema for schema, name in rules.types if name not in allowed.TYPES}
        try:
            statement = await asyncio.to_thread(printed, analysis, Names(schemas, types=types), rules)
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
        if statement.types or rules.functions or rules.operators:
            await self._code_trusted(connection, statement)
        foreign, whole = await self._on_path(connection, analysis, access.database, rules)
        return Framed(statement, Names(schemas, relations, types, foreign), whole)

    async def _on_path(
        self, connection: MeteredConnection, analysis: Analysis, database: Database, rules: Rules
    ) -> tuple[Mapping[tuple[Kind, str], str], bool]:
        """Takes the trusted path for the rest of the transaction; see `path.sql`. Never remembered: it may change."""
        row = await connection.fetchrow(
            self._path,
            json.dumps(database.search_path),
            json.dumps(functions(analysis)),
            json.dumps(operators(analysis)),
            *(json.dumps(sorted(each)) for each in (rules.functions, rules.operators)),
            self._trusted,
        )
        assert row is not None  # noqa: S101 - it is an aggregate
        found = json.loads(row["foreign"])
        return {(Kind(each["kind"]), each["name"]): each["schema"] for each in found}, row["whole"]

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
            columns = [row for row in listed if row["column"] is not None]
            found[oid] = Relation(
                listed[0]["schema"],
                listed[0]["relation"],
                tuple(row["column"] for row in columns),
                frozenset(row["column"] for row in columns if row["own"]),
            )
        return tuple(found), tuple(found.values())

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
        sent = await asyncio.to_thread(analyse, statement.text)
        names = [
            [name for name in dict.fromkeys(each) if len(name) > 1 and name[0] != SYSTEM]
            for each in (sent.functions, sent.operators)
        ]
        if not any((*names, statement.types)):
            return
        asked = map(json.dumps, (*names, statement.types))
        found = await connection.fetchrow(self._untrusted_code, *asked, self._trusted)
        if found is not None:
            raise UnsafeSQLError(
                "the statement could run code that is not trusted",
                detail=f"Of {found['object']}: {found['problem']}.",
                hint="The operator may mend that, or add roles to trusted_owners in [upstream].",
            )
