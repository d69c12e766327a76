"""One question through each client: what it shows, and the seconds it took."""

from __future__ import annotations

import asyncio
import csv
import io
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg.rows import dict_row

from pgparley.demo.site import Site

_JARS = ("/usr/share/java/postgresql.jar", "/usr/share/java/postgresql-42.jar")
CANDIDATES = ("candidate", "verified")


@dataclass(frozen=True, slots=True)
class Shown:
    """What a client shows of a question: (database, statement) of each candidate, best first; what else it says."""

    candidates: tuple[tuple[str, str], ...]
    kind: str
    seconds: float
    confidence: float | None = None


async def by_psql(site: Site, questions: Sequence[str]) -> list[Shown]:
    """A session that asks one after the other, as at a prompt."""
    found = []
    for question in questions:
        began = time.monotonic()
        process = await asyncio.create_subprocess_exec(
            *(str(site.psql), "-X", "--csv", site.uri),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        text = (await process.communicate(f"NL: $${question}$$;\n".encode()))[0].decode()
        found.append(_shown(list(csv.DictReader(io.StringIO(text))), time.monotonic() - began))
    return found


async def by_psycopg(site: Site, questions: Sequence[str], database: str = "postgres") -> list[Shown]:
    """One connection in a transaction, psycopg's default."""
    found = []
    uri = site.uri.removesuffix("postgres") + database
    async with await psycopg.AsyncConnection.connect(uri, row_factory=dict_row) as connection:
        for question in questions:
            began = time.monotonic()
            rows: list[dict[str, str]] = []
            try:
                rows = await (await connection.execute(f"NL: $${question}$$".encode())).fetchall()
            except psycopg.Error:
                await connection.rollback()
            found.append(_shown(rows, time.monotonic() - began))
            await connection.commit()
    return found


async def by_jdbc(site: Site, questions: Sequence[str]) -> list[Shown] | None:
    """One connection with autocommit off; None without Java and pgjdbc."""
    jar = await asyncio.to_thread(_jar)
    java, javac = shutil.which("java"), shutil.which("javac")
    if jar is None or java is None or javac is None:
        return None
    url = f"jdbc:postgresql://127.0.0.1:{site.port}/postgres?user=analyst&sslmode=disable"
    with tempfile.TemporaryDirectory() as folder:
        source = Path(__file__).with_name("Day.java")
        compiled = await asyncio.create_subprocess_exec(javac, "-cp", jar, "-d", folder, str(source))
        await compiled.wait()
        process = await asyncio.create_subprocess_exec(
            *(java, "-cp", f"{jar}:{folder}", "Day", url),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        text = (await process.communicate("\n".join(questions).encode()))[0].decode()
    found, rows = [], list[dict[str, str]]()
    for line in text.splitlines():
        first, *rest = line.split("\t")
        if first == "done":
            found.append(_shown(rows, int(rest[0]) / 1000))
            rows = []
        else:
            rows.append(dict(zip(("kind", "database", "sql"), rest, strict=True)))
    return found


def _jar() -> str | None:
    return next((each for each in _JARS if Path(each).exists()), None)


def _shown(rows: Sequence[dict[str, str]], seconds: float) -> Shown:
    made = [each for each in rows if each["kind"] in CANDIDATES]
    confidence = float(made[0]["confidence"]) if made and made[0].get("confidence") else None
    kind = rows[0]["kind"] if rows else "error"
    return Shown(tuple((each["database"], each["sql"]) for each in made), kind, seconds, confidence)
