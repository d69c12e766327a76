"""The check_values stage: invented values are told, and a statement of nothing else counts as fruitless."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, cast

from engine.core.candidate import Candidate
from engine.core.ports import Result
from engine.core.state import State
from engine.settings import Limits
from engine.stages.check_values import check_values
from tests.support.asking import PlanningUpstream, asked, route, tools

FRENCH = Candidate("music", "SELECT artist_name FROM singer WHERE country = 'France'")
INVENTED = Candidate("music", "SELECT artist_name FROM singer WHERE country = 'Oz'")
BOTH = Candidate("music", "SELECT artist_name FROM singer WHERE country IN ('France', 'Oz')")


class Holding(PlanningUpstream):
    """Holds France alone."""

    async def run(self, _database: object, _asker: object, sql: str, *_: object) -> Result:
        """Whether each text occurs."""
        row = tuple("t" if "'France'" in part else "f" for part in sql.split("EXISTS")[1:])
        return Result(tuple(("exists", "boolean") for _ in row), (row,), truncated=False)


def checked(*candidates: Candidate, limits: Limits | None = None) -> State:
    to = route("singers from France")
    state = replace(asked("singers from France", to), candidates=candidates)
    given = replace(tools("", cast("Any", Holding())), limits=limits or Limits())
    return asyncio.run(check_values(state, given))


def test_what_does_not_occur_is_told() -> None:
    done = checked(FRENCH, INVENTED, BOTH)
    assert [[each.text for each in candidate.missing] for candidate in done.candidates] == [
        [],
        ["Oz"],
        ["Oz"],
    ]
    assert [candidate.fruitless for candidate in done.candidates] == [False, True, False]
    assert [line.event for line in done.trace] == ["country 'Oz' does not occur"] * 2


def test_nothing_runs_where_candidates_may_not() -> None:
    done = checked(INVENTED, limits=Limits(run_candidates=False))
    assert done.candidates == (INVENTED,)
