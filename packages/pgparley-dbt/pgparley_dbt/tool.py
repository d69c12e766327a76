"""The tools as the commands of the catalog take them: importers of `pgparley.plugins`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from engine.app.checking import refusal
from pgparley.plugins import Given
from pgparley_dbt.dbt import read_dbt
from pgparley_dbt.dbt_export import dbt_text
from pgparley_dbt.open_semantic import read_open_semantic
from pgparley_dbt.open_semantic_export import open_semantic_text
from pgparley_dbt.own_export import taken_back
from pgparley_dbt.placing import placed
from pgparley_dbt.statements import Statements, Target
from schema_catalog.knowledge_files.export import open_databases
from schema_catalog.knowledge_files.format import KnowledgeFile, Source
from schema_catalog.pg import Connection
from schema_catalog.store import UnknownNameError


@dataclass(frozen=True, slots=True)
class Tool:
    """`name`: under which its files are imported."""

    name: str
    read: Callable[[Path], Statements]
    written: Callable[[KnowledgeFile], str]

    def about(self, database: str, file: Path) -> Given:
        """What `file` says, put to the tables of `database`."""
        return partial(self._placed, said=self.read(file), database=database, file=file.name)

    def exported(self, file: Path) -> Source:
        """What people said, in a file that `written` made."""
        return taken_back(self.read(file), file.name)

    async def _placed(self, connection: Connection, said: Statements, database: str, file: str) -> Source:
        if database not in await open_databases(connection):
            raise UnknownNameError(f'no database "{database}" is registered, or it is not open to you')
        return placed(said, await _target(connection, database, self.name), self.name, file, refusal)


async def _target(connection: Connection, database: str, tool: str) -> Target:
    tables: dict[tuple[str, str], set[str]] = {}
    for schema, table, column in await connection.fetch(
        'SELECT schema, "table", "column" FROM nl_catalog.columns WHERE database = $1', database
    ):
        tables.setdefault((schema, table), set()).add(column)
    terms = await connection.fetch(
        "SELECT lower(term), source FROM nl_catalog.terms WHERE database = $1 AND source IS DISTINCT FROM $2",
        database,
        tool,
    )
    joins = await connection.fetch(
        "SELECT from_column, to_column, source FROM nl_catalog.joins"
        " WHERE database = $1 AND source IS DISTINCT FROM $2",
        database,
        tool,
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


DBT = Tool("dbt", read_dbt, dbt_text)
OSI = Tool("osi", read_open_semantic, open_semantic_text)
