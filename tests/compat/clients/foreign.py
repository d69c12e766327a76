"""pgjdbc and node-pg: a program each, compiled or started by the test, that prints a line a case."""

from __future__ import annotations

import functools
import os
import shutil
import tempfile
from pathlib import Path

import pytest

from clients.ends import DATABASE, USER, Case, Ends, run, same

_PROGRAMS = Path(__file__).parents[1] / "programs"
_JARS = ("/usr/share/java/postgresql.jar", "/usr/share/java/postgresql-42.jar")
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pgparley" / "compat"

_BOTH = ("question", "nl.ask bound", "follow-up", "transaction", "error", "cursor", "batch", "5th execution")
JDBC = [*_BOTH, "describe", "escape processing", "lost ?", "simple protocol"]
NODE = [*_BOTH, "pipeline"]


@functools.cache
def _jdbc() -> list[str]:
    """The command that runs the compiled program."""
    jar = next((jar for jar in _JARS if Path(jar).exists()), None)
    javac, java = shutil.which("javac"), shutil.which("java")
    if jar is None or javac is None or java is None:
        pytest.skip("no pgjdbc on this machine: install default-jdk-headless and libpostgresql-jdbc-java")
    folder = tempfile.mkdtemp(prefix="jdbc-")
    done = run(javac, "-cp", jar, "-d", folder, str(_PROGRAMS / "Matrix.java"))
    assert done.returncode == 0, done.stderr
    return [java, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{jar}:{folder}", "Matrix"]


@functools.cache
def _node() -> list[str]:
    """The command that runs the program, next to an installed node-pg."""
    node = shutil.which("node")
    folder = _CACHE / "node"
    if node is None:
        pytest.skip("no node on this machine: install nodejs and npm")
    if not (folder / "node_modules" / "pg").is_dir():
        pytest.skip(
            "no node-pg on this machine: npm install --prefix ~/.cache/pgparley/compat/node pg (make compat does)"
        )
    shutil.copy(_PROGRAMS / "matrix.js", folder / "matrix.js")
    return [node, str(folder / "matrix.js")]


@functools.cache
def _outcomes(kind: str, port: int) -> dict[str, tuple[str, str]]:
    done = run(*_COMMANDS[kind](), "127.0.0.1", str(port), USER, DATABASE, "all")
    assert done.returncode == 0, done.stderr
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    return {name: (outcome, detail) for name, outcome, detail in lines}


def _case(kind: str, name: str) -> Case:
    def case(ends: Ends) -> None:
        outcome, detail = _outcomes(kind, ends.gateway)[name]
        assert outcome == "ok", detail

    return case


def _plain(kind: str) -> Case:
    def case(ends: Ends) -> None:
        command = _COMMANDS[kind]()
        through, direct = (
            run(*command, "127.0.0.1", str(port), USER, DATABASE, "plain")
            for port in (ends.gateway, ends.direct)
        )
        assert through.returncode == 0, through.stderr
        same(through.stdout, direct.stdout)

    return case


_COMMANDS = {"jdbc": _jdbc, "node": _node}
CASES: dict[str, dict[str, Case]] = {
    "pgjdbc": {"plain SQL": _plain("jdbc"), **{name: _case("jdbc", name) for name in JDBC}},
    "node-pg": {"plain SQL": _plain("node"), **{name: _case("node", name) for name in NODE}},
}
