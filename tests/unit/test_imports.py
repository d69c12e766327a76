"""Imports point one way and in no circle, a gateway worker stays light, and files stay short."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Collection
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

BELOW = {
    "schema_catalog": {"schema_catalog"},
    "page": {"page", "schema_catalog"},
    "engine": {"engine", "schema_catalog"},
    "proxy": {"proxy", "engine"},
    "pgparley": {"pgparley", "page", "proxy", "engine", "schema_catalog"},
}
"""Package of the product → packages of ours that it may import."""

PLUGGED = {name: {name, *BELOW} for name in ("pgparley_dbt", "pgparley_local")}
"""The same of what plugs into the product, below packages/."""

BESIDE = {
    "benchmarks": {"benchmarks", *BELOW},
    "training": {"training", "benchmarks", "pgparley_local", *BELOW},
}
"""The same of what measures the product and makes its weights, which are no part of it."""

ROOMS = [
    *("question", "values", "guard", "statement", "upstream", "llm", "link", "route", "models"),
    *("findings", "write", "learn", "judge", "ask", "app"),
]
"""The rooms of the engine, the lowest first: each imports from those before it alone."""

PURE = {"asyncio", "socket", "ssl", "time", "logging", "structlog", "uvloop", "aiohttp", "select", "os"}
"""What nothing below proxy/protocol may import."""

LIGHT = [
    "torch",
    "sentence_transformers",
    "xllamacpp",
    "llguidance",
    "pglast",
    "sqlglot",
    "asyncpg",
    "numpy",
    "openai",
]
"""Libraries that a gateway worker must not load."""


PATTERNS = 40
"""Regular expressions of the engine outside of the room that reads questions, at most."""

FORMATS = "redaction.py"
"""Whose expressions are the formats of e-mails, telephone numbers and accounts."""

LINES = 400
"""What a file of the product may have."""


def folder(package: str) -> Path:
    """Where the modules of a package are."""
    above = ROOT / "packages" / package.replace("_", "-") if package in PLUGGED else ROOT
    return above / package


def modules() -> dict[str, Path]:
    """Every module of ours, stubs of compiled ones included."""
    return {
        ".".join(file.relative_to(place.parent).with_suffix("").parts).removesuffix(".__init__"): file
        for place in map(folder, (*BELOW, *PLUGGED, *BESIDE))
        for file in place.rglob("*.py*")
        if file.suffix in (".py", ".pyi")
    }


def imports_of(file: Path, known: Collection[str]) -> set[str]:
    """The modules of `known` that `file` imports anywhere, under TYPE_CHECKING and in functions too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} imports relatively"
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            # A package is imported for itself only where what is taken from it is no module.
            found |= {name if name in known else str(node.module) for name in names}
    return found & set(known)


def imported(file: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module)
    return names


@pytest.mark.parametrize("package", [*BELOW, *PLUGGED, *BESIDE])
def test_imports_point_one_way(package: str) -> None:
    allowed = BELOW | PLUGGED | BESIDE
    files = sorted(folder(package).rglob("*.py"))
    assert files
    for file in files:
        ours = {name.split(".")[0] for name in imported(file)} & set(allowed)
        assert ours <= allowed[package], file


def test_the_protocol_does_no_io() -> None:
    files = sorted((ROOT / "proxy" / "protocol").rglob("*.py"))
    assert files
    for file in files:
        assert not {name.split(".")[0] for name in imported(file)} & PURE, file


def test_models_are_imported_by_engine_models_alone() -> None:
    for package in (*BELOW, *PLUGGED):
        for file in folder(package).rglob("*.py"):
            if file.is_relative_to(ROOT / "engine" / "models"):
                continue
            assert not {n.split(".")[0] for n in imported(file)} & {"torch", "sentence_transformers"}, file


def test_no_imports_go_in_a_circle() -> None:
    known = modules()
    graph = {name: imports_of(file, known) - {name} for name, file in known.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as circle:
        pytest.fail(" imports ".join(reversed(circle.args[1])))


def test_the_engines_rooms_are_a_ladder() -> None:
    folders = {
        path.name for path in (ROOT / "engine").iterdir() if path.is_dir() and path.name != "__pycache__"
    }
    assert folders == set(ROOMS)
    for floor, room in enumerate(ROOMS):
        for file in (ROOT / "engine" / room).rglob("*.py"):
            rooms = {name.split(".")[1] for name in imported(file) if name.startswith("engine.")}
            assert rooms <= set(ROOMS[: floor + 1]), file


def test_english_is_read_in_one_room() -> None:
    elsewhere = [file for room in ROOMS[1:] for file in (ROOT / "engine" / room).rglob("*.py")]
    counted = (file.read_text("utf-8").count("re.compile(") for file in elsewhere if file.name != FORMATS)
    assert sum(counted) <= PATTERNS


def test_files_are_short() -> None:
    long = {
        str(file.relative_to(ROOT))
        for name, file in modules().items()
        if name.split(".")[0] not in BESIDE and len(file.read_text(encoding="utf-8").splitlines()) > LINES
    }
    assert long == set()


@pytest.mark.parametrize("module", ["proxy.server", "pgparley.processes"])
def test_a_gateway_worker_loads_no_engine_library(module: str) -> None:
    code = f"import sys, {module}; print(' '.join(name for name in {LIGHT} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)  # noqa: S603
    assert done.stdout.split() == []


def test_the_command_line_starts_without_the_engines_libraries() -> None:
    libraries = [name for name in LIGHT if name != "asyncpg"]
    code = f"import sys, pgparley.cli; print(' '.join(name for name in {libraries} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)  # noqa: S603
    assert done.stdout.split() == []
