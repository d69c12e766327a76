"""The catalog at rest: registered databases, logins and snapshots in schema `pgparley` of the store database.

Owns the SQL of those tables, and of the requests to register (`registration`) and the proposals of the language model
(`suggestion`), which functions of `nl_catalog` write and decide on. Does not connect to the registered databases and
keeps nothing in memory. Connection strings may hold passwords: they leave here inside `Database` and `Login`, which do
not show them, and appear in no error.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

import asyncpg
import msgspec

from schema_catalog.definitions import DefinitionStore, Join
from schema_catalog.drift_store import DriftStore
from schema_catalog.join_values import ProposedJoin
from schema_catalog.knowledge import Knowledge, Said
from schema_catalog.made_store import read_questions, read_words
from schema_catalog.pg import Connection, Pool
from schema_catalog.types import Attributes, Database, Login, Snapshot, Suggestion, Term


class CatalogError(Exception):
    """A request that the catalog cannot fulfil as asked."""


class DuplicateNameError(CatalogError):
    """The name is taken."""


class UnknownNameError(CatalogError):
    """No database is registered under the name."""


class UnknownLoginError(CatalogError):
    """The asker has no login of their own in `database`."""

    def __init__(self, asker: str, database: str) -> None:
        super().__init__(f'"{asker}" has no login of its own in "{database}"')
        self.database = database


@dataclass(frozen=True, slots=True)
class Entry:
    """A registered database and its newest snapshot's id and time."""

    database: Database
    registered_at: datetime
    snapshot_id: int | None
    taken_at: datetime | None

    @property
    def version(self) -> tuple[int | None, datetime | None]:
        """Equal exactly where the stored snapshot is."""
        return (self.snapshot_id, self.taken_at)


# What was hidden or sensitive stays so under a new name until somebody decides whether it is the same.
_SAID = """
    SELECT database, element, k.description, coalesce(k.synonyms, '{}'),
           coalesce(k.hidden, false) OR coalesce(p.hidden, false),
           (coalesce(p.attributes, '{}') || coalesce(k.attributes, '{}'))::text
    FROM pgparley.knowledge k FULL JOIN pgparley.kept_back p USING (database, element)
    ORDER BY database, element
"""

_ENTRY = """
    SELECT d.name, d.dsn, d.dbname, d.search_path, d.schemas, d.identity, d.local, d.registered_at, s.id, s.taken_at,
           ARRAY(SELECT ARRAY[l.asker, l.dsn] FROM pgparley.login l
                 WHERE l.database = d.name ORDER BY l.asker COLLATE "C") AS logins
    FROM pgparley.database d LEFT JOIN pgparley.snapshot s ON s.id = d.newest
"""


_ADD_LOGIN = """
    INSERT INTO pgparley.login (database, asker, dsn) VALUES ($1, $2, $3)
    ON CONFLICT (database, asker) DO UPDATE SET dsn = excluded.dsn
"""


