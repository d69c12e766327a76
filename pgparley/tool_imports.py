"""`pgparley catalog import --from TOOL`: another tool's files, read for one registered database.

Owns which tools there are and what the command says of what it does not take over.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import typer

from pgparley.terminal import printable
from schema_catalog.imports.statements import ImportedFile, Statements, Target
from schema_catalog.knowledge_files.export import open_databases
from schema_catalog.pg import Connection
from schema_catalog.store import UnknownNameError

SHOWN = 100
"""Things left out that are listed one by one: finding the line of each takes a reading of its file."""


class Tool(StrEnum):
    """Whose files are read; also the name under which they are imported."""

    DBT = "dbt"
    OSI = "osi"


def read_tool(tool: Tool, path: Path) -> Statements:
    """What the files at `path` say; raises `CatalogError` and `OSError`."""
    # They load an SQL parser, which most commands do without.
    from schema_catalog.imports.dbt import read_dbt  # noqa: PLC0415
    from schema_catalog.imports.open_semantic import read_open_semantic  # noqa: PLC0415

    return {Tool.DBT: read_dbt, Tool.OSI: read_open_semantic}[tool](path)


async def for_database(
    connection: Connection, said: Statements, tool: Tool, database: str, name: str
) -> ImportedFile:
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
    from engine.definitions.statement import refusal  # noqa: PLC0415

    return refusal(definition)


def print_left_out(file: ImportedFile) -> None:
    """A line for each thing that is not taken over."""
    for each in file.left_out[:SHOWN]:
        typer.echo(printable(f"! {each.what} is not taken over: {each.reason} ({each.place})"))
    if len(file.left_out) > SHOWN:
        typer.echo(f"! {len(file.left_out) - SHOWN} more are not taken over")


async def print_conflicts(connection: Connection, file: ImportedFile) -> None:
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
