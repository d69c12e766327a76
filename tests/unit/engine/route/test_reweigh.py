"""The second look: what linking found moves the routes' probabilities, and three go on at most."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.route.route import reweigh
from engine.route.second_look import packaged, reweighed
from engine.values.elements import Relation, ValueLink
from engine.values.state import Route, State
from engine.values.tools import RouteWeights, Tools
from tests.support.asking import asked, route
from tests.support.tools import bare_tools

QUESTION = "singers from Norway"
NORWAY = ValueLink("Norway", ("public", "singer", "country"), ("Norway",), 1.0, Relation.EQUALS)


def routed(*probabilities: float) -> State:
    to = route(QUESTION)
    routes = [
        replace(to, database=replace(to.database, name=f"music_{number}"), probability=probability)
        for number, probability in enumerate(probabilities)
    ]
    return replace(asked(QUESTION, to), routes=tuple(routes))


def tools(weights: RouteWeights) -> Tools:
    return bare_tools(second_look=weights)


def changed(state: State, place: int, **found: object) -> State:
    routes = list(state.routes)
    routes[place] = replace(routes[place], **found)  # type: ignore[arg-type]  # names of fields
    return replace(state, routes=tuple(routes))


def names(routes: tuple[Route, ...]) -> list[str]:
    return [each.database.name for each in routes]


async def test_the_database_that_holds_a_named_value_comes_first() -> None:
    state = changed(routed(0.5, 0.4, 0.1), 1, values=(NORWAY,))
    done = await reweigh(state, tools(packaged()))
    assert names(done.routes)[0] == "music_1"
    assert sum(each.probability for each in done.routes) <= 1.0
    assert "music_1: 40% before; named" in next(
        line.detail for line in done.trace if line.event == "database"
    )


async def test_what_every_database_holds_changes_nothing() -> None:
    state = routed(0.5, 0.4)
    state = changed(changed(state, 0, values=(NORWAY,)), 1, values=(NORWAY,))
    plain, named = (reweighed(each.routes, packaged()) for each in (routed(0.5, 0.4), state))
    assert [each.probability for each in named] == pytest.approx([each.probability for each in plain])


async def test_three_go_on_at_most_no_improbable_one_and_the_rest_is_named() -> None:
    done = await reweigh(routed(0.3, 0.25, 0.2, 0.15, 0.1), tools(RouteWeights()))
    assert names(done.routes) == ["music_0", "music_1", "music_2"]
    assert next(line.detail for line in done.trace if line.event == "left out") == "music_3, music_4"
    done = await reweigh(routed(0.98, 0.01), tools(RouteWeights()))
    assert names(done.routes) == ["music_0"]
