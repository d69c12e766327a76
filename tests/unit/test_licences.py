"""NOTICE names every folder of weights that is shipped, what it was trained on, and every library that is asked for."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

import pytest

from tests.unit.test_locks import plugged

ROOT = Path(__file__).parents[2]
NOTICE = (ROOT / "NOTICE").read_text("utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
SHIPPED = sorted(path.parent for path in (ROOT / "engine").rglob("manifest.json"))
RUN_WITH = ("engine-libraries", "demo-data", "tracing")
"""The extras whose libraries a user runs; the others serve whoever works on the program."""


def libraries() -> list[str]:
    extras = PROJECT["optional-dependencies"]
    wanted = [*PROJECT["dependencies"], *(name for extra in RUN_WITH for name in extras[extra]), *plugged()]
    return sorted({re.split(r"[\[<>=~ ]", requirement)[0] for requirement in wanted})


@pytest.mark.parametrize("folder", SHIPPED, ids=lambda folder: str(folder.relative_to(ROOT)))
def test_weights_are_named_with_what_they_were_trained_on(folder: Path) -> None:
    assert re.search(rf"^{folder.relative_to(ROOT).as_posix()} ", NOTICE, re.MULTILINE)
    readme = (folder / "README.md").read_text("utf-8")
    (licences,) = re.findall(r"^\| licences \| (.+) \|$", readme, re.MULTILINE)
    for name, _, licence in (each.strip().partition(": ") for each in licences.split(";")):
        assert name.split()[0].removesuffix("'s") in NOTICE
        assert licence in NOTICE


@pytest.mark.parametrize("library", libraries())
def test_libraries_are_named_with_their_licence(library: str) -> None:
    assert re.search(rf"^  {re.escape(library)} +\S", NOTICE, re.MULTILINE)


LOCKED = sorted(
    re.findall(r"^([\w.-]+)==", (ROOT / "requirements" / "engine.txt").read_text("utf-8"), re.MULTILINE)
)
"""Everything that gateway and engine install, directly or not."""

FAMILIES = {
    "AGPL": r"\bAGPL|Affero",
    "LGPL": r"\bLGPL|Lesser General",
    "GPL": r"\bGPL|(?<!Lesser )(?<!Affero )General Public",
    "MPL": r"\bMPL|Mozilla Public",
    "Apache": r"\bApache",
    "MIT": r"\bMIT\b",
    "BSD": r"\bBSD",
    "PSF": r"\bPSF|Python Software Foundation",
    "ISC": r"\bISC\b",
    "CNRI": r"\bCNRI",
    "NVIDIA": r"NVIDIA",
}
RESTRICTIVE = {"AGPL", "LGPL", "GPL", "MPL", "NVIDIA"}
"""Those that ask something of who passes copies on, beyond naming their authors."""


def families(text: str) -> set[str]:
    return {name for name, pattern in FAMILIES.items() if re.search(pattern, text)}


def stated(library: str) -> set[str]:
    """The families that the installed library says it is under; none where it is not installed, or says none."""
    try:
        about = metadata(library)
    except PackageNotFoundError:
        return set()
    classified = [line for line in about.get_all("Classifier") or () if line.startswith("License ::")]
    return families(" ".join([about.get("License-Expression") or "", *classified])) or families(
        (about.get("License") or "").partition("\n")[0]
    )


def noticed(library: str) -> set[str]:
    """The families of its line in NOTICE."""
    name = "nvidia-*" if library.startswith("nvidia-") else library
    lines = re.findall(rf"^  {re.escape(name)} +(\S.*)$", NOTICE, re.MULTILINE | re.IGNORECASE)
    assert lines, library
    return families(lines[0].partition(";")[0])


@pytest.mark.parametrize("library", LOCKED)
def test_notice_says_of_all_libraries_what_they_say_themselves(library: str) -> None:
    known = noticed(library.replace("huggingface-hub", "huggingface_hub"))
    assert known
    said = stated(library)
    assert said <= known if said & RESTRICTIVE else not said or said & known


def test_nothing_but_pglast_is_under_the_gpl() -> None:
    under = {library for library in LOCKED if stated(library) & {"AGPL", "LGPL", "GPL"}}
    assert under == {"pglast"}
    gateway = (ROOT / "requirements" / "gateway.txt").read_text("utf-8")
    assert not re.search(r"^(pglast|tqdm|nvidia-|cuda-)", gateway, re.MULTILINE)


def test_the_packages_bring_their_licence_and_the_security_policy_leads_to_what_holds() -> None:
    assert PROJECT["license"] == "Apache-2.0"
    for name in PROJECT["license-files"]:
        assert (ROOT / name).is_file()
    assert "Version 2.0, January 2004" in (ROOT / "LICENSE").read_text("utf-8")
    text = (ROOT / "SECURITY.md").read_text("utf-8")
    for path in re.findall(r"\]\((\S+?)\)", text):
        assert (ROOT / path).is_file()
    assert "docs/security.md" in text
