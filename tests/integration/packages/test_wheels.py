"""The wheels as somebody installs them: the gateway alone is small and relays, the trained models come apart."""

from __future__ import annotations

import json
import shutil
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pgparley import cluster
from tests.conftest import ROOT
from tests.support.installed import Installed

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

MOST = 100 << 20
"""Bytes that a gateway's libraries may take on the disk."""


@pytest.fixture(scope="module")
def installed(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    folder = tmp_path_factory.mktemp("gateway")
    yield Installed.by(sys.executable, folder, wheels["pgparley"])
    shutil.rmtree(folder)


def test_the_gateways_wheel_has_the_compiled_relay_and_no_weights(wheels: dict[str, Path]) -> None:
    assert wheels["pgparley"].name.split("-")[2:4] == ["cp311", "abi3"]
    names = zipfile.ZipFile(wheels["pgparley"]).namelist()
    assert {"proxy/net/_pump.abi3.so", "proxy/protocol/_scan.abi3.so"} <= set(names)
    assert not [name for name in names if name.endswith(("npz", "manifest.json"))]
    assert "schema_catalog/sql/0001_databases.sql" in names
    assert "pgparley/demo/data/sales/orders.csv" in names
    assert "engine/llm/prompts/generate_user.txt" in names
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


@pytest.mark.parametrize("command", ["serve", "catalog", "store", "check"])
def test_every_command_explains_itself_there(installed: Installed, command: str) -> None:
    assert "Usage" in installed.run("pgparley", command, "--help").stdout


def test_what_is_not_installed_is_named(installed: Installed) -> None:
    refused = installed.run("pgparley", "serve", check=False)
    assert refused.returncode == 1
    assert "pip install 'pgparley[" in refused.stderr
    checked = json.loads(installed.run("pgparley", "check", "--json", check=False).stdout)
    (libraries,) = [each for each in checked["findings"] if each["check"] == "engine's libraries"]
    assert "pip install 'pgparley[engine]'" in libraries["action"]


def test_what_is_installed_beside_it_is_plugged_in(installed: Installed, wheels: dict[str, Path]) -> None:
    read = ("pgparley", "catalog", "import", "absent.yml", "--from", "dbt", "--database", "d")
    looked = ("pgparley", "check", "model")
    for command, extra in ((read, "dbt"), (looked, "local")):
        done = installed.run(*command, check=False)
        assert f"pip install 'pgparley[{extra}]'" in done.stdout + done.stderr
    options = ("--constraint", str(ROOT / "constraints.txt"), "--find-links", str(wheels["pgparley"].parent))
    installed.run("pip", "--quiet", "install", *options, "pgparley[dbt,local]")
    assert "cannot read absent.yml" in installed.run(*read, check=False).stderr
    assert "model's libraries" not in installed.run(*looked, check=False).stdout


@pytest.mark.parametrize("compiled", [True, False])
def test_a_gateway_alone_relays(installed: Installed, upstream: cluster.Cluster, compiled: bool) -> None:  # noqa: FBT001
    """Last: it takes the compiled modules away, and the gateway goes on with its Python versions."""
    if not compiled:
        for module in installed.libraries.glob("proxy/*/*.so"):
            module.unlink()
    assert installed.compiled is compiled
    assert installed.relays(f"{upstream.socket_dir}:{upstream.port}") == 20_000
