"""The two ways to the server, and what clients share."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

USER, DATABASE = "analyst", "wire"


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
