"""The two ways to the server, and what clients share."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

USER, DATABASE = "analyst", "wire"

CHOSEN = [(1, "1"), (2, "2"), (3, "3")]
"""The rows of the statement that the engine gives for a choice."""

PLAIN = (
    "SELECT 1 AS a, 'x'::text AS b, NULL::date AS c, 1.5::numeric AS d, ARRAY[1, 2] AS e, '\\x00'::bytea AS f",
    "SELECT g, repeat('x', g) FROM generate_series(1, 300) g",
    "SELECT oid, typname::text FROM pg_type ORDER BY oid LIMIT 60",
)
"""Statements whose rows a Python driver fetches alike at both ends."""

BAD = ("SELEC 1", "SELECT 1/0", "SELECT * FROM missing")
"""Statements that fail alike at both."""


@dataclass(frozen=True, slots=True)
class Ends:
    """TCP ports of loopback: through the gateway, and directly. `bindir`: programs of the server's version."""

    gateway: int
    direct: int
    bindir: Path

    def dsn(self, port: int | None = None, **more: str) -> str:
        """A connection string of libpq's, through the gateway where no port is named."""
        words = {"host": "127.0.0.1", "port": port or self.gateway, "user": USER, "dbname": DATABASE, **more}
        return " ".join(f"{key}={value}" for key, value in words.items())


Case = Callable[[Ends], None]


def run(*words: str, stdin: str | None = None, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A program's end, with what it wrote."""
    return subprocess.run(  # noqa: S603 - commands of our own
        words, input=stdin, capture_output=True, text=True, check=False, timeout=100, cwd=cwd
    )


def same(one: object, two: object) -> None:
    """Both ends must have said the same, and something."""
    assert one
    assert one == two
