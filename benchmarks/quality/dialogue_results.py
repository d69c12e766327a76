"""The results file of the dialogue's benchmarks: several commands write it, each its own parts of it.

    {"linking": {...}, "dialogue": {...}, "abstention": {...}, "summary": {...}}

Owns the layout and the merging. What the parts hold is their commands' matter.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

SUMMARY = "summary"


class Part(StrEnum):
    """A part of the file."""

    LINKING = "linking"
    DIALOGUE = "dialogue"
    ABSTENTION = "abstention"


def write_parts(
    file: Path, parts: Mapping[Part, Mapping[str, Any]], summary: Mapping[str, float | None]
) -> None:
    """Replaces these parts and these keys of the summary in `file`, which may not be there yet; the rest stays.

    Raises `ValueError` where `file` holds anything but a JSON object. The file is replaced in one step.
    """
    whole = _read(file)
    whole |= {part.value: dict(content) for part, content in parts.items()}
    whole[SUMMARY] = dict(sorted((whole.get(SUMMARY, {}) | dict(summary)).items()))
    ordered = {key: whole[key] for key in (*Part, SUMMARY) if key in whole}
    file.parent.mkdir(parents=True, exist_ok=True)
    written = file.with_name(f"{file.name}.new")
    written.write_text(json.dumps(ordered | whole, indent=1) + "\n", encoding="utf-8")
    written.replace(file)


def _read(file: Path) -> dict[str, Any]:
    try:
        return msgspec.json.decode(file.read_bytes(), type=dict[str, Any])
    except FileNotFoundError:
        return {}
    except msgspec.DecodeError as problem:
        raise ValueError(f"{file}: {problem}; remove it or restore it from the repository") from problem
