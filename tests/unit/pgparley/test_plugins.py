"""What plugs into the program: packages of its version, named by its extras, and said where they are missing."""

from __future__ import annotations

import tomllib
from importlib.metadata import EntryPoints
from pathlib import Path

import pytest

from pgparley import plugins
from pgparley.catalog_commands import catalog_app
from pgparley.check.finding import Outcome
from pgparley.check.parts import check_embedded
from pgparley.cli import app
from pgparley.config import load
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
    unknown = run(*command, option, "else")
    monkeypatch.setattr(plugins, "entry_points", lambda group: EntryPoints())  # noqa: ARG005
    missing = run(*command, option, "osi")
    for refused in (unknown, missing):
        assert refused.exit_code == 2
        assert "For dbt and osi run: pip install 'pgparley[dbt]'" in refused.output


def test_an_embedded_model_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "entry_points", lambda group: EntryPoints())  # noqa: ARG005
    monkeypatch.setenv("PGPARLEY_EMBEDDED_MODEL_PATH", str(tmp_path / "model.gguf"))
    refused = runner(app)("fetch-model")
    assert refused.exit_code == 1
    (found, _) = check_embedded(load(None))
    assert found.outcome is Outcome.PROBLEM
    for said in (refused.output, found.action):
        assert "pip install 'pgparley[local]'" in said
        assert "base_url in [model]" in said
