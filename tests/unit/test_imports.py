"""Imports point one way, and a gateway worker stays light."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

BELOW = {
    "schema_catalog": {"schema_catalog"},
    "engine": {"engine", "schema_catalog"},
    "proxy": {"proxy", "engine"},
    "pgparley": {"pgparley", "proxy", "engine", "schema_catalog"},
}
"""Package → packages of ours that it may import."""

PURE = {"asyncio", "socket", "ssl", "time", "logging", "structlog", "uvloop", "aiohttp", "select", "os"}
"""What nothing below proxy/protocol may import."""

LIGHT = ["torch", "sentence_transformers", "llama_cpp", "pglast", "sqlglot", "asyncpg", "numpy", "openai"]
"""Libraries that a gateway worker must not load."""


def imported(file: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module)
    return names


@pytest.mark.parametrize("package", BELOW)
def test_imports_point_one_way(package: str) -> None:
    files = sorted((ROOT / package).rglob("*.py"))
    assert files
    for file in files:
        ours = {name.split(".")[0] for name in imported(file)} & set(BELOW)
        assert ours <= BELOW[package], file


def test_the_protocol_does_no_io() -> None:
    files = sorted((ROOT / "proxy" / "protocol").rglob("*.py"))
    assert files
    for file in files:
        assert not {name.split(".")[0] for name in imported(file)} & PURE, file


def test_models_are_imported_by_engine_models_alone() -> None:
    for package in BELOW:
        for file in (ROOT / package).rglob("*.py"):
            if file.is_relative_to(ROOT / "engine" / "models"):
                continue
            assert not {n.split(".")[0] for n in imported(file)} & {"torch", "sentence_transformers"}, file


@pytest.mark.parametrize("module", ["proxy.server", "pgparley.processes"])
def test_a_gateway_worker_loads_no_engine_library(module: str) -> None:
    code = f"import sys, {module}; print(' '.join(name for name in {LIGHT} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)  # noqa: S603
    assert done.stdout.split() == []
