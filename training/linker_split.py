"""Which databases train the schema linker, which its branching probes, and which calibrate these.

The parts are by database, so that a figure of one is of schemas that the others never saw.
"""

from __future__ import annotations

import hashlib
from enum import StrEnum

_SALT = "linker"
_PROBES, _CALIBRATION = 0.15, 0.30
"""Upper ends of the shares of hashes; the rest trains the linker."""


class Part(StrEnum):
    """A part of the training databases."""

    LINKER = "linker"
    PROBES = "probes"
    CALIBRATION = "calibration"


def part_of(database: str) -> Part:
    """The part that a training database is in, by a hash of its name."""
    digest = hashlib.sha256(f"{_SALT}:{database}".encode()).digest()
    share = int.from_bytes(digest[:8]) / 2**64
    if share < _PROBES:
        return Part.PROBES
    return Part.CALIBRATION if share < _CALIBRATION else Part.LINKER
