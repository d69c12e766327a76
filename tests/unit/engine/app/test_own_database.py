"""Which databases are asked: the asker's own, those whose allowed values are named, and when none is.

The router is the real one on an encoder of words; what the databases hold is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

import pytest

from benchmarks.harness.without import NoValues
from engine.ask.policy import abstention
from engine.question.question import Question
from engine.route.places import AT_HOME
from engine.route.route import reweigh, route
from engine.route.router import HybridRouter
from engine.route.second_look import CONNECTED_PRIOR, LOOKED_AT
from engine.values.deadline import Deadline
from engine.values.dialogue import Dialogue
from engine.values.elements import Entity, Relation, UnknownPhrase, ValueLink
from engine.values.messages import Asker, AskRequest
from engine.values.ports import LanguageModel, Upstream
from engine.values.refusal import Refusal, RefusalReason
from engine.values.settings import GenerationSettings, Strategy
from engine.values.state import Route, State
from engine.values.tools import RouteWeights, Tools
from schema_catalog.catalog import StoreUnavailableError
from schema_catalog.types import Database, Snapshot
from tests.support.catalogs import FakeCatalog, FakeUpstream, entry, table
from tests.support.scripted import WordEncoder
from tests.support.tools import bare_tools

Entry = tuple[Database, Snapshot]

MUSIC = entry("music", table("singer", "name", "birth"), table("concert", "stadium"))
SHOP = entry("shop", table("customer", "customer_id", "name"), table("purchase", "price", "quantity"))
ZOO = entry("zoo", table("animal", "species", "weight"), table("cage", "area"))
ALL = (MUSIC, SHOP, ZOO)

FAR = "Who is our best salesperson?"
"""No word of it stands in any schema, and the encoder finds nothing like it."""

READINGS, SEARCH = Strategy.READINGS, Strategy.SEARCH
ANIMALS = "species and weight of each animal by cage area"
NO_STATEMENT = Refusal(RefusalReason.NOT_ANSWERABLE, "There is no such thing", ("Ask about what there is",))


class Held(NoValues):
    """Databases of which a value may be named, each with the spans that are, for who may see it."""

    def __init__(self, spans: Mapping[str, Sequence[str]], *, broken: bool = False) -> None:
        self._spans = spans
        self._broken = broken
        self.looked: list[str] = []

    async def holding(self, _question: Question, databases: Sequence[str]) -> tuple[str, ...]:
        if self._broken:
            raise StoreUnavailableError("down")
        return tuple(each for each in databases if each in self._spans)

    async def links(self, _question: Question, route: Route, _upstream: Upstream) -> tuple[ValueLink, ...]:
        self.looked.append(route.database.name)
        column = ("public", "t", "c")
        spans = self._spans[route.database.name]
        return tuple(ValueLink(span, column, (span,), 1.0, Relation.EQUALS) for span in spans)


def tools(
    entries: Sequence[Entry] = ALL,
    strategy: Strategy = SEARCH,
    held: Held | None = None,
    hidden: set[object] | None = None,
) -> Tools:
    catalog, words = FakeCatalog(tuple(entries)), WordEncoder()
    upstream = cast("Upstream", FakeUpstream(catalog, hidden or set()))
    given = (catalog, upstream, words, cast("LanguageModel", None), HybridRouter(words))
    settings = GenerationSettings(strategy=strategy)
    return bare_tools(*given, generation=settings, values=held or NoValues(), second_look=RouteWeights())


def asked(question: str, dbname: str = "elsewhere", last: str | None = None) -> State:
    request = AskRequest(Asker("ann", dbname), question)
    state = State(request, Question(request.question), 3, 6, Deadline(110.0, lambda: 100.0), 100.0)
    return replace(state, dialogue=Dialogue(database=last))


async def routed(state: State, given: Tools) -> State:
    state = replace(state, strategy=given.strategy)
    return await reweigh(await route(state, given), given)


def names(state: State) -> list[str]:
    return [each.database.name for each in state.routes]


@pytest.mark.parametrize("strategy", [READINGS, SEARCH])
@pytest.mark.parametrize("own", ["music", "shop", "zoo"])
async def test_the_connected_database_is_asked_whatever_the_words(strategy: Strategy, own: str) -> None:
    state = await route(replace(asked(FAR, own), strategy=strategy), tools(strategy=strategy))
    assert (names(state), state.far, state.refusal) == ([own], True, None)


async def test_where_the_asker_is_at_home_in_none_only_a_model_that_may_say_no_is_asked() -> None:
    state = await routed(asked(FAR), tools(strategy=READINGS))
    assert len(names(state)) == len(ALL)
    assert not any(line.event == "nothing stands for" for line in state.trace)
    many = [entry(f"d{n}", table(f"thing{n}", "word")) for n in range(9)]
    assert len(names(await routed(asked(FAR), tools(many, READINGS)))) == LOOKED_AT
    state = await routed(asked(FAR), tools(strategy=SEARCH))
    assert names(state) == []
    assert abstention(state).words == "No database that you may read seems to hold this"
    assert [line.detail for line in state.trace if line.event == "nothing stands for"]
    state = await route(asked(FAR, "music"), tools(hidden={"music"}))
    assert names(state) == []


@pytest.mark.parametrize("known", [True, False])
async def test_a_small_model_is_spared_what_nothing_stands_for(*, known: bool) -> None:
    given = tools()
    state = await route(asked(FAR, "music"), given)
    entity = Entity("salesperson", {})
    unknown = () if known else (UnknownPhrase("salesperson", None, 0.1),)
    found = replace(state.routes[0], entities=(entity,), unknown=unknown)
    done = await reweigh(replace(state, routes=(found,)), given)
    assert (done.refusal is None) is known
    if done.refusal is not None:
        assert done.refusal.words.startswith("Nothing in music is about “salesperson”")
    strong = await reweigh(replace(state, routes=(found,), strategy=READINGS), given)
    assert strong.refusal is None, "the model says so itself"


async def test_of_a_question_without_a_word_of_its_own_the_refusal_names_the_database() -> None:
    given = tools()
    state = await route(asked("How is it?", "zoo"), given)
    done = await reweigh(replace(state, far=True), given)
    assert done.refusal is not None
    assert done.refusal.words == "Nothing in zoo seems to hold this"


async def test_another_database_is_asked_only_where_it_is_far_stronger() -> None:
    given = tools(strategy=READINGS)
    looked = await route(asked(ANIMALS, "music"), given)
    other, own = (next(each for each in looked.routes if each.database.name == n) for n in ("zoo", "music"))
    far = replace(other, probability=0.9999), replace(own, probability=0.0001)
    some = replace(other, probability=0.95), replace(own, probability=0.05)
    assert names(await reweigh(replace(looked, routes=far), given)) == ["zoo", "music"]
    done = await reweigh(replace(looked, routes=some), given)
    assert (names(done), done.closer) == (["music"], "zoo")
    little = replace(other, probability=0.4), replace(own, probability=0.6)
    assert (await reweigh(replace(looked, routes=little), given)).closer is None
    assert CONNECTED_PRIOR > 1


async def test_a_refusal_names_the_database_that_seems_closer_first() -> None:
    state = replace(asked(ANIMALS, "music"), closer="my zoo")
    refusal = state.refused(NO_STATEMENT, "write").refusal
    assert refusal is not None
    assert refusal.explanation == (
        'There is no such thing. Database "my zoo" seems to fit better: ask it with NL (db "my zoo"): ….'
    )
    assert refusal.next == f'NL (db "my zoo"): $${ANIMALS}$$'
    assert refusal.helps[1:] == NO_STATEMENT.helps
    dollar = replace(state, question=Question("cost in $$?")).refused(NO_STATEMENT, "")
    assert dollar.refusal is not None
    assert dollar.refusal.next == "NL HELP"
    routes = (await route(asked(ANIMALS), tools())).routes
    assert abstention(replace(state, routes=routes)).helps[0] == refusal.helps[0]


@pytest.mark.parametrize("strategy", [READINGS, SEARCH])
async def test_what_names_allowed_values_is_near_connected_or_not(strategy: Strategy) -> None:
    for dbname in ("elsewhere", "shop"):
        given = tools(strategy=strategy, held=Held({"zoo": ["Petra Quist"]}))
        state = await route(asked("When did Petra Quist start?", dbname), given)
        assert set(names(state)) == {"zoo"} | ({"shop"} if dbname == "shop" else set())
        assert not state.far
        assert "values Petra Quist" in next(line.detail for line in state.trace if line.event == "database")


async def test_values_not_to_be_seen_bring_nothing_near_and_without_the_store_names_decide() -> None:
    state = await route(asked(FAR), tools(held=Held({"zoo": []})))
    assert names(state) == []
    unread = Held({"zoo": ["Petra Quist"]})
    state = await route(asked("When did Petra Quist start?"), tools(held=unread, hidden={"zoo"}))
    assert (names(state), unread.looked) == ([], [])
    held = Held({"zoo": ["Petra Quist"]}, broken=True)
    assert names(await route(asked(ANIMALS), tools(held=held)))[0] == "zoo"


async def test_what_holds_a_value_is_looked_at_however_unlikely_its_schema() -> None:
    many = [entry(f"music{n}", table("singer", "name", "birth")) for n in range(80)]
    held = Held({"zoo": ["Bo"]})
    state = await route(asked("singers with the name Bo by birth"), tools([*many, ZOO], held=held))
    assert "zoo" in names(state)
    assert held.looked == ["zoo"]


async def test_the_own_database_is_a_route_beyond_what_the_router_ranks_and_a_name_for_the_whole_catalog_is_none() -> (
    None
):
    many = [entry(f"music{n}", table("singer", "name", "birth")) for n in range(80)]
    state = await route(asked("singers by birth", "zoo"), tools([*many, ZOO]))
    assert next(each for each in state.routes if each.home).database.name == "zoo"
    many = [entry(f"music{n}", table("singer", "name"), dbname="all") for n in range(AT_HOME + 1)]
    assert not any(each.home for each in (await route(asked("singers", "all"), tools(many))).routes)


@pytest.mark.parametrize("strategy", [READINGS, SEARCH])
async def test_the_database_of_the_last_answer_is_a_route(strategy: Strategy) -> None:
    waiting = "How long have they been waiting?"
    state = await route(asked(waiting, last="zoo"), tools(strategy=strategy))
    assert names(state) == ["zoo"]
    both = await route(asked(waiting, "music", last="zoo"), tools(strategy=strategy))
    assert set(names(both)) == {"music", "zoo"}
    hidden = await route(asked(waiting, last="zoo"), tools(strategy=SEARCH, hidden={"zoo"}))
    assert names(hidden) == []
