"""The wheels, built once, and a server for what is installed of them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pgparley import cluster
from tests.conftest import ROOT, Postgres

SOURCES = ("engine", "packages", "page", "pgparley", "proxy", "schema_catalog")
FILES = ("LICENSE", "NOTICE", "README.md", "pyproject.toml", "setup.py")


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """All wheels by the name of their package, built from a copy of the sources."""
    copy, out = tmp_path_factory.mktemp("sources"), tmp_path_factory.mktemp("wheels")
    for name in SOURCES:
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, copy / name)
    command = [sys.executable, "-m", "pip", "--quiet", "wheel", "--no-deps", "--wheel-dir", str(out)]
    packages = [f"./packages/{each.name}" for each in (copy / "packages").iterdir()]
    subprocess.run([*command, ".", *packages], cwd=copy, check=True)  # noqa: S603
    shutil.rmtree(copy)
    return {path.name.split("-")[0]: path for path in out.glob("*.whl")}


@pytest.fixture(scope="session")
def upstream(postgres: Postgres) -> Iterator[cluster.Cluster]:
    with postgres("wheels") as running:
        yield running
