"""What plugs into the program: packages of its version, named by its extras, and said where they are missing."""

from __future__ import annotations

import tomllib
from importlib.metadata import EntryPoints
from pathlib import Path

import pytest

from pgparley import plugins
from pgparley.catalog_commands import catalog_app
from tests.conftest import ROOT
from tests.support.commands import runner

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
VERSION = PROJECT["version"]


@pytest.mark.parametrize(
    "file", sorted(ROOT.glob("packages/*/pyproject.toml")), ids=lambda file: file.parent.name
)
def test_every_package_has_the_programs_version_and_an_extra(file: Path) -> None:
    package = tomllib.loads(file.read_text("utf-8"))["project"]
    assert package["version"] == VERSION
    extras = [each for extra in PROJECT["optional-dependencies"].values() for each in extra]
    assert f"{package['name']}=={VERSION}" in extras
    plugged = "entry-points" in package
    assert (f"pgparley=={VERSION}" in package.get("dependencies", ())) is plugged


@pytest.mark.parametrize("option", ["--from", "--to"])
def test_an_importer_that_is_missing_is_named(option: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = runner(catalog_app(lambda: "postgresql://nowhere.invalid"))
    command = {"--from": ("import", "schema.yml"), "--to": ("export",)}[option]
    assert "There are: dbt, osi" in run(*command, option, "else").output
    monkeypatch.setattr(plugins, "entry_points", lambda group: EntryPoints())  # noqa: ARG005
    refused = run(*command, option, "osi")
    assert refused.exit_code == 2
    assert "Run: pip install 'pgparley[dbt]'" in refused.output
