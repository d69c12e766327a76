"""Small trained models that come with the program: a folder with `manifest.json` and `weights.npz`, checked."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.values.errors import PackagedError

T = TypeVar("T")

Arrays: TypeAlias = Mapping[str, NDArray[Any]]

MANIFEST, WEIGHTS = "manifest.json", "weights.npz"


@dataclass(frozen=True, slots=True)
class Manifest:
    """The description of a model. `format`: version of its arrays' meaning. `encoder`: the sentence encoder under it.

    `figures`: of questions held out of the training. `created`: ISO 8601, UTC. `command`: the one that made it.
    """

    name: str
    format: int
    encoder: str
    created: str
    command: str
    questions: int
    minutes: float
    figures: dict[str, float] = field(default_factory=dict)
    weights_sha256: str = ""


@dataclass(frozen=True, slots=True)
class Packaged:
    """A manifest and its arrays."""

    manifest: Manifest
    arrays: Arrays


def read(folder: Path, name: str, version: int) -> Packaged:
    """The model called `name` of the format `version`; raises `PackagedError`."""
    try:
        manifest = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
        content = (folder / WEIGHTS).read_bytes()
    except (OSError, msgspec.DecodeError) as problem:
        raise PackagedError(
            f"{folder} cannot be read: {problem}; pip install 'pgparley[engine]'"
        ) from problem
    if (manifest.name, manifest.format) != (name, version):
        found = f"{manifest.name} of format {manifest.format}"
        raise PackagedError(f"{folder} holds {found}, not {name} of format {version}; install pgparley again")
    if hashlib.sha256(content).hexdigest() != manifest.weights_sha256:
        raise PackagedError(f"{folder / WEIGHTS} is damaged; install pgparley again")
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return Packaged(manifest, {key: arrays[key] for key in arrays.files})


def under(prefix: str, arrays: Mapping[str, T]) -> dict[str, T]:
    """The arrays called `<prefix>.<name>`, by name."""
    start = f"{prefix}."
    return {name.removeprefix(start): value for name, value in arrays.items() if name.startswith(start)}


def fill(module: Any, arrays: Arrays) -> None:
    """Puts arrays, called as a module of torch calls its weights, into it; raises `PackagedError`."""
    import torch  # noqa: PLC0415  heavy: loaded with the first question

    try:
        module.load_state_dict(
            {name: torch.from_numpy(np.array(array, np.float32)) for name, array in arrays.items()}
        )
    except RuntimeError as problem:
        raise PackagedError("the trained weights do not fit the sentence encoder") from problem
