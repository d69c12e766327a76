"""`pgparley catalog …`: register databases, look at what is known of them, bring it up to date.

Owns the words of these commands and their exit status (0 done, 1 not done, 2 wrong usage). Does not know
where the store is: the composition root passes that in. No password is ever shown.
"""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Awaitable, Callable, Iterable
from typing import Annotated, NoReturn, TypeVar

import asyncpg
import msgspec
import typer
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from schema_catalog.drift import Change, Difference
from schema_catalog.dsn import DSNError, as_uri, redacted, with_dbname
from schema_catalog.migrate import MigrationError, migrate
from schema_catalog.naming import quote_ident
from schema_catalog.refresh import ConnectSettings, UnreachableError, describe, refresh
from schema_catalog.store import CatalogError, CatalogStore, DuplicateNameError, Entry, UnknownNameError
from schema_catalog.types import Snapshot, Table

T = TypeVar("T")

_SIGNS = {Difference.ADDED: "+", Difference.REMOVED: "-", Difference.CHANGED: "~"}
_SETTINGS = ConnectSettings()

Name = Annotated[
    str, typer.Argument(help="The name under which users know the database.", show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON.")]


def catalog_app(store_dsn: Callable[[], str]) -> typer.Typer:
    """The commands; `store_dsn` gives the store's connection string when one of them runs."""
    app = typer.Typer(help="Register databases and see what is known of them.", no_args_is_help=True)

    def run(work: Callable[[CatalogStore], Awaitable[T]]) -> T:
        return _run(store_dsn(), work)

    @app.command()
    def add(
        name: Name,
        dsn: Annotated[
            str | None,
            typer.Option(help="Connection string; without it: the database NAME on the store's server."),
        ] = None,
        schema: Annotated[
            list[str] | None,
            typer.Option(help="Only this schema; repeat for more. Without it: every schema of the user's."),
        ] = None,
    ) -> None:
        """Register a database and read its schema."""
        try:
            uri = as_uri(dsn) if dsn is not None else with_dbname(as_uri(store_dsn()), name)
        except DSNError as error:
            _fail(f"{error}.")
        run(lambda store: _add(store, name, uri, tuple(dict.fromkeys(schema or ()))))

    @app.command("list")
    def list_(*, as_json: AsJson = False) -> None:
        """List the registered databases."""
        run(lambda store: _list(store, as_json=as_json))

    @app.command()
    def show(name: Name, *, as_json: AsJson = False) -> None:
        """Show the tables, columns and keys of a database as of its last refresh."""
        run(lambda store: _show(store, name, as_json=as_json))

    @app.command("refresh")
    def refresh_(
        name: Annotated[
            str | None, typer.Argument(help="One database; without it all.", show_default=False)
        ] = None,
    ) -> None:
        """Read the schema again and say what changed."""
        run(lambda store: _refresh(store, name))

    @app.command()
    def remove(name: Name) -> None:
        """Forget a database. The database itself is not touched."""
        run(lambda store: _remove(store, name))

    return app


def _run(dsn: str, work: Callable[[CatalogStore], Awaitable[T]]) -> T:
    """Runs `work` on the migrated store; every expected failure ends the command with a message."""

    async def session() -> T:
        async with asyncpg.create_pool(
            as_uri(dsn), min_size=1, max_size=1, timeout=_SETTINGS.connect_timeout, statement_cache_size=0
        ) as pool:
            async with pool.acquire() as connection:
                await migrate(connection)
            return await work(CatalogStore(pool))

    try:
        return asyncio.run(session())
    except UnknownNameError as error:
        _fail(f"{error}. Run `pgparley catalog list` to see the names.")
    except DSNError as error:
        _fail(f"store: {error}.")
    except (CatalogError, UnreachableError, MigrationError) as error:
        _fail(f"{error}.")
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, ValueError) as error:
        _fail(
            f"the store does not answer: {error or type(error).__name__}. "
            f"Check that {redacted(as_uri(dsn))} is right and its server runs."
        )


def _fail(message: str) -> NoReturn:
    typer.echo(f"pgparley: {_printable(message)}", err=True)
    raise typer.Exit(1)


async def _add(store: CatalogStore, name: str, uri: str, schemas: tuple[str, ...]) -> None:
    if not name or name != name.strip() or not name.isprintable():
        raise CatalogError("a name has at least one character and no white space around it")
    if any(entry.database.name == name for entry in await store.list()):
        raise DuplicateNameError(
            f'database "{name}" is registered already; `pgparley catalog refresh {name}` reads it again'
        )
    try:
        database = await describe(name, uri, schemas, _SETTINGS)
    except UnreachableError as error:
        raise UnreachableError(f"{error}; nothing was registered. Check --dsn ({redacted(uri)})") from error
    await store.add(database)
    try:
        changes = await refresh(store, database, _SETTINGS)
    except UnreachableError:
        await store.remove(name)
        raise
    columns = sum(change.columns for change in changes)
    typer.echo(f"{_printable(name)}: {len(changes)} tables and views, {columns} columns")
    if not changes:
        typer.echo("There is nothing to ask about yet: create tables, then run `pgparley catalog refresh`.")


async def _list(store: CatalogStore, *, as_json: bool) -> None:
    entries = await store.list()
    if as_json:
        typer.echo(msgspec.json.encode([_listed(entry) for entry in entries]))
        return
    if not entries:
        typer.echo("No database is registered. Register one with `pgparley catalog add NAME --dsn DSN`.")
        return
    grid = Grid("name", "database", "search path", "schema read", "connection")
    for entry in entries:
        row = _listed(entry)
        path = ", ".join(quote_ident(schema) for schema in row.search_path)
        taken = row.taken_at.replace("T", " ")[:16] if row.taken_at else "never"
        grid.add_row(*map(_cell, (row.name, row.dbname, path, taken, row.dsn)))
    Console().print(grid)


class _Listed(msgspec.Struct):
    """A row of `list --json`."""

    name: str
    dbname: str
    search_path: tuple[str, ...]
    schemas: tuple[str, ...]
    dsn: str
    registered_at: str
    taken_at: str | None


def _listed(entry: Entry) -> _Listed:
    database = entry.database
    return _Listed(
        name=database.name,
        dbname=database.dbname,
        search_path=database.search_path,
        schemas=database.schemas,
        dsn=redacted(database.dsn),
        registered_at=entry.registered_at.isoformat(),
        taken_at=entry.taken_at.isoformat() if entry.taken_at else None,
    )


async def _show(store: CatalogStore, name: str, *, as_json: bool) -> None:
    await store.get(name)
    snapshot = await store.newest(name)
    if snapshot is None:
        raise UnreachableError(f"the schema of {name} was never read; run `pgparley catalog refresh {name}`")
    if as_json:
        typer.echo(msgspec.json.encode(snapshot))
        return
    if not snapshot.tables:
        typer.echo(f"{_printable(name)} holds no table or view.")
        return
    console = Console()
    for table in snapshot.tables:
        console.print(_grid(snapshot, table))


def _grid(snapshot: Snapshot, table: Table) -> Grid:
    rows = "" if table.row_estimate is None else f", about {table.row_estimate} rows"
    title = f"{snapshot.display_name(table)} ({table.kind}{rows})"
    grid = Grid("column", "type", "null", "key", "comment", title=_cell(title), title_justify="left")
    if table.description:
        grid.caption = _cell(table.description)
        grid.caption_justify = "left"
    for column in table.columns:
        keys = ", ".join(_keys(table, column.name))
        null = "" if column.nullable else "not null"
        cells = (quote_ident(column.name), column.type, null, keys, column.description or "")
        grid.add_row(*map(_cell, cells))
    return grid


def _keys(table: Table, column: str) -> Iterable[str]:
    if column in table.primary_key:
        yield "primary"
    if any(column in key for key in table.unique_keys):
        yield "unique"
    for key in table.foreign_keys:
        if column in key.columns:
            referred = key.ref_columns[key.columns.index(column)]
            yield "→ " + ".".join(quote_ident(part) for part in (key.ref_schema, key.ref_table, referred))


async def _refresh(store: CatalogStore, name: str | None) -> None:
    entries = await store.list() if name is None else (await store.get(name),)
    if not entries:
        typer.echo("No database is registered. Register one with `pgparley catalog add NAME --dsn DSN`.")
    failed = False
    for entry in entries:
        try:
            changes = await refresh(store, entry.database, _SETTINGS)
        except UnreachableError as error:
            failed = True
            typer.echo(f"pgparley: {_printable(f'{entry.database.name}: {error}')}.", err=True)
        else:
            _report(entry.database.name, changes)
    if failed:
        raise typer.Exit(1)


def _report(name: str, changes: tuple[Change, ...]) -> None:
    typer.echo(f"{_printable(name)}: {len(changes)} changes" if changes else f"{_printable(name)}: unchanged")
    for change in changes:
        detail = f" ({change.detail})" if change.detail else ""
        line = f"  {_SIGNS[change.difference]} {change.what} {change.name}{detail}"
        typer.echo(_printable(line))


async def _remove(store: CatalogStore, name: str) -> None:
    await store.remove(name)
    typer.echo(f"{_printable(name)} is forgotten; the database itself was not touched.")


def _cell(text: str) -> Text:
    return Text(_printable(text))


def _printable(text: str) -> str:
    """`text` without what could drive a terminal: names and comments come from databases."""
    return "".join(repr(c)[1:-1] if unicodedata.category(c) in {"Cc", "Cf", "Cs"} else c for c in text)
