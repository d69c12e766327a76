"""`pgparley catalog …`: register databases, show their schemas, read them again. No password is ever shown."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from contextlib import aclosing
from typing import TYPE_CHECKING, Annotated, TypeAlias, TypeVar

import typer

from engine.values.settings import GuardSettings, UpstreamSettings
from pgparley.engine_commands import add_questions_command, add_suggest_command
from pgparley.knowledge_commands import add_knowledge_commands
from pgparley.login_commands import add_login_commands, listed_logins, logins_in_short
from pgparley.store_session import SETTINGS, run_on_store
from pgparley.terminal import AsJson, minute, print_json, print_table, printable, uri_of
from schema_catalog.catalog import CachedCatalog
from schema_catalog.definitions import State
from schema_catalog.drift import Change
from schema_catalog.drift_store import Finding
from schema_catalog.dsn import CLEAR, in_the_clear, redacted, with_dbname
from schema_catalog.naming import dotted, quote_ident, quote_literal
from schema_catalog.pg import Pool
from schema_catalog.refresh import UnreachableError, describe, owners_to_trust, refresh
from schema_catalog.store import CatalogError, CatalogStore, DuplicateNameError, Entry
from schema_catalog.types import Database
from schema_catalog.values import ColumnValues, ValueStore

if TYPE_CHECKING:
    from engine.link.value_reader import Unread
    from engine.upstream import Databases

    Outcomes: TypeAlias = tuple[ColumnValues | Unread, ...]

T = TypeVar("T")

_NONE = "No database is registered. Register one with `pgparley catalog add NAME --dsn DSN`."

Name = Annotated[
    str, typer.Argument(help="The name under which users know the database.", show_default=False)
]


def catalog_app(
    store_dsn: Callable[[], str],
    upstream: Callable[[], UpstreamSettings] = UpstreamSettings,
    guard: Callable[[], GuardSettings] = GuardSettings,
    engine: Callable[[], str] = str,
    login: Callable[[], str] = str,
) -> typer.Typer:
    """The commands. `login`: by which databases of the store's server are read; empty: by the store's."""
    app = typer.Typer(help="Register databases and see what is known of them.", no_args_is_help=True)

    def run(work: Callable[[CatalogStore], Awaitable[T]]) -> T:
        return run_on_store(store_dsn(), lambda pool: work(CatalogStore(pool)))

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
        uri = with_dbname(uri_of(login() or store_dsn()), name) if dsn is None else uri_of(dsn)
        schemas, trusted = tuple(dict.fromkeys(schema or ())), upstream().trusted_owners
        run(lambda store: _add(store, name, uri, schemas, trusted))

    @app.command("list")
    def list_(*, as_json: AsJson = False) -> None:
        """List the registered databases."""
        run(lambda store: _list(store, as_json=as_json))

    @app.command("refresh")
    def refresh_(
        name: Annotated[
            str | None, typer.Argument(help="One database; without it all.", show_default=False)
        ] = None,
    ) -> None:
        """Read the schema again and say what changed."""
        run_on_store(store_dsn(), lambda pool: _refresh(pool, name, upstream(), guard()))

    add_login_commands(app, store_dsn)
    add_knowledge_commands(app, store_dsn)
    add_suggest_command(app, engine)
    add_questions_command(app, engine, store_dsn)

    @app.command()
    def remove(name: Name) -> None:
        """Forget a database. The database itself is not touched."""
        run(lambda store: _remove(store, name))

    return app


async def _add(
    store: CatalogStore, name: str, uri: str, schemas: tuple[str, ...], trusted: tuple[str, ...]
) -> None:
    if not name or name != name.strip() or not name.isprintable():
        raise CatalogError("a name has at least one character and no white space around it")
    if any(entry.database.name == name for entry in await store.list()):
        raise DuplicateNameError(
            f'database "{name}" is registered already; `pgparley catalog refresh {name}` reads it again'
        )
    try:
        database = await describe(name, uri, schemas, SETTINGS)
    except UnreachableError as error:
        raise UnreachableError(f"{error}; nothing was registered. Check --dsn ({redacted(uri)})") from error
    await store.add(database)
    try:
        changes = await refresh(store, database, SETTINGS)
        owners = await owners_to_trust(database, trusted, SETTINGS)
    except UnreachableError:
        await store.remove(name)
        raise
    columns = sum(change.columns for change in changes)
    typer.echo(f"{printable(name)}: {len(changes)} tables and views, {columns} columns")
    typer.echo(
        printable(f"Who asks from another database needs a login: `pgparley catalog login {name} ASKER`.")
    )
    if in_the_clear(uri):
        typer.echo(printable(f"pgparley: warning: {CLEAR}."), err=True)
    if owners:
        names = ", ".join(map(quote_ident, owners))
        typer.echo(
            printable(
                f"Nobody else can ask about what belongs to {names}: if you trust their code with every asker's "
                "rights, add them to trusted_owners in [upstream]."
            )
        )
    await _report_joins(store, database)
    if not changes:
        typer.echo("There is nothing to ask about yet: create tables, then run `pgparley catalog refresh`.")


async def _report_joins(store: CatalogStore, database: Database) -> None:
    """Says how many joins wait, and where their values could not be compared."""
    evidence = await store.evidence(database.name)
    if not evidence:
        return
    call = f"SELECT nl_catalog.accept_joins({quote_literal(database.name)})"
    waiting = f"{len(evidence)}, in nl_catalog.proposed_joins; {call} declares them."
    typer.echo(printable(f"  Joins that no foreign key declares: {waiting}"))
    if unread := sum(each.endswith("not compared") for each in evidence):
        typer.echo(
            f"  Of {unread} no values were compared: where the catalog's login may read the tables (GRANT SELECT),"
            " `pgparley catalog refresh` finds more, and surer ones."
        )


async def _list(store: CatalogStore, *, as_json: bool) -> None:
    entries = await store.list()
    if as_json:
        print_json([_listed(entry) for entry in entries])
        return
    if not entries:
        typer.echo(_NONE)
        return
    headings = ("name", "database", "search path", "schema read", "logins", "connection")
    print_table(*headings, rows=map(_row, entries))


def _row(entry: Entry) -> tuple[str, ...]:
    database = entry.database
    path = ", ".join(map(quote_ident, database.search_path))
    taken = minute(entry.taken_at.isoformat()) if entry.taken_at else "never"
    return (database.name, database.dbname, path, taken, logins_in_short(database), redacted(database.dsn))


def _listed(entry: Entry) -> dict[str, object]:
    database = entry.database
    return {
        "name": database.name,
        "dbname": database.dbname,
        "search_path": database.search_path,
        "schemas": database.schemas,
        "dsn": redacted(database.dsn),
        "logins": listed_logins(database),
        "identity": database.identity,
        "registered_at": entry.registered_at.isoformat(),
        "taken_at": entry.taken_at.isoformat() if entry.taken_at else None,
    }


async def _refresh(pool: Pool, name: str | None, settings: UpstreamSettings, guard: GuardSettings) -> None:
    # The engine's way to a database loads PostgreSQL's parser, which most commands do without.
    from engine.upstream import Databases  # noqa: PLC0415

    store = CatalogStore(pool)
    entries = await store.list() if name is None else (await store.get(name),)
    if not entries:
        typer.echo(_NONE)
    failed = False
    async with aclosing(Databases(settings, guard, catalog=CachedCatalog(store))) as databases:
        for entry in entries:
            try:
                changes = await refresh(store, entry.database, SETTINGS)
                read = await _read_values(pool, entry.database, databases)
            except UnreachableError as error:
                failed = True
                typer.echo(f"pgparley: {printable(f'{entry.database.name}: {error}')}.", err=True)
            else:
                _report(entry.database.name, changes)
                _report_renames(await store.drift.waiting(entry.database.name))
                await _report_identity(store, entry.database)
                _report_values(read)
                await _report_joins(store, entry.database)
        await _report_definitions(pool, name, databases)
    if failed:
        raise typer.Exit(1)


async def _read_values(pool: Pool, database: Database, databases: Databases) -> Outcomes:
    """Reads the allowed columns of `database`; raises `UnreachableError`."""
    from engine.link.value_reader import refresh_values  # noqa: PLC0415 - as above

    snapshot = await CatalogStore(pool).newest(database.name)
    if snapshot is None:
        return ()
    return await refresh_values(ValueStore(pool), database, snapshot, databases, SETTINGS)


def _report_values(outcomes: Outcomes) -> None:
    """Prints the number of values read, and the columns that could not be read."""
    read = [outcome for outcome in outcomes if isinstance(outcome, ColumnValues)]
    if outcomes:
        total = sum(len(column.values) for column in read)
        typer.echo(f"  values: {total} of {len(read)} columns")
    for outcome in outcomes:
        if not isinstance(outcome, ColumnValues):
            typer.echo(printable(f"  ! no values of {dotted(outcome.key)}: {outcome.problem}"))


async def _report_definitions(pool: Pool, name: str | None, databases: Databases) -> None:
    """Checks definitions against the new snapshots, and prints those that do not count any more."""
    from engine.app.checking import check_pending  # noqa: PLC0415 - as above

    for stored, verdict in await check_pending(pool, databases, name):
        if verdict.state is State.REFUSED:
            what = f"{stored.database}: the {stored.kind} {stored.name} is refused: {verdict.reason}"
            typer.echo(printable(f"  ! {what}"))


async def _report_identity(store: CatalogStore, before: Database) -> None:
    now = (await store.get(before.name)).database.identity
    if None not in (now, before.identity) and now != before.identity:
        typer.echo(
            "  ! this is not the database that it was: check that its logins mean the same people here"
        )


def _report(name: str, changes: tuple[Change, ...]) -> None:
    typer.echo(f"{printable(name)}: {len(changes)} changes" if changes else f"{printable(name)}: unchanged")
    for change in changes:
        detail = f" ({change.detail})" if change.detail else ""
        line = f"  {change.difference.sign} {change.what} {change.name}{detail}"
        typer.echo(printable(line))


def _report_renames(waiting: Iterable[Finding]) -> None:
    for each in waiting:
        typer.echo(
            printable(f"  ? {each.kind} {dotted(each.old)} may be {dotted(each.new)} now: {each.detail}")
        )
        for broken in each.breaks:
            typer.echo(printable(f"    breaks {broken}"))
        typer.echo(f"    SELECT nl_catalog.accept_rename({each.id}), or decline_rename({each.id})")


async def _remove(store: CatalogStore, name: str) -> None:
    await store.remove(name)
    typer.echo(f"{printable(name)} is forgotten; the database itself was not touched.")
