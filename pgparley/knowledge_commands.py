"""`pgparley catalog export`, `diff` and `import`: what a DBA, or another tool, says of databases, as a file.

Owns the words of these commands. They leave the store's schema as it is and need no right but those of `nl_catalog`, so
that a steward runs them as well.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

import asyncpg
import typer

from pgparley.store_session import run_on_store_as_it_is
from pgparley.terminal import fail, printable
from pgparley.tool_imports import Tool, for_database, print_conflicts, print_left_out, read_tool
from schema_catalog.imports.statements import ImportedFile, Statements
from schema_catalog.knowledge_files.export import open_databases, stored_file
from schema_catalog.knowledge_files.format import Source, read_file, write_text
from schema_catalog.knowledge_files.merge import Step, Wanted, apply, differences, one_at_a_time
from schema_catalog.pg import Connection, Pool
from schema_catalog.store import CatalogError, UnknownNameError

T = TypeVar("T")

File = Annotated[
    Path,
    typer.Argument(help="As `export` writes it; with --from a tool's file or folder.", show_default=False),
]
From = Annotated[Tool | None, typer.Option("--from", help="Whose files they are; without it ours.")]
Into = Annotated[
    str | None, typer.Option("--database", help="With --from: the registered database that they are about.")
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
    ) -> None:
        """Write what was said of databases as YAML."""
        text = run(lambda connection: _export(connection, databases or ()))
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


@dataclass(frozen=True, slots=True)
class _OfTool:
    """What a tool's files say, to be imported into `database`."""

    said: Statements
    tool: Tool
    database: str
    name: str


def _read(file: Path, tool: Tool | None, database: str | None) -> Source | _OfTool:
    if (tool is None) != (database is None):
        raise typer.BadParameter("--from and --database go together")
    try:
        if tool is None or database is None:
            return read_file(file)
        return _OfTool(read_tool(tool, file), tool, database, file.name)
    except CatalogError as error:
        fail(f"{error}.")
    except OSError as error:
        fail(f"cannot read {file}: {error.strerror}.")


async def _wanted(connection: Connection, given: Source | _OfTool) -> Source | ImportedFile:
    if isinstance(given, Source):
        return given
    return await for_database(connection, given.said, given.tool, given.database, given.name)


async def _differences(
    connection: Connection, given: Source | _OfTool
) -> tuple[Source | ImportedFile, tuple[Step, ...]]:
    wanted = await _wanted(connection, given)
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


async def _export(connection: Connection, wanted: Iterable[str]) -> str:
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        visible = await open_databases(connection)
        names = tuple(wanted) or visible
        for name in names:
            if name not in visible:
                raise UnknownNameError(f'no database "{name}" is registered, or it is not open to you')
        return write_text(await stored_file(connection, names))


async def _import(connection: Connection, given: Source | _OfTool, *, dry_run: bool) -> None:
    transaction = connection.transaction()
    await transaction.start()
    try:
        # What is left out depends on what other imports say.
        await one_at_a_time(connection)
        wanted = await _wanted(connection, given)
        steps = await apply(connection, wanted)
        _print(wanted, steps)
        if isinstance(wanted, ImportedFile):
            await print_conflicts(connection, wanted)
    except BaseException:
        await transaction.rollback()
        raise
    await (transaction.rollback() if dry_run else transaction.commit())
    if not steps:
        typer.echo("Nothing to change.")
    else:
        typer.echo(f"{len(steps)} changes{', all taken back' if dry_run else ''}.")


def _print(wanted: Wanted, steps: Iterable[Step]) -> None:
    for step in sorted(steps, key=lambda step: step.fact.key):
        typer.echo(printable(f"{step.difference.sign} {step.shown}"))
    if isinstance(wanted, ImportedFile):
        print_left_out(wanted)
