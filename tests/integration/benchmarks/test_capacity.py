"""A short day with faults: what clients are told, and that no answer is lost or another's."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from benchmarks.capacity.day import ENGINE_KILLED, MODEL_DEAD, NONE, STORE_RESTARTED, day
from benchmarks.capacity.stack import serving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

TOLD = {"58000", "57014", "ConnectionDoesNotExistError"}
"""An engine, a store or a model that is away; a question that ran out of time; a session that was cut off."""


def test_nothing_is_lost_or_anothers_while_things_break(tmp_path: Path) -> None:
    with serving(tmp_path, connections=100, waiting=400, seconds=0.05) as stack:
        made = asyncio.run(day(stack, 10, 70.0, 1.0, 0.05, full=False))
    assert sum(part.lost + part.anothers for part in made.parts) == 0
    assert {error for part in made.parts for error in part.errors} <= TOLD, [
        each.words for each in made.parts
    ]
    told = {part.fault: part for part in made.parts}
    assert told[ENGINE_KILLED].errors.keys() <= TOLD
    assert told[MODEL_DEAD].errors["58000"] > 0
    assert told[STORE_RESTARTED].answered > 0
    # The circuit to the model, which was dead, may still be open for a while.
    assert (made.parts[-1].fault, made.parts[-1].errors.keys() <= {"58000"}) == (NONE, True)
    assert made.parts[-1].answered > 5
