"""`pgparley catalog export`, `diff` and `import`: what is said of databases, as a file. Needs `nl_catalog` alone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, TypeAlias, TypeVar

import asyncpg
import typer

from pgparley.store_session import run_on_store_as_it_is
from pgparley.terminal import fail, printable
from schema_catalog.imports.own_export import taken_back
from schema_catalog.imports.statements import Statements, Target
from schema_catalog.knowledge_files.export import open_databases, stored_file
from schema_catalog.knowledge_files.format import KnowledgeFile, Source, read_file, write_text
from schema_catalog.knowledge_files.merge import Step, apply, differences, one_at_a_time
from schema_catalog.knowledge_files.skeleton import skeleton
from schema_catalog.pg import Connection, Pool
from schema_catalog.store import CatalogError, UnknownNameError

SHOWN = 100
"""Things left out that are listed one by one: finding the line of each takes a reading of its file."""


class Tool(StrEnum):
    """Whose files are read and written; also the name under which they are imported."""

    DBT = "dbt"
    OSI = "osi"


def read_tool(tool: Tool, path: Path) -> Statements:
    """What the files at `path` say; raises `CatalogError` and `OSError`."""
    # They load an SQL parser, which most commands do without.
    from schema_catalog.imports.dbt import read_dbt  # noqa: PLC0415
    from schema_catalog.imports.open_semantic import read_open_semantic  # noqa: PLC0415

    return {Tool.DBT: read_dbt, Tool.OSI: read_open_semantic}[tool](path)


def written(tool: Tool | None, content: KnowledgeFile) -> str:
    """`content` in the form of `tool`, or in ours; raises `CatalogError`."""
    if tool is None:
        return write_text(content)
    from schema_catalog.exports.dbt import dbt_text  # noqa: PLC0415
    from schema_catalog.exports.open_semantic import open_semantic_text  # noqa: PLC0415

    return {Tool.DBT: dbt_text, Tool.OSI: open_semantic_text}[tool](content)


async def for_database(
    connection: Connection, said: Statements, tool: Tool, database: str, name: str
) -> Source:
    """`said` as a file of knowledge of `database`; raises `UnknownNameError`."""
    from schema_catalog.imports.placing import placed  # noqa: PLC0415

    if database not in await open_databases(connection):
        raise UnknownNameError(f'no database "{database}" is registered, or it is not open to you')
    return placed(said, await _target(connection, database, tool), tool.value, name, _refusal)


async def _target(connection: Connection, database: str, tool: Tool) -> Target:
    tables: dict[tuple[str, str], set[str]] = {}
    for schema, table, column in await connection.fetch(
        'SELECT schema, "table", "column" FROM nl_catalog.columns WHERE database = $1', database
    ):
        tables.setdefault((schema, table), set()).add(column)
    terms = await connection.fetch(
        "SELECT lower(term), source FROM nl_catalog.terms WHERE database = $1 AND source IS DISTINCT FROM $2",
        database,
        tool.value,
    )
    joins = await connection.fetch(
        "SELECT from_column, to_column, source FROM nl_catalog.joins"
        " WHERE database = $1 AND source IS DISTINCT FROM $2",
        database,
        tool.value,
    )
    prefix = len(await connection.fetchval("SELECT quote_ident($1)", database)) + 1
    ends = [(one[prefix:], other[prefix:], _whose(source)) for one, other, source in joins]
    return Target(
        database,
        {key: frozenset(columns) for key, columns in tables.items()},
        {term: _whose(source) for term, source in terms},
        {pair: whose for one, other, whose in ends for pair in ((one, other), (other, one))},
    )


def _whose(source: str | None) -> str:
    return "a DBA" if source is None else f"the import {source}"


def _refusal(definition: str) -> str | None:
    # PostgreSQL's parser, which most commands do without.
    from engine.app.checking import refusal  # noqa: PLC0415

    return refusal(definition)


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

File = Annotated[
    Path,
    typer.Argument(help="As `export` writes it; with --from a tool's file or folder.", show_default=False),
]
From = Annotated[Tool | None, typer.Option("--from", help="Whose files they are; without it ours.")]
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
            Tool | None, typer.Option("--to", help="In the form of this tool; of one database.")
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


Given: TypeAlias = Callable[[Connection], Awaitable[Source]]
"""A file that was read: what it says may depend on the tables of the database that it is about."""


def _read(file: Path, tool: Tool | None, database: str | None) -> Given:
    if tool is None and database is not None:
        raise typer.BadParameter("--database goes with --from")
    try:
        if tool is not None and database is not None:
            said = read_tool(tool, file)
            return partial(for_database, said=said, tool=tool, database=database, name=file.name)
        source = read_file(file) if tool is None else taken_back(read_tool(tool, file), file.name)
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
    from engine.link.legends import legend  # noqa: PLC0415

    return tuple((each.code, each.said) for each in legend(comment))


async def _export(
    connection: Connection, wanted: Iterable[str], tool: Tool | None, *, as_skeleton: bool
) -> str:
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        visible = await open_databases(connection)
        names = tuple(wanted) or visible
        for name in names:
            if name not in visible:
                raise UnknownNameError(f'no database "{name}" is registered, or it is not open to you')
        if as_skeleton:
            return await skeleton(connection, sorted(set(names)), _explained)
        return written(tool, await stored_file(connection, names))


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
