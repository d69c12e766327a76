"""Where the trained models are: beside the code, or in the package that holds nothing else."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from engine.values import shipped

ROOT = Path(__file__).parents[4]
MODELS = ROOT / "packages" / "pgparley-models"


def test_a_checkout_has_them_beside_the_code() -> None:
    assert shipped.root() == ROOT / "engine"
    assert (shipped.shipped("models/ranker_base") / "weights.npz").is_file()


def test_an_installation_has_them_in_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pgparley_models").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(shipped, "ENGINE", tmp_path / "engine")
    assert shipped.shipped("models/ranker_base") == tmp_path / "pgparley_models" / "models" / "ranker_base"


def test_without_either_the_folder_does_not_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "ENGINE", tmp_path / "engine")
    assert not shipped.shipped("models/ranker_base").exists()


def test_the_package_holds_every_model_at_its_place() -> None:
    package = tomllib.loads((MODELS / "pyproject.toml").read_text("utf-8"))
    taken = package["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    folders = {path.parent.relative_to(ROOT / "engine") for path in (ROOT / "engine").rglob("manifest.json")}
    assert {Path(place).relative_to("pgparley_models") for place in taken.values()} - {
        Path("LICENSE"),
        Path("NOTICE"),
    } == folders
    assert all((MODELS / source).exists() for source in taken)