class CatalogStore:
    """The tables of the catalog. A store that does not answer raises asyncpg's errors or `OSError`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self.drift = DriftStore(pool)

    async def add(self, database: Database) -> None:
        """Registers `database` with its logins; raises `DuplicateNameError`."""
        async with self._pool.acquire() as connection, connection.transaction():
            try:
                await connection.execute(
                    "INSERT INTO pgparley.database (name, dsn, dbname, search_path, schemas, identity)"
                    " VALUES ($1, $2, $3, $4, $5, $6)",
                    database.name,
                    database.dsn,
                    database.dbname,
                    list(database.search_path),
                    list(database.schemas),
                    database.identity,
                )
            except asyncpg.UniqueViolationError:
                raise DuplicateNameError(f'database "{database.name}" is registered already') from None
            await connection.executemany(
                _ADD_LOGIN, [(database.name, login.asker, login.dsn) for login in database.logins]
            )

    async def remove(self, name: str) -> None:
        """Forgets a database with its snapshots; raises `UnknownNameError`."""
        if await self._pool.execute("DELETE FROM pgparley.database WHERE name = $1", name) == "DELETE 0":
            raise UnknownNameError(f'database "{name}" is not registered')

    async def set_identity(self, name: str, identity: str | None) -> None:
        """Notes which database of which cluster `name` was found to be; a name that is gone is passed over."""
        await self._pool.execute("UPDATE pgparley.database SET identity = $2 WHERE name = $1", name, identity)

    async def add_login(self, name: str, login: Login) -> None:
        """Stores the login of `login.asker` in `name`, replacing an earlier one; raises `UnknownNameError`."""
        try:
            await self._pool.execute(_ADD_LOGIN, name, login.asker, login.dsn)
        except asyncpg.ForeignKeyViolationError:
            raise UnknownNameError(f'database "{name}" is not registered') from None

    async def remove_login(self, name: str, asker: str) -> None:
        """Takes the login of `asker` back; raises `UnknownNameError` and `UnknownLoginError`."""
        gone = "DELETE FROM pgparley.login WHERE database = $1 AND asker = $2"
        if await self._pool.execute(gone, name, asker) == "DELETE 0":
            await self.get(name)
            raise UnknownLoginError(asker, name)

    async def get(self, name: str) -> Entry:
        """One registered database; raises `UnknownNameError`."""
        row = await self._pool.fetchrow(f"{_ENTRY} WHERE d.name = $1", name)
        if row is None:
            raise UnknownNameError(f'database "{name}" is not registered')
        return _entry(row)

    async def list(self) -> tuple[Entry, ...]:
        """All registered databases, ordered by name."""
        rows = await self._pool.fetch(f'{_ENTRY} ORDER BY d.name COLLATE "C"')
        return tuple(_entry(row) for row in rows)

    async def save_snapshot(self, snapshot: Snapshot) -> int:
        """Makes `snapshot` the newest of its database and returns its id.

        A schema that was seen before keeps its id and gets the new row estimates. Raises `UnknownNameError`.
        """
        async with self._pool.acquire() as connection, connection.transaction():
            try:
                number: int = await connection.fetchval(
                    """
                    INSERT INTO pgparley.snapshot (database, fingerprint, body) VALUES ($1, $2, $3::jsonb)
                    ON CONFLICT (database, fingerprint)
                    DO UPDATE SET body = excluded.body, taken_at = clock_timestamp()
                    RETURNING id
                    """,
                    snapshot.database,
                    snapshot.fingerprint,
                    msgspec.json.encode(snapshot).decode(),
                )
            except asyncpg.ForeignKeyViolationError:
                raise UnknownNameError(f'database "{snapshot.database}" is not registered') from None
            await connection.execute(
                "UPDATE pgparley.database SET newest = $2 WHERE name = $1", snapshot.database, number
            )
        return number

    async def evidence(self, name: str) -> tuple[str, ...]:
        """Of the joins of a database that wait for somebody to decide."""
        rows = await self._pool.fetch(
            "SELECT evidence FROM nl_catalog.proposed_joins WHERE database = $1", name
        )
        return tuple(row[0] for row in rows)

    async def propose(self, name: str, joins: Iterable[ProposedJoin]) -> None:
        """Replaces what is proposed of a database; what was declined stays so."""
        rows = [(name, [*each.column, *each.referred], each.evidence) for each in joins]
        async with self._pool.acquire() as connection, connection.transaction():
            await connection.execute(
                "DELETE FROM pgparley.proposed_join WHERE database = $1 AND declined_by IS NULL", name
            )
            await connection.executemany(
                "INSERT INTO pgparley.proposed_join (database, element, evidence) VALUES ($1, $2, $3)"
                " ON CONFLICT DO NOTHING",
                rows,
            )

    async def newest(self, name: str) -> Snapshot | None:
        """The newest snapshot of a database, None where there is none."""
        body = await self._pool.fetchval(
            "SELECT s.body::text FROM pgparley.database d JOIN pgparley.snapshot s ON s.id = d.newest"
            " WHERE d.name = $1",
            name,
        )
        return None if body is None else _snapshot(body)

    async def snapshots(self, ids: Iterable[int]) -> dict[int, Snapshot]:
        """Snapshots by id; ids that are gone are left out."""
        rows = await self._pool.fetch(
            "SELECT id, body::text FROM pgparley.snapshot WHERE id = ANY ($1::bigint[])", list(ids)
        )
        return {row["id"]: _snapshot(row["body"]) for row in rows}

    async def said(self) -> dict[str, Said]:
        """What counts of what is said of each database; those of which nothing is said are left out."""
        return await read_said(self._pool)

    async def version(self) -> int:
        """A number that grows with every change of the catalog: one row read by primary key."""
        version: int = await self._pool.fetchval(
            "SELECT version FROM pgparley.catalog_version WHERE only_row"
        )
        return version


async def read_said(store: Pool | Connection) -> dict[str, Said]:
    """What counts of what is said of each database; those of which nothing is said are left out.

    Raises asyncpg's errors or `OSError`.
    """
    elements, imported = defaultdict[str, list[Knowledge]](list), defaultdict[str, list[Knowledge]](list)
    joins, terms = defaultdict[str, list[Join]](list), defaultdict[str, list[Term]](list)
    for database, element, description, synonyms, hidden, attributes in await store.fetch(_SAID):
        elements[database].append(
            Knowledge(tuple(element), description, tuple(synonyms), hidden, _attributes(attributes))
        )
    for database, element, description, synonyms, attributes in await store.fetch(
        "SELECT database, element, description, synonyms, attributes::text"
        " FROM pgparley.imports_together ORDER BY database, element"
    ):
        said = Knowledge(tuple(element), description, tuple(synonyms), hidden=False)
        imported[database].append(replace(said, attributes=_attributes(attributes)))
    proposed: dict[str, list[Join]] = {}
    for database, element, declined in await store.fetch(
        "SELECT database, element, declined_by IS NOT NULL FROM pgparley.proposed_join ORDER BY database, element"
    ):
        held = proposed.setdefault(database, [])
        if not declined:
            held.append(Join(tuple(element[:3]), tuple(element[3:])))
    for each in await DefinitionStore(store).of_schemas():
        match each.definition:
            case Join() as join:
                joins[each.database].append(join)
            case Term() as term:
                terms[each.database].append(term)
    questions, words = await read_questions(store), await read_words(store)
    return {
        name: Said(
            tuple(elements[name]),
            tuple(joins[name]),
            tuple(terms[name]),
            tuple(imported[name]),
            tuple(proposed[name]) if name in proposed else None,
            questions.get(name, ()),
            words.get(name, {}),
        )
        for name in {*elements, *imported, *joins, *terms, *proposed, *questions, *words}
    }


def _attributes(body: str) -> Attributes:
    return msgspec.json.decode(body, type=Attributes)


def _snapshot(body: str) -> Snapshot:
    return msgspec.json.decode(body, type=Snapshot)


def _entry(row: asyncpg.Record) -> Entry:
    database = Database(
        row["name"],
        row["dsn"],
        row["dbname"],
        tuple(row["search_path"]),
        tuple(row["schemas"]),
        tuple(Login(asker, dsn) for asker, dsn in row["logins"]),
        row["identity"],
        row["local"],
    )
    return Entry(database, row["registered_at"], row["id"], row["taken_at"])


class Registrations:
    """Databases of the store's own server that a DBA asked to have registered, until an engine has done it.

    Raises asyncpg's errors or `OSError`.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def waiting(self) -> tuple[str, ...]:
        """The names that no engine has tried yet."""
        rows = await self._pool.fetch(
            "SELECT name FROM pgparley.registration WHERE problem IS NULL ORDER BY name"
        )
        return tuple(row["name"] for row in rows)

    async def failed(self, name: str, problem: str) -> None:
        """Notes why a database cannot be registered."""
        await self._pool.execute(
            "UPDATE pgparley.registration SET problem = $2 WHERE name = $1", name, problem
        )

    async def done(self, name: str) -> None:
        """Forgets a request: the database is registered."""
        await self._pool.execute("DELETE FROM pgparley.registration WHERE name = $1", name)


