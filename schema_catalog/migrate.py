"""Brings the store's schema `pgparley` up to date.

Owns the order, the lock and the record of migrations. A new migration is a
file `sql/NNNN_what.sql`, numbered without a gap, never edited after it was released.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from importlib.resources import files

from schema_catalog.pg import Connection

_NAME = re.compile(r"(\d{4})_[a-z0-9_]+\.sql\Z")
_LOCK = 0x7067_7061_726C_6579
"""Key of the advisory lock (the letters "pgparley"): engines that start together migrate one by one."""

_RECORD = """
    CREATE SCHEMA IF NOT EXISTS pgparley;
    CREATE TABLE IF NOT EXISTS pgparley.migration (
        name text PRIMARY KEY, digest text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())
"""


class MigrationError(Exception):
    """The store and this version's migrations do not fit together; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One file of SQL statements, applied once."""

    name: str
    sql: str

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of the text."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


def bundled() -> tuple[Migration, ...]:
    """The migrations of this version, in order; raises `MigrationError` where their numbers have a gap."""
    folder = files("schema_catalog").joinpath("sql")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    for number, name in enumerate(names, 1):
        match = _NAME.match(name)
        if match is None or int(match[1]) != number:
            raise MigrationError(
                f"migration {name} is not number {number:04}: numbers run from 0001 without a gap"
            )
    return tuple(Migration(name, folder.joinpath(name).read_text(encoding="utf-8")) for name in names)


async def migrate(connection: Connection, migrations: tuple[Migration, ...] | None = None) -> tuple[str, ...]:
    """Applies what is missing, all in one transaction, and returns the names of what it applied.

    Raises `MigrationError` where the store was migrated by a newer version or by an edited file, and
    asyncpg's errors; the store is then as it was.
    """
    known = bundled() if migrations is None else migrations
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
        if not await connection.fetchval("SELECT to_regclass('pgparley.migration') IS NOT NULL"):
            await connection.execute(_RECORD)
        rows = await connection.fetch("SELECT name, digest FROM pgparley.migration ORDER BY name")
        _check(known, {row["name"]: row["digest"] for row in rows})
        missing = known[len(rows) :]
        for migration in missing:
            await connection.execute(migration.sql)
            await connection.execute(
                "INSERT INTO pgparley.migration (name, digest) VALUES ($1, $2)",
                migration.name,
                migration.digest,
            )
    return tuple(migration.name for migration in missing)


async def rehearse(connection: Connection) -> tuple[str, ...]:
    """The names of what `migrate` would apply, after it was applied and taken back; raises as `migrate`."""
    attempt = connection.transaction()
    await attempt.start()
    try:
        return await migrate(connection)
    finally:
        await attempt.rollback()


def _check(known: tuple[Migration, ...], applied: dict[str, str]) -> None:
    for position, (name, digest) in enumerate(applied.items()):
        if position >= len(known):
            raise MigrationError(f"the store has migration {name}, newer than this version: upgrade pgparley")
        if known[position].name != name or known[position].digest != digest:
            raise MigrationError(
                f"the store was migrated with another {name} than this version's {known[position].name}: "
                "use the version that made it, or make the store anew"
            )
