"""Reads the values of allowed columns of a registered database, as the role of the catalog's connection.

Never of tables with row-level security, nor of views, which may show each role other rows. The statements pass the
guard and the check for planted code, as all on that connection do.
"""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace

from engine.link.contents import JSON_TYPES, json_expressions
from engine.values.deadline import Deadline
from engine.values.elements import NUMBERS
from engine.values.errors import NLError, UnsafeSQLError
from engine.values.messages import Asker
from engine.values.ports import StatementError, Upstream
from schema_catalog.naming import quote_ident
from schema_catalog.personal import personal_by_values
from schema_catalog.refresh import ConnectSettings, UnreachableError, connected
from schema_catalog.types import ColumnKey, Database, Login, Snapshot, Table, TableKind, once_per_snapshot
from schema_catalog.values import TEXT_TYPES, ColumnValues, ValueStore

VALUES = 5_000
"""Values that are kept of one column, the commonest; LENGTH: characters that a kept one has at most."""

LENGTH = 80

DOCUMENTS, DOCUMENT = 200, 4_000
"""Documents of a column of JSON whose keys are read, and characters of each, at most."""

SECONDS = 60.0
"""For one column."""

SAME_FOR_ALL = frozenset({TableKind.TABLE, TableKind.PARTITIONED, TableKind.MATERIALIZED_VIEW})
"""Kinds that show every role the same rows, row-level security aside."""

_BREAKING = frozenset({"Zl", "Zp"})
"""Unicode's line and paragraph separators; the others are control characters."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A column without values, and why. `forget`: its stored values are to be deleted."""

    key: ColumnKey
    problem: str
    forget: bool = True


@once_per_snapshot
def text_columns(snapshot: Snapshot) -> tuple[ColumnKey, ...]:
    """The columns of text of tables in `SAME_FOR_ALL`."""
    return tuple(
        (*table.key, column.name)
        for table, column in snapshot.columns()
        if table.kind in SAME_FOR_ALL and column.type.split("(")[0] in TEXT_TYPES
    )


async def refresh_values(
    store: ValueStore, database: Database, snapshot: Snapshot, upstream: Upstream, settings: ConnectSettings
) -> tuple[ColumnValues | Unread, ...]:
    """Reads every allowed column anew and keeps what it has; raises `UnreachableError` and the store's errors."""
    outcomes = await read_values(database, snapshot, await store.allowed(database.name), upstream, settings)
    for outcome in outcomes:
        if isinstance(outcome, Unread):
            await store.failed(database.name, outcome.key, outcome.problem, forget=outcome.forget)
        else:
            await store.keep(database.name, outcome)
    return outcomes


async def read_values(
    database: Database,
    snapshot: Snapshot,
    columns: Iterable[ColumnKey],
    upstream: Upstream,
    settings: ConnectSettings,
) -> tuple[ColumnValues | Unread, ...]:
    """The values of `columns`, or why there are none; raises `UnreachableError`."""
    wanted = list(columns)
    if not wanted:
        return ()
    # The catalog reads for itself, under its own name.
    async with connected(database.dsn, settings) as connection:
        role: str = await connection.fetchval("SELECT current_user::text")
    reader, asker = replace(database, logins=(Login(role, database.dsn),)), Asker(role, database.dbname)
    try:
        secured = await upstream.row_secured(database)
    except NLError as error:
        raise UnreachableError(error.message) from error
    tables = {table.key: table for table in snapshot.tables}
    return tuple(
        [
            _refused(column, tables.get(column[:2]), secured=column[:2] in secured)
            or await _read(reader, asker, column, _type(column, tables[column[:2]]), upstream)
            for column in wanted
        ]
    )


def _refused(column: ColumnKey, table: Table | None, *, secured: bool) -> Unread | None:
    if table is None or column[2] not in {each.name for each in table.columns}:
        return Unread(column, "it does not exist any more")
    if table.kind not in SAME_FOR_ALL:
        return Unread(column, f"a {table.kind} may show each role other rows")
    if secured:
        return Unread(column, "row-level security shows each role other rows")
    return None


def _type(column: ColumnKey, table: Table) -> str:
    return next(each.type for each in table.columns if each.name == column[2])


async def _read(
    reader: Database, asker: Asker, column: ColumnKey, type_: str, upstream: Upstream
) -> ColumnValues | Unread:
    """Of JSON the expressions for what some of its documents hold, else the values; of numbers and times the range."""
    deadline = Deadline(time.monotonic() + SECONDS)
    json = type_ in JSON_TYPES
    sql, most = (_documents(column), DOCUMENTS) if json else (_statement(column), VALUES)
    least = greatest = None
    try:
        result = await upstream.run(reader, asker, sql, most, deadline)
        if type_.startswith(RANGED):
            ends = await upstream.run(reader, asker, _range(column), 1, deadline)
            least, greatest = ends.rows[0]
    except (StatementError, UnsafeSQLError) as error:
        return Unread(column, error.message)
    except NLError as error:
        return Unread(column, error.message, forget=False)
    if json:
        held = json_expressions((row[0] for row in result.rows if row[0] is not None), type_)
        return ColumnValues(column, tuple(filter(_plain, held)), more=True)
    kept = [(row[0], int(row[1] or 0)) for row in result.rows if row[0] is not None and _plain(row[0])]
    values = tuple(value for value, _ in kept)
    return ColumnValues(
        column,
        values,
        # A row of NULL stands for the values that are too long.
        more=result.truncated or len(values) < len(result.rows),
        counts=tuple(count for _, count in kept),
        least=least,
        greatest=greatest,
        personal=None if type_.startswith(_TIMES) else personal_by_values(values),
    )


_TIMES = ("date", "time")
RANGED = (*NUMBERS, *_TIMES)
"""How the types begin of whose values the least and the greatest are kept."""


def _statement(column: ColumnKey) -> str:
    """The commonest values first, each with its rows: where a column has more than are kept, they are asked about.

    The empty text is left out; all texts longer than `LENGTH` are one NULL.
    """
    table = ".".join(map(quote_ident, column[:2]))
    return (
        f"SELECT CASE WHEN length(v) <= {LENGTH} THEN v END, count(*) FROM"  # noqa: S608 - quoted names
        f" (SELECT {quote_ident(column[2])}::text AS v FROM {table}) AS t"
        " WHERE v <> '' GROUP BY 1 ORDER BY count(*) DESC, 1"
    )


def _range(column: ColumnKey) -> str:
    """The least and the greatest value, as the server writes them."""
    table, name = ".".join(map(quote_ident, column[:2])), quote_ident(column[2])
    return f"SELECT min({name})::text, max({name})::text FROM {table}"  # noqa: S608 - quoted names


def _documents(column: ColumnKey) -> str:
    table, name = ".".join(map(quote_ident, column[:2])), quote_ident(column[2])
    return (
        f"SELECT v FROM (SELECT {name}::text AS v FROM {table}) AS t"  # noqa: S608 - quoted names
        f" WHERE length(v) <= {DOCUMENT} LIMIT {DOCUMENTS}"
    )


def _plain(value: str) -> bool:
    """Whether a value is one line without marks of a prompt's structure."""
    if "###" in value or "```" in value:
        return False
    return not any(unicodedata.category(c) in _BREAKING or unicodedata.category(c)[0] == "C" for c in value)
