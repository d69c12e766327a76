"""pgparley's wheel in a virtual environment of its own, and the interpreters of CPython that this machine has.

Owns installing and running. Builds no wheels.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from tests.conftest import ROOT, free_port

MINORS = (11, 12, 13, 14)
"""The versions 3.x of CPython that are supported."""


@dataclass(frozen=True, slots=True)
class Installed:
    """A virtual environment with the gateway alone."""

    folder: Path

    @classmethod
    def by(cls, interpreter: str, folder: Path, wheel: Path) -> Installed:
        """Installs `wheel` there: what it needs by hash, it itself without looking anywhere."""
        subprocess.run([interpreter, "-m", "venv", str(folder)], check=True)  # noqa: S603
        found = cls(folder)
        lock = str(ROOT / "requirements" / "gateway.txt")
        found.run("pip", "--quiet", "install", "--require-hashes", "--requirement", lock)
        found.run("pip", "--quiet", "install", "--no-deps", "--no-index", str(wheel))
        return found

    @property
    def libraries(self) -> Path:
        """Its site-packages."""
        (found,) = self.folder.glob("lib/python*/site-packages")
        return found

    def run(self, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Runs a program of the environment in a folder without the sources."""
        words = [str(self.folder / "bin" / command[0]), *command[1:]]
        return subprocess.run(words, cwd=self.folder, check=check, capture_output=True, text=True)  # noqa: S603

    @property
    def compiled(self) -> bool:
        """Whether the compiled relay is in use."""
        return (
            self.run("python", "-c", "from proxy.protocol import fast; print(fast.COMPILED)").stdout
            == "True\n"
        )

    def relays(self, server: str) -> int:
        """Starts the gateway before `server` (host:port) and sends 20,000 rows through it; returns how many came.

        Fails where a question is not refused for want of an engine, or the gateway does not end well.
        """
        port = free_port()
        settings = ["--yes", "--force", "--server", server, "--listen", f"127.0.0.1:{port}"]
        self.run("pgparley", "init", *settings)
        command = [str(self.folder / "bin" / "pgparley"), "serve", "gateway"]
        process = subprocess.Popen(command, cwd=self.folder)  # noqa: S603 - our own program
        try:
            with _connected(port) as session:
                rows = session.execute(
                    "SELECT g, repeat('x', 100) FROM generate_series(1, 20000) AS g"
                ).fetchall()
                with pytest.raises(psycopg.OperationalError) as refused:
                    session.execute("NL: How many are there?")
                assert refused.value.sqlstate == "58000"
        finally:
            process.terminate()
            assert process.wait(30) == 0
        return len(rows)


def interpreter(minor: int) -> str | None:
    """CPython 3.`minor` on this machine: itself, on the path, or among pyenv's; None where there is none."""
    if sys.version_info[:2] == (3, minor):
        return sys.executable
    kept = sorted(Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python3.{minor}"))
    return str(kept[-1]) if kept else shutil.which(f"python3.{minor}")


def _connected(port: int) -> psycopg.Connection[tuple[object, ...]]:
    deadline = time.monotonic() + 30
    while True:
        try:
            return psycopg.connect(
                host="127.0.0.1", port=port, user="postgres", dbname="postgres", autocommit=True
            )
        except psycopg.OperationalError:
            assert time.monotonic() < deadline
            time.sleep(0.1)
