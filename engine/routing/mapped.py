"""Large arrays in files that are mapped, not read: engines on one machine share one copy, which the system can drop.

A file is named by what it holds, so that it is never stale. Losing it costs time alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import structlog
from numpy.typing import NDArray

from engine.errors import for_log

LEAST = 16 << 20
"""Bytes of an array that a file is made for; a smaller one is not worth one."""

KEPT_S = 7 * 86_400.0
"""Seconds that a file is kept which no engine has opened. Who has it mapped keeps it beyond."""

_SUFFIX = ".npy"

_LOG = structlog.get_logger()

Scalar = TypeVar("Scalar", np.float32, np.int8)


def stacked(arrays: Sequence[NDArray[Scalar]], folder: Path | None) -> NDArray[Scalar]:
    """The arrays, at least one, one after the other; mapped from a file of `folder` where that is worth it.

    In memory where there is no folder, or nothing can be written into it.
    """
    if folder is None or sum(each.nbytes for each in arrays) < LEAST:
        return np.concatenate(arrays)
    try:
        return _mapped(arrays, folder)
    except OSError as error:
        _LOG.warning("index_not_mapped", folder=str(folder), error=for_log(error))
        return np.concatenate(arrays)


def _mapped(arrays: Sequence[NDArray[Scalar]], folder: Path) -> NDArray[Scalar]:
    shape = (sum(len(each) for each in arrays), *arrays[0].shape[1:])
    digest = hashlib.blake2b(f"{arrays[0].dtype} {shape}".encode(), digest_size=20)
    for each in arrays:
        digest.update(np.ascontiguousarray(each).data)
    path = folder / f"{digest.hexdigest()}{_SUFFIX}"
    if path.exists():
        os.utime(path)
    else:
        _tidy(folder)
        _write(arrays, shape, path)
    # The plain array: slices of a `memmap` cost ten times as much.
    found: NDArray[Scalar] = np.asarray(np.load(path, mmap_mode="r"))
    return found


def _write(arrays: Sequence[NDArray[Scalar]], shape: tuple[int, ...], path: Path) -> None:
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        try:
            header = {"descr": arrays[0].dtype.str, "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_2_0(file, header)
            for each in arrays:
                file.write(np.ascontiguousarray(each).data)
            file.flush()
            os.fsync(file.fileno())
            Path(file.name).replace(path)
        except BaseException:
            Path(file.name).unlink()
            raise


def _tidy(folder: Path) -> None:
    """Removes what no engine has opened for long."""
    oldest = time.time() - KEPT_S
    for path in folder.iterdir() if folder.is_dir() else ():
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_mtime < oldest:
                path.unlink()
