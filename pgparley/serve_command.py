"""`pgparley serve [PART]`: which processes it starts, and whether what they need is installed.

Owns the choice alone; `pgparley.serve` supervises, `pgparley.processes` runs.
"""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from pathlib import Path

from pgparley import processes
from pgparley.config import Config
from pgparley.processes import PartKind
from pgparley.serve import parts, serve, workers

_LIBRARIES = {PartKind.ENGINE: ("engine", "pglast"), PartKind.MODEL: ("local", "xllamacpp")}
"""Part → the extra that brings its libraries, and one of them that nothing else brings."""


class MissingExtraError(Exception):
    """A part cannot start because its libraries are not installed. `hint`: what to do."""

    def __init__(self, part: PartKind, extra: str) -> None:
        super().__init__(f"the {part}'s libraries are not installed")
        self.hint = f"Run: pip install 'pgparley[{extra}]'. The gateway alone is: pgparley serve gateway"


def serve_parts(config: Config, file: Path | None, part: PartKind | None) -> None:
    """Runs `part`, or everything, until told to end; raises `MissingExtraError` before anything has started."""
    everything = parts(config)
    needed = {each.kind for each in everything} if part is None else {part}
    for kind, (extra, library) in _LIBRARIES.items():
        if kind in needed and find_spec(library) is None:
            raise MissingExtraError(kind, extra)
    match part:
        case None:
            asyncio.run(serve(config, file, everything))
        case PartKind.GATEWAY:
            asyncio.run(serve(config, file, workers(config)))
        case PartKind.ENGINE:
            processes.engine(config)
        case PartKind.MODEL:
            processes.model(config)
