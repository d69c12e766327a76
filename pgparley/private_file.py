"""Files of ours that nobody but their owner reads."""

from __future__ import annotations

from pathlib import Path


def private(file: Path) -> Path:
    """`file`, made where it is not there, and closed to all others whatever it was before."""
    file.touch(mode=0o600)
    file.chmod(0o600)
    return file
