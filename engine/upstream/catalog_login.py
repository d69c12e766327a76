"""The catalog's own login in a registered database, for statements of its own."""

from __future__ import annotations

from dataclasses import replace

from engine.types import Asker
from schema_catalog.refresh import ConnectSettings, connected
from schema_catalog.types import Database, Login


async def catalog_login(database: Database, settings: ConnectSettings) -> tuple[Database, Asker]:
    """The database with that login alone, and who has it; raises `UnreachableError`."""
    async with connected(database.dsn, settings) as connection:
        role: str = await connection.fetchval("SELECT current_user::pg_catalog.text")
    return replace(database, logins=(Login(role, database.dsn),)), Asker(role, database.dbname)
