"""The route stage: privileges first, then scores, then what is said about them.

The upstream and the catalog are fakes, since this is about the stage; the router is the real one on an
encoder that gives equal words equal vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.question.question import Question
from engine.route.route import reweigh, route
from engine.route.router import HybridRouter
from engine.route.second_look import CONNECTED_PRIOR, reweighed
from engine.values.deadline import Deadline
from engine.values.errors import CancelledError, ModelUnavailableError, NLError, NoRouteError
from engine.values.messages import Asker, AskRequest
from engine.values.ports import LanguageModel, Upstream
from engine.values.settings import GenerationSettings, Strategy
from engine.values.state import State
from engine.values.tools import RouteWeights, Tools
from schema_catalog.catalog import StoreUnavailableError
from schema_catalog.types import Database, Snapshot
from tests.support.catalogs import FakeCatalog, FakeUpstream, entry, table
from tests.support.scripted import WordEncoder
from tests.support.tools import bare_tools


class Seeing(WordEncoder):
    """Remembers the texts that it was given."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.seen += texts
        return super().encode(texts)


def tools(
    *entries: tuple[Database, Snapshot],
    hidden: set[object] | None = None,
    unreachable: set[str] | None = None,
    failure: Exception | None = None,
    encoder: Seeing | None = None,
    readings: bool = False,
    values: object | None = None,
) -> Tools:
    """`readings`: the model may say that it cannot. `values`: those that are stored; None holds none."""
    catalog = FakeCatalog(entries, failure)
    words = encoder or Seeing()
    upstream = FakeUpstream(catalog, hidden or set(), unreachable or set())
    strategy = Strategy.READINGS if readings else Strategy.SEARCH
    held = {} if values is None else {"values": values}
    return bare_tools(
        catalog,
        cast("Upstream", upstream),
        words,
        cast("LanguageModel", None),
        HybridRouter(words),
        generation=GenerationSettings(strategy=strategy),
        **held,
    )


def asked(question: str, *, db: str | None = None, dbname: str = "elsewhere", left: float = 10.0) -> State:
    request = AskRequest(Asker("ann", dbname), question, db=db)
    deadline = Deadline(at=100.0 + left, clock=lambda: 100.0)
    return State(request, Question(question), k=3, calls=6, deadline=deadline, started=100.0)


MUSIC = entry(
    "music", table("singer", "singer_id", "name", "birthYear"), table("concert", "concert_id", "stadium")
)
SHOP = entry(
    "shop", table("customer", "customer_id", "name"), table("order_item", "order_id", "price", "quantity")
)
ZOO = entry("zoo", table("animal", "species", "weight"), table("cage", "area"))


def names(state: State) -> list[str]:
    return [found.database.name for found in state.routes]


def said(state: State, event: str) -> str:
    return "; ".join(line.detail for line in state.trace if line.event == event)


async def test_the_database_that_has_the_words_comes_first() -> None:
    state = await route(asked("How many singers were born in each birth year?"), tools(MUSIC, SHOP, ZOO))
    assert names(state)[0] == "music"
    assert state.routes[0].tables[0] == ("public", "singer")
    assert set(state.routes[0].tables) == {("public", "singer"), ("public", "concert")}
    assert state.routes[0].probability == max(found.probability for found in state.routes)
    assert 0.9 < sum(found.probability for found in state.routes) <= 1.000001
    assert "singer" in said(state, "database")
    assert "3 databases" in said(state, "considered")


async def test_at_most_five_and_the_rest_is_named_as_left_out() -> None:
    twins = [entry(f"copy_{n}", table("singer", "name")) for n in range(7)]
    state = await route(asked("names of singers"), tools(*twins))
    assert len(names(state)) == 5
    left_out = said(state, "left out").split(", ")
    assert {*names(state), *left_out} == {twin[0].name for twin in twins}
    assert len(left_out) == 2
    assert "name one with NL (db …)" in said(state, "same schema")


async def test_the_connected_database_is_preferred_by_its_prior_and_no_more() -> None:
    one, two = (entry("music", table("singer", "name"), dbname=dbname) for dbname in ("first", "second"))
    one, two = (replace(one[0], name="a"), one[1]), (replace(two[0], name="b"), two[1])
    neutral = await route(asked("names of singers"), tools(one, two))
    assert names(neutral) == ["a", "b"]
    here = await route(asked("names of singers", dbname="second"), tools(one, two))
    assert [each.home for each in here.routes] == [False, True]
    assert "you are connected to it" in said(here, "database")
    looked = reweighed(here.routes, RouteWeights())
    odds = looked[0].probability / looked[1].probability
    assert (looked[0].home, odds) == (True, pytest.approx(np.exp(CONNECTED_PRIOR)))
    assert names(await reweigh(here, tools(one, two))) == ["b"]


