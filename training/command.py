"""What the commands of training share: their options, and writing an artifact with how it was made."""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import sys
import time
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from benchmarks.harness.command import told_command
from benchmarks.harness.machine import ROOT
from engine.models.packaged import MANIFEST, WEIGHTS, Arrays, Manifest


def parser(description: str | None, *, seed: int = 1) -> argparse.ArgumentParser:
    """A parser of --bench, --out and --seed."""
    made = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    shared = ROOT.parent / "shared" / "bench"
    made.add_argument("--bench", type=Path, default=shared, help="the data's folder")
    made.add_argument("--out", type=Path, help="what is made: a folder of weights, or a file")
    made.add_argument("--seed", type=int, default=seed)
    return made


class Making:
    """An artifact being made, from now on: `module` makes it, `name` and `format` are its manifest's."""

    def __init__(self, module: str, name: str, format_: int) -> None:
        self._module, self._name, self._format = module, name, format_
        self._started = time.monotonic()

    def manifest(self, questions: int) -> Manifest:
        """How it was made, of so many questions."""
        return Manifest(
            name=self._name,
            format=self._format,
            encoder="all-MiniLM-L6-v2",
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            command=told_command(self._module, sys.argv[1:]),
            questions=questions,
            minutes=round((time.monotonic() - self._started) / 60, 1),
            figures={},
        )


def write(folder: Path, manifest: Manifest, arrays: Arrays) -> Manifest:
    """Writes both files of an artifact, the same for the same arrays; returns the manifest as written."""
    folder.mkdir(parents=True, exist_ok=True)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in sorted(arrays):
            entry = zipfile.ZipInfo(f"{name}.npy")  # dated 1980: no clock in the bytes
            entry.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(entry, "w") as member:
                np.lib.format.write_array(member, np.asarray(arrays[name], order="C"), allow_pickle=False)
    content = buffer.getvalue()
    manifest = replace(manifest, weights_sha256=hashlib.sha256(content).hexdigest())
    (folder / WEIGHTS).write_bytes(content)
    (folder / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(manifest)) + b"\n")
    return manifest


def written(folder: Path | None, manifest: Manifest, arrays: Arrays) -> None:
    """Writes an artifact where a folder is given, and prints its figures."""
    made = manifest if folder is None else write(folder, manifest, arrays)
    print(json.dumps(made.figures, indent=1), flush=True)


def told(report: Mapping[str, Any], out: Path | None) -> None:
    """Prints weights and figures as JSON, and writes them where a file is given."""
    text = json.dumps(report, indent=2) + "\n"
    print(text, end="", flush=True)
    if out is not None:
        out.write_text(text, encoding="utf-8")
