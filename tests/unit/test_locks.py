"""requirements/*.txt hold what is installed, in the versions of constraints.txt, each with the hashes of its files."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, requires

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT

FOLDER = ROOT / "requirements"


def plugged() -> list[str]:
    """What the packages need that plug into the program."""
    files = (ROOT / "packages").glob("*/pyproject.toml")
    needed = (tomllib.loads(file.read_text("utf-8"))["project"].get("dependencies", ()) for file in files)
    return [each for names in needed for each in names if Requirement(each).name != "pgparley"]


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
WANTED = {
    "gateway": PROJECT["dependencies"],
    "engine": [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["engine-libraries"], *plugged()],
}

locks = pytest.mark.parametrize("lock", WANTED)


def pinned(text: str) -> dict[str, str]:
    """Name → version of each line `name==version`."""
    return {
        canonicalize_name(name): version
        for name, version in re.findall(r"^([\w.-]+)==([\w.+]+)", text, re.MULTILINE)
    }


def read(lock: str) -> str:
    return (FOLDER / f"{lock}.txt").read_text("utf-8")


@locks
def test_every_version_is_the_tested_one(lock: str) -> None:
    tested = pinned((ROOT / "constraints.txt").read_text("utf-8"))
    found = pinned(read(lock))
    assert {name: version for name, version in found.items() if tested.get(name, version) != version} == {}
    wanted = {canonicalize_name(Requirement(line).name) for line in WANTED[lock]}
    assert wanted <= set(found) & set(tested)


@locks
def test_every_version_has_hashes(lock: str) -> None:
    entries = re.split(r"^(?=[\w.-]+==)", read(lock), flags=re.MULTILINE)[1:]
    assert len(entries) == len(pinned(read(lock)))
    assert all("--hash=sha256:" in entry for entry in entries)


@locks
def test_what_they_depend_on_is_there(lock: str) -> None:
    """As the installed libraries say it of themselves."""
    found = pinned(read(lock))
    checked = 0
    for name in found:
        try:
            needed = [Requirement(line) for line in requires(name) or ()]
        except PackageNotFoundError:
            continue  # of another platform, or of another build of torch
        checked += 1
        missing = [
            each.name
            for each in needed
            if (each.marker is None or each.marker.evaluate({"extra": ""}))
            and canonicalize_name(each.name) not in found
        ]
        assert missing == [], name
    assert checked >= len(WANTED[lock])
