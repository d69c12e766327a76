"""What a deadline that passes while rows are compared does to an answer: it is told, and asked back for nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.ask.decide import decide
from engine.judge.model import Judgement, Weights
from engine.judge.run import run
from engine.values.candidate import Candidate
from engine.values.deadline import Deadline
from engine.values.ports import Result
from engine.values.settings import Limits
from engine.values.state import State
from engine.values.tools import Tools
from tests.support.asking import asked, route, tools

QUESTION = "names of singers"
SINGER = ("public", "singer")
NARROW, WIDE = "SELECT artist_name FROM singer", "SELECT artist_name, country FROM singer"
CANDIDATES = tuple(
    Candidate(
        "music", sql, frozenset({SINGER}), frozenset((*SINGER, name) for name in names), 1.0, confidence=0.45
    )
    for sql, names in ((NARROW, ["artist_name"]), (WIDE, ["artist_name", "country"]))
)
AS_OFTEN_AS_IT_CAN = Weights({}, {}, {"potential": 1.0})
TOLD = [f"{WIDE}; perhaps: {NARROW}"]


class Loaded:
    """A server at which each statement takes its seconds, by a clock of its own. `rows`: of each."""

    def __init__(self, *seconds: float, rows: tuple[str, str] = ("Ann", "Ann")) -> None:
        self.now = 0.0
        self._seconds, self._rows = dict(zip((NARROW, WIDE), seconds, strict=True)), rows

    def clock(self) -> float:
        return self.now

    async def run(self, _database: object, _asker: object, sql: str, _rows: int, until: Deadline) -> Result:
        self.now += self._seconds[sql]
        until.remaining()
        row = self._rows[sql == WIDE]
        return Result((("artist_name", "text"),), ((row,), ("Bob",)), truncated=False)


def under(server: Loaded) -> tuple[State, Tools]:
    """A question that has a thousand seconds, ten of them for running."""
    whole = Deadline(1000.0, server.clock)
    state = replace(asked(QUESTION, route(QUESTION)), candidates=CANDIDATES, considered=CANDIDATES)
    loaded: Any = server
    return replace(state, deadline=whole), replace(
        tools(""),
        upstream=loaded,
        limits=Limits(run_seconds=10.0),
        judgement=Judgement(AS_OFTEN_AS_IT_CAN, AS_OFTEN_AS_IT_CAN),
    )


@pytest.mark.parametrize(
    ("server", "left", "told", "asks"),
    [
        (Loaded(1, 1), [NARROW], [], False),
        (Loaded(1, 1, rows=("Ann", "Eve")), [NARROW, WIDE], [], True),
        # Whichever it is: the rows of both would have to be known.
        (Loaded(11, 11), [NARROW, WIDE], TOLD, False),
        (Loaded(1, 10), [NARROW, WIDE], TOLD, False),
        (Loaded(11, 0), [NARROW, WIDE], TOLD, False),
    ],
)
async def test_what_was_not_compared_in_time_is_told_and_nothing_is_asked_for_it(
    server: Loaded, left: list[str], told: list[str], *, asks: bool
) -> None:
    state, given = under(server)
    done = await decide(await run(state, given), given)
    assert [each.sql for each in done.candidates] == left
    assert [line.detail for line in done.trace if line.event == "not compared in time"] == told
    assert (done.dialogue.pending is not None) is asks
    assert not done.late