class SuggestionStore:
    """Suggested descriptions and synonyms. Raises asyncpg's errors or `OSError`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def elements(self, database: str) -> frozenset[tuple[str, ...]]:
        """The elements of a database for which something was suggested before, whatever became of it."""
        rows = await self._pool.fetch(
            "SELECT DISTINCT element FROM pgparley.suggestion WHERE database = $1", database
        )
        return frozenset(tuple(element) for (element,) in rows)

    async def missed(self, database: str) -> frozenset[tuple[str, ...]]:
        """The elements that words of questions came near to, where nothing stands for the words yet."""
        rows = await self._pool.fetch(
            "SELECT DISTINCT (parse_ident(element))[2:] FROM nl_catalog.not_understood"
            " WHERE database = $1 AND element <> ''",
            database,
        )
        return frozenset(tuple(element) for (element,) in rows)

    async def add(self, database: str, suggestions: Iterable[Suggestion]) -> None:
        """Keeps suggestions, each once; raises `UnknownNameError`."""
        try:
            await self._pool.executemany(
                "INSERT INTO pgparley.suggestion (database, element, kind, suggestion) VALUES ($1, $2, $3, $4)"
                " ON CONFLICT DO NOTHING",
                [(database, list(each.element), each.kind.value, each.text) for each in suggestions],
            )
        except asyncpg.ForeignKeyViolationError:
            raise UnknownNameError(f'database "{database}" is not registered') from None
