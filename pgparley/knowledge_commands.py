"""`pgparley catalog export`, `diff` and `import`: what is said of databases, as a file. Needs `nl_catalog` alone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import asyncpg
import typer

from pgparley.plugins import Given, Importer, NotInstalledError, importer
from pgparley.store_session import run_on_store_as_it_is
from pgparley.terminal import fail, printable
from schema_catalog.knowledge_files.export import open_databases, stored_file
from schema_catalog.knowledge_files.format import Source, read_file, write_text
from schema_catalog.knowledge_files.merge import Step, apply, differences, one_at_a_time
from schema_catalog.knowledge_files.skeleton import skeleton
from schema_catalog.pg import Connection, Pool
from schema_catalog.store import CatalogError, UnknownNameError

SHOWN = 100
"""Things left out that are listed one by one: finding the line of each takes a reading of its file."""


def print_left_out(file: Source) -> None:
    """A line for each thing that is not taken over."""
    for each in file.left_out[:SHOWN]:
        typer.echo(printable(f"! {each.what} is not taken over: {each.reason} ({each.place})"))
    if len(file.left_out) > SHOWN:
        typer.echo(f"! {len(file.left_out) - SHOWN} more are not taken over")


async def print_conflicts(connection: Connection, file: Source) -> None:
    """How many of its texts stand behind others."""
    [database] = file.content.databases
    count = await connection.fetchval(
        "SELECT count(*) FROM nl_catalog.conflicts"
        " WHERE database = $1 AND source = $2 AND problem = 'import differs'",
        database.name,
        file.origin,
    )
    if count:
        typer.echo(f"{count} descriptions stand behind others: nl_catalog.conflicts shows them")


T = TypeVar("T")


def _importer(tool: str) -> Importer:
    try:
        return importer(tool)
    except NotInstalledError as problem:
        raise typer.BadParameter(f"{problem}. {problem.hint}") from None


def _of_tool(flag: str, said: str) -> Any:
    return typer.Option(flag, parser=_importer, metavar="<dbt|osi>", help=said)


File = Annotated[
    Path,
    typer.Argument(help="As `export` writes it; with --from a tool's file or folder.", show_default=False),
]
From = Annotated[Importer | None, _of_tool("--from", "Whose files they are; without it ours.")]
Into = Annotated[
    str | None,
    typer.Option(
        "--database",
        help="With --from: the registered database that they are about. Without it: as `export --to` wrote it.",
    ),
]


def add_knowledge_commands(app: typer.Typer, store_dsn: Callable[[], str]) -> None:
    """Adds the commands to the catalog's."""

    def run(work: Callable[[Connection], Awaitable[T]]) -> T:
        return run_on_store_as_it_is(store_dsn(), lambda pool: _session(pool, work))

    @app.command()
    def export(
        databases: Annotated[
            list[str] | None, typer.Argument(help="Only these; without it all.", show_default=False)
        ] = None,
        output: Annotated[
            Path | None, typer.Option("--output", "-o", help="The file to write; without it standard output.")
        ] = None,
        *,
        as_skeleton: Annotated[
            bool, typer.Option("--skeleton", help="With every element, and what may help as comments.")
        ] = False,
        tool: Annotated[
            Importer | None, _of_tool("--to", "In the form of this tool; of one database.")
        ] = None,
    ) -> None:
        """Write what was said of databases as YAML."""
        if as_skeleton and tool is not None:
            raise typer.BadParameter("--skeleton and --to do not go together")
        text = run(lambda connection: _export(connection, databases or (), tool, as_skeleton=as_skeleton))
        if output is None:
            typer.echo(text, nl=False)
            return
        try:
            output.write_text(text, "utf-8")
        except OSError as error:
            fail(f"cannot write {output}: {error.strerror}.")

    @app.command()
    def diff(file: File, *, tool: From = None, database: Into = None) -> None:
        """Show what `import` would change: exit status 0 nothing, 1 something, 2 it could not be found out."""
        try:
            given = _read(file, tool, database)
            wanted, steps = run(lambda connection: _differences(connection, given))
        except typer.Exit as problem:
            raise typer.Exit(2) from problem
        _print(wanted, steps)
        raise typer.Exit(1 if steps else 0)

    @app.command("import")
    def import_(
        file: File,
        *,
        tool: From = None,
        database: Into = None,
        dry_run: Annotated[
            bool, typer.Option("--dry-run", help="Do it, show what changed, and take it back.")
        ] = False,
    ) -> None:
        """Say of the databases in the file what it says, and take back what it lacks: all of it or nothing."""
        given = _read(file, tool, database)
        run(lambda connection: _import(connection, given, dry_run=dry_run))


def _read(file: Path, tool: Importer | None, database: str | None) -> Given:
    if tool is None and database is not None:
        raise typer.BadParameter("--database goes with --from")
    try:
        if tool is not None and database is not None:
            return tool.about(database, file)
        source = read_file(file) if tool is None else tool.exported(file)
    except CatalogError as error:
        fail(f"{error}.")
    except OSError as error:
        fail(f"cannot read {file}: {error.strerror}.")

    async def as_it_stands(_: Connection) -> Source:
        return source

    return as_it_stands


async def _differences(connection: Connection, given: Given) -> tuple[Source, tuple[Step, ...]]:
    wanted = await given(connection)
    return wanted, await differences(connection, wanted)


async def _session(pool: Pool, work: Callable[[Connection], Awaitable[T]]) -> T:
    async with pool.acquire() as connection:
        try:
            return await work(connection)
        except asyncpg.InsufficientPrivilegeError as error:
            raise CatalogError(
                f"{error.message}: this is for members of nl_admin and nl_steward (docs/catalog.md, Roles)"
            ) from error
        except (asyncpg.UndefinedTableError, asyncpg.InvalidSchemaNameError) as error:
            raise CatalogError(f"{error.message}: run `pgparley store migrate` first") from error


def _explained(comment: str) -> tuple[tuple[str, str], ...]:
    # The engine, which most commands do without.
    from engine.question.comments import legend  # noqa: PLC0415

    return tuple((each.code, each.said) for each in legend(comment))


async def _export(
    connection: Connection, wanted: Iterable[str], tool: Importer | None, *, as_skeleton: bool
) -> str:
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        visible = await open_databases(connection)
        names = tuple(wanted) or visible
        for name in names:
            if name not in visible:
                raise UnknownNameError(f'no database "{name}" is registered, or it is not open to you')
        if as_skeleton:
            return await skeleton(connection, sorted(set(names)), _explained)
        content = await stored_file(connection, names)
        return write_text(content) if tool is None else tool.written(content)


async def _import(connection: Connection, given: Given, *, dry_run: bool) -> None:
    transaction = connection.transaction()
    await transaction.start()
    try:
        # What is left out depends on what other imports say.
        await one_at_a_time(connection)
        wanted = await given(connection)
        steps = await apply(connection, wanted)
        _print(wanted, steps)
        if wanted.origin is not None:
            await print_conflicts(connection, wanted)
    except BaseException:
        await transaction.rollback()
        raise
    await (transaction.rollback() if dry_run else transaction.commit())
    if not steps:
        typer.echo("Nothing to change.")
    else:
        typer.echo(f"{len(steps)} changes{', all taken back' if dry_run else ''}.")


def _print(wanted: Source, steps: Iterable[Step]) -> None:
    for step in sorted(steps, key=lambda step: step.fact.key):
        typer.echo(printable(f"{step.difference.sign} {step.shown}"))
    print_left_out(wanted)
