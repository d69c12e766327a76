"""Keeps a statement away from functions that other users wrote.

Owns two questions to the server's catalogs, asked in the statement's own transaction. Both are there because
the connection was opened by the role of the catalog: `SET ROLE` only lends it to the asker, and code that
runs on it may take the loan back and read what the catalog's role, or any that it may lend to, can read. The
guard sees names alone; what stands behind them only the server knows.
"""

from __future__ import annotations

from importlib.resources import files

from engine.errors import UnsafeSQLError
from engine.guard import Analysis, allowed
from schema_catalog.naming import quote_ident
from schema_catalog.pg import Connection

_COMPARING = frozenset({"JoinExpr", "CaseExpr", "SubLink"})
"""Constructs that compare by an operator which is not written: USING, CASE x WHEN y, IN (SELECT …)."""


class ForeignCode:
    """Finds functions that are not PostgreSQL's, an extension's, or a trusted owner's."""

    def __init__(self, trusted_owners: tuple[str, ...]) -> None:
        queries = files("engine").joinpath("sql")
        self._trusted = trusted_owners
        self._shadowing = queries.joinpath("shadowing.sql").read_text("utf-8")
        self._planted = queries.joinpath("planted_code.sql").read_text("utf-8")

    async def refuse(self, connection: Connection, analysis: Analysis) -> None:
        """Raises `UnsafeSQLError` where the statement might run such a function, else asyncpg's errors."""
        await self._refuse_shadowed(connection, analysis)
        await self._refuse_planted(connection, analysis)

    async def _refuse_shadowed(self, connection: Connection, analysis: Analysis) -> None:
        """A built-in's name for which PostgreSQL might pick somebody's own function or operator.

        A better match of argument types beats the search path's order (docs 10.3), so that putting
        pg_catalog first is not enough (CVE-2018-1058).
        """
        sources = {source for source, _ in analysis.function_sources}
        functions = {name[-1] for name in analysis.functions}
        functions |= {column for qualifier, column in analysis.attributes if qualifier in sources}
        attributes = {column for _, column in analysis.attributes}
        operators = {name[-1] for name in analysis.operators}
        if operators & allowed.CONSTRUCT_OPERATORS or analysis.nodes & _COMPARING:
            operators |= {"=", "<", "<=", ">", ">="}
        found = await connection.fetchrow(
            self._shadowing, sorted(functions), sorted(attributes), sorted(operators)
        )
        if found is not None:
            raise UnsafeSQLError(
                f"{found['what']} {found['name']} is not only PostgreSQL's own",
                detail=f"Schema {found['schema']} defines one of that name, which the statement might call.",
                hint="Ask the DBA to move it to a schema outside this database's search path.",
            )

    async def _refuse_planted(self, connection: Connection, analysis: Analysis) -> None:
        """Tables and views whose reading or planning runs somebody's function (docs 39.5, 5.9)."""
        tables = {
            ".".join(map(quote_ident, relation.name)) for relation in analysis.relations if not relation.cte
        }
        if not tables:
            return
        found = await connection.fetchrow(self._planted, sorted(tables), list(self._trusted))
        if found is not None:
            raise UnsafeSQLError(
                f"reading that would run function {found['schema']}.{found['name']} of {found['owner']}",
                detail=f"Role {found['owner']} is not trusted with the connection of the catalog.",
                hint="Ask the DBA to give the function to a trusted owner, or to name that owner trusted.",
            )
