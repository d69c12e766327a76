"""Which databases train the schema linker, which set the slopes of its log-odds, and which say how close is doubtful.

The parts are by database, so that a figure of one is of schemas that the others never saw.
"""

from __future__ import annotations

from enum import StrEnum

from benchmarks.harness.drawing import share

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
    place = share(f"{_SALT}:{database}")
    if place < _PROBES:
        return Part.PROBES
    return Part.CALIBRATION if place < _CALIBRATION else Part.LINKER
