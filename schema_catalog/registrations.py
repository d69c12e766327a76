"""Databases of the store's own server that a DBA asked to have registered, until an engine has done it.

Owns the SQL of table `registration`, which `nl_catalog.register` fills (`sql/0015_from_clients.sql`). Does not connect
to them.
"""

from __future__ import annotations

from schema_catalog.pg import Pool


class Registrations:
    """Over one store. Raises asyncpg's errors or `OSError`."""

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
