"""The wheels as somebody installs them: the gateway alone is small and relays, the trained models come apart."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from pgparley import cluster
from tests.conftest import ROOT, free_port

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

MOST = 100 << 20
"""Bytes that a gateway's libraries may take on the disk."""


@dataclass(frozen=True, slots=True)
class Installed:
    """A virtual environment with the gateway alone."""

    folder: Path

    @property
    def libraries(self) -> Path:
        (found,) = self.folder.glob("lib/python*/site-packages")
        return found

    def run(self, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Runs a program of the environment in a folder without the sources."""
        words = [str(self.folder / "bin" / command[0]), *command[1:]]
        return subprocess.run(words, cwd=self.folder, check=check, capture_output=True, text=True)  # noqa: S603


@pytest.fixture(scope="module")
def installed(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("gateway")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)  # noqa: S603
    found = Installed(folder)
    constraints = str(ROOT / "constraints.txt")
    found.run("pip", "--quiet", "install", "--constraint", constraints, str(wheels["pgparley"]))
    return found


def test_the_gateways_wheel_has_the_compiled_relay_and_no_weights(wheels: dict[str, Path]) -> None:
    assert wheels["pgparley"].name.split("-")[2:4] == ["cp311", "abi3"]
    names = zipfile.ZipFile(wheels["pgparley"]).namelist()
    assert {"proxy/net/_pump.abi3.so", "proxy/protocol/_scan.abi3.so"} <= set(names)
    assert not [name for name in names if name.endswith(("npz", "manifest.json"))]
    assert "schema_catalog/sql/0001_catalog.sql" in names
    assert "engine/prompting/prompts/generate_user.txt" in names
    assert {"page/templates/base.html", "page/static/page.css", "page/static/icon.svg"} <= set(names)


def test_the_models_wheel_has_every_weight(wheels: dict[str, Path]) -> None:
    names = set(zipfile.ZipFile(wheels["pgparley_models"]).namelist())
    weights = {
        path.relative_to(ROOT / "engine").as_posix() for path in (ROOT / "engine").rglob("weights.npz")
    }
    assert {f"pgparley_models/{name}" for name in weights} <= names
    assert {"pgparley_models/LICENSE", "pgparley_models/NOTICE"} <= names


def test_a_gateway_alone_is_small(installed: Installed) -> None:
    listed = json.loads(installed.run("pip", "list", "--format=json").stdout)
    names = {package["name"].lower() for package in listed}
    assert "pgparley" in names
    assert names.isdisjoint({"torch", "numpy", "sentence-transformers", "pglast", "openai", "xllamacpp"})
    ours = [
        file
        for file in installed.libraries.rglob("*")
        if file.is_file() and file.relative_to(installed.libraries).parts[0] not in {"pip", "setuptools"}
    ]
    assert sum(file.stat().st_size for file in ours) < MOST


@pytest.mark.parametrize("command", ["serve", "catalog", "store", "router", "check"])
def test_every_command_explains_itself_there(installed: Installed, command: str) -> None:
    assert "Usage" in installed.run("pgparley", command, "--help").stdout


def test_what_is_not_installed_is_named(installed: Installed) -> None:
    refused = installed.run("pgparley", "serve", check=False)
    assert refused.returncode == 1
    assert "pip install 'pgparley[" in refused.stderr
    checked = json.loads(installed.run("pgparley", "check", "--json", check=False).stdout)
    (libraries,) = [each for each in checked["findings"] if each["check"] == "engine's libraries"]
    assert "pip install 'pgparley[engine]'" in libraries["action"]


@pytest.mark.parametrize("compiled", [True, False])
def test_a_gateway_alone_relays(installed: Installed, upstream: cluster.Cluster, compiled: bool) -> None:  # noqa: FBT001
    """Last: it takes the compiled modules away, and the gateway goes on with its Python versions."""
    if not compiled:
        for module in installed.libraries.glob("proxy/*/*.so"):
            module.unlink()
    asked = installed.run("python", "-c", "from proxy.protocol import fast; print(fast.COMPILED)")
    assert asked.stdout.strip() == str(compiled)
    port = free_port()
    settings = ["--yes", "--force", "--server", f"{upstream.socket_dir}:{upstream.port}"]
    installed.run("pgparley", "init", *settings, "--listen", f"127.0.0.1:{port}")
    command = [str(installed.folder / "bin" / "pgparley"), "serve", "gateway"]
    process = subprocess.Popen(command, cwd=installed.folder)  # noqa: S603 - our own program
    try:
        with _connected(port) as session:
            rows = session.execute(
                "SELECT g, repeat('x', 100) FROM generate_series(1, 20000) AS g"
            ).fetchall()
            assert len(rows) == 20000
            with pytest.raises(psycopg.OperationalError) as refused:
                session.execute("NL: How many are there?")
            assert refused.value.sqlstate == "58000"
    finally:
        process.terminate()
        assert process.wait(30) == 0


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