async def test_what_the_asker_may_not_read_is_neither_scored_nor_encoded_nor_named() -> None:
    encoder = Seeing()
    hidden = {"music", ("shop", "order_item"), ("zoo", "animal", "species")}
    state = await route(
        asked("price and quantity of singers by species"),
        tools(MUSIC, SHOP, ZOO, hidden=hidden, encoder=encoder),
    )
    assert "music" not in names(state)
    trace = [line for line in state.trace if line.event != "nothing stands for"]  # the question's own words
    everything = f"{trace} {state.routes} {encoder.seen}"
    for secret in ("singer_id", "concert", "stadium", "order_item", "quantity'", "species'"):
        assert secret not in everything
    shop = await route(asked("names of customers", db="shop"), tools(MUSIC, SHOP, ZOO, hidden=hidden))
    assert [found.name for found in shop.routes[0].snapshot.tables] == ["customer"]


async def test_hidden_schemas_do_not_move_the_scores_of_the_others() -> None:
    with_hidden = await route(asked("names of customers"), tools(SHOP, ZOO, MUSIC, hidden={"music"}))
    without = await route(asked("names of customers"), tools(SHOP, ZOO))
    assert [found.probability for found in with_hidden.routes] == [
        found.probability for found in without.routes
    ]


@pytest.mark.parametrize("db", ["nowhere", "music"])
async def test_an_unknown_and_a_hidden_database_look_the_same(db: str) -> None:
    with pytest.raises(NoRouteError) as caught:
        await route(asked("How many singers?", db=db), tools(MUSIC, SHOP, ZOO, hidden={"music"}))
    assert caught.value.sqlstate == "NL003"
    assert caught.value.message == f'database "{db}" is not among those you may ask'
    assert caught.value.hint == 'You may ask: "shop", "zoo".'


@pytest.mark.parametrize(
    ("given", "left", "error", "hint"),
    [
        (tools(), 10.0, NoRouteError, "pgparley catalog add"),
        (tools(MUSIC, hidden={"music"}), 10.0, NoRouteError, "grant SELECT to ann"),
        (tools(failure=StoreUnavailableError("down")), 10.0, ModelUnavailableError, ""),
        (tools(MUSIC), 0.0, CancelledError, ""),
    ],
    ids=["nothing registered", "nothing readable", "no store", "out of time"],
)
async def test_where_there_is_nothing_to_ask(
    given: Tools, left: float, error: type[NLError], hint: str
) -> None:
    with pytest.raises(error) as caught:
        await route(asked("How many singers?", left=left), given)
    assert hint in str(caught.value.hint)
    assert "music" not in f"{caught.value.message} {caught.value.detail} {caught.value.hint}"


@pytest.mark.parametrize(
    ("question", "own"),
    [
        ("売上の合計は?", entry("own", table("売上", "金額"))),
        ("Wie viele Straßen?", entry("own", table("Straßen", "Größe"))),
    ],
)
async def test_other_scripts(question: str, own: tuple[Database, Snapshot]) -> None:
    assert names(await route(asked(question), tools(own, ZOO, MUSIC)))[0] == "own"


async def test_a_question_that_nothing_matches_has_no_route() -> None:
    state = await route(asked("Boil eggs softly"), tools(MUSIC, SHOP, ZOO))
    assert state.routes == ()
    assert "no table or column" in said(state, "nothing matches")
    assert [line.detail for line in state.trace if line.event == "nothing stands for"] == [
        "boil",
        "egg",
        "softly",
    ]


async def test_a_database_that_does_not_answer_costs_itself_alone_and_is_not_named() -> None:
    state = await route(asked("How many singers?"), tools(MUSIC, SHOP, unreachable={"shop"}))
    assert names(state) == ["music"]
    assert said(state, "unreachable") == "1 databases did not answer"
    assert "shop" not in str(state.trace)


async def test_a_changed_schema_costs_its_own_part_alone() -> None:
    encoder = Seeing()
    known = tools(MUSIC, SHOP, encoder=encoder)
    await route(asked("How many singers?"), known)
    encoder.seen.clear()
    await route(asked("How many customers?"), known)
    assert encoder.seen == []
    changed = entry("shop", table("customer", "customer_id", "nickname"))
    cast("FakeCatalog", known.catalog).held = (MUSIC, changed)
    state = await route(asked("nickname of customers"), known)
    assert names(state)[0] == "shop"
    assert encoder.seen
    assert not any("singer" in text for text in encoder.seen)
