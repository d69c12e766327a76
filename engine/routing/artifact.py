"""Trained routers on disk: versions side by side, complete or absent; switching is one rename.

<folder>/current                    the name of the current version
<folder>/<version>/manifest.json    what it was trained on, how, and how good it is
<folder>/<version>/weights.npz      its arrays
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

if TYPE_CHECKING:
    from numpy.typing import NDArray

Arrays: TypeAlias = "Mapping[str, NDArray[Any]]"

FORMAT = 2
"""Of the manifest and the arrays; versions of another format are not read."""

BASE = "base"
"""The name of the version that comes with the program."""

_POINTER, _MANIFEST, _WEIGHTS = "current", "manifest.json", "weights.npz"


class ArtifactError(Exception):
    """A version cannot be used; the message names it and what to do."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """A version's origin and quality.

    `encoder`: its sentence encoder. `parent`: the version its training started from. `schemas`: database → fingerprint
    of the schema. `questions`: how many. `figures`: of held-out questions. `weights_sha256`: of the arrays' file.
    `created`: ISO 8601, UTC. `command`: that made it.
    """

    version: str
    encoder: str
    created: str
    command: str
    parent: str | None = None
    schemas: dict[str, str] = field(default_factory=dict)
    questions: int = 0
    minutes: float = 0.0
    figures: dict[str, float] = field(default_factory=dict)
    weights_sha256: str = ""
    format: int = FORMAT


@dataclass(frozen=True, slots=True)
class Artifact:
    """A version with its arrays."""

    manifest: Manifest
    arrays: Arrays


class ArtifactStore:
    """The versions in `folder`, which need not exist yet; `base`: the folder of the one that comes along."""

    def __init__(self, folder: Path, base: Path) -> None:
        self._folder = folder
        self._base = base

    def versions(self) -> tuple[Manifest, ...]:
        """The manifests, the base's first, then oldest first; raises `ArtifactError` where one cannot be read."""
        names = [entry.name for entry in self._folder.iterdir()] if self._folder.is_dir() else []
        found = [self.manifest(BASE)] if (self._base / _MANIFEST).is_file() else []
        found += [self.manifest(name) for name in names if (self._folder / name / _MANIFEST).is_file()]
        return tuple(sorted(found, key=lambda manifest: (manifest.version != BASE, manifest.created)))

    def current(self) -> str:
        """The name of the version in use; the base's where none was chosen."""
        try:
            return (self._folder / _POINTER).read_text(encoding="utf-8").strip() or BASE
        except FileNotFoundError:
            return BASE

    def mark(self) -> tuple[int, int]:
        """(inode, mtime in ns) of the pointer: changes when another version is made current."""
        try:
            found = (self._folder / _POINTER).stat()
        except OSError:
            return (0, 0)
        return (found.st_ino, found.st_mtime_ns)

    def manifest(self, version: str) -> Manifest:
        """A version's manifest; raises `ArtifactError` where it is absent, unreadable or of another format."""
        file = self._place(version) / _MANIFEST
        try:
            manifest = msgspec.json.decode(file.read_bytes(), type=Manifest)
        except FileNotFoundError:
            raise ArtifactError(
                f'there is no router version "{version}"; `pgparley router status` lists them'
            ) from None
        except (OSError, msgspec.DecodeError) as problem:
            raise ArtifactError(f"{file} cannot be read: {problem}; choose another version") from problem
        if manifest.format != FORMAT:
            raise ArtifactError(
                f"router version {version} was made by another pgparley; run `pgparley router train`"
            )
        return manifest

    def load(self, version: str) -> Artifact:
        """The version with its arrays; raises `ArtifactError`, also where the file's digest is wrong."""
        import numpy as np  # noqa: PLC0415  commands that only name versions do without

        manifest = self.manifest(version)
        file = self._place(version) / _WEIGHTS
        try:
            content = file.read_bytes()
            if hashlib.sha256(content).hexdigest() != manifest.weights_sha256:
                raise ArtifactError(
                    f"{file} is damaged; go back with `pgparley router rollback` or train again"
                )
            with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
                return Artifact(manifest, {name: arrays[name] for name in arrays.files})
        except (OSError, ValueError, zipfile.BadZipFile) as problem:
            raise ArtifactError(f"{file} cannot be read: {problem}; choose another version") from problem

    def save(self, manifest: Manifest, arrays: Arrays) -> Manifest:
        """Writes a new version, whole or not at all; returns its manifest. Raises `ArtifactError` where it exists."""
        self._folder.mkdir(parents=True, exist_ok=True)
        place = self._folder / manifest.version
        if place.exists() or manifest.version in {BASE, _POINTER}:
            raise ArtifactError(f"router version {manifest.version} exists already")
        making = Path(tempfile.mkdtemp(dir=self._folder, prefix=".making-"))
        try:
            written = write(making, manifest, arrays)
            making.rename(place)
        except BaseException:
            shutil.rmtree(making, ignore_errors=True)
            raise
        return written

    def use(self, version: str) -> None:
        """Reads a version and makes it current; raises `ArtifactError`."""
        self.load(version)
        self._folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self._folder, prefix=".current-")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(version + "\n")
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(self._folder / _POINTER)

    def rollback(self) -> str:
        """Makes the current version's parent current and returns its name; raises `ArtifactError` at the base."""
        parent = self.manifest(self.current()).parent
        if parent is None:
            raise ArtifactError(
                "the current router is the one that comes with pgparley: nothing came before it"
            )
        self.use(parent)
        return parent

    def _place(self, version: str) -> Path:
        if version == BASE:
            return self._base
        if not version or version != Path(version).name or version.startswith("."):
            raise ArtifactError(f'"{version}" is no version\'s name; `pgparley router status` lists them')
        return self._folder / version


class CurrentWeights:
    """The digest of the current weights, "" where the version cannot be read; read again only after a switch."""

    def __init__(self, store: ArtifactStore) -> None:
        self._store = store
        self._mark: tuple[int, int] | None = None
        self._digest = ""

    def __call__(self) -> str:
        """SHA-256 (hex), from the manifest."""
        mark = self._store.mark()
        if mark != self._mark:
            try:
                self._digest = self._store.manifest(self._store.current()).weights_sha256
            except ArtifactError:
                self._digest = ""
            self._mark = mark
        return self._digest


def write(place: Path, manifest: Manifest, arrays: Arrays) -> Manifest:
    """Writes a version's two files into an existing folder; the same arrays give the same bytes."""
    from engine.models.packaged import archived  # noqa: PLC0415  numpy, as above

    content = archived(arrays)
    manifest = replace(manifest, weights_sha256=hashlib.sha256(content).hexdigest())
    (place / _WEIGHTS).write_bytes(content)
    (place / _MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(manifest)) + b"\n")
    return manifest
