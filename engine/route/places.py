"""The databases that may answer a question: where the asker is at home, what names and what allowed values come near.

Owns which of them the second look chooses among; the scores are the router's, and what a question names the index's of
values. No value is looked for but in databases that are known to hold some of the question.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from engine.link.mentions import short_names
from engine.question.question import Question
from engine.route.second_look import LOOKED_AT, NAMED
from engine.values.elements import Relation
from engine.values.errors import NLError
from engine.values.ports import Match, Router, StatementError
from engine.values.state import Route, State
from engine.values.tools import Tools
from schema_catalog.catalog import StoreUnavailableError
from schema_catalog.types import Database, ReadableColumns, Snapshot

MIN_PROBABILITY = 0.005
"""Least probability of a database after the first."""

MIN_EVIDENCE = 0.25
"""Least cosine of the question and its closest table or column, where no word of it stands in the schema.

Of 767 fitting questions none is below 0.26 in its right database.
"""

HOLDERS, HELD = 8, 2
"""Databases that may hold what the question names and are looked into, and those that are routes for that alone."""

AT_HOME = 8
"""Databases at most that the asker may be at home in: where a name stands for more, it tells none of them."""

View = tuple[Database, Snapshot, ReadableColumns]
"""A database, its schema, and what the asker may read of it."""


@dataclass(frozen=True, slots=True)
class Place:
    """A database that may answer. `held`: what of the question names values of it that the asker may see."""

    database: Database
    match: Match
    home: bool
    held: tuple[str, ...] = ()


def at_home(state: State, views: Sequence[View]) -> frozenset[int]:
    """The positions of the databases that the asker is connected to, and of the dialogue's last answer's."""
    named = (each[0] for each in views)
    found = frozenset(
        position
        for position, database in enumerate(named)
        if database.dbname == state.ask.asker.dbname or database.name == state.dialogue.database
    )
    return found if len(found) <= AT_HOME else frozenset()


def ranked(question: Question, views: Sequence[View], home: frozenset[int], router: Router) -> list[Match]:
    """The router's matches, and those at home: of a large catalog it ranks the likeliest alone."""
    matches = list(router.rank(question, [each[1:] for each in views]))
    left = sorted(home - {each.position for each in matches})
    return [*matches, *_further(question, views, left, matches, router)]


def _further(
    question: Question, views: Sequence[View], left: Sequence[int], ranked: Sequence[Match], router: Router
) -> list[Match]:
    """The matches of the views in the positions `left`, as likely as the last of those that are `ranked`."""
    if not left or not ranked:
        return []
    least = min(each.logit for each in ranked)
    found = router.rank(question, [views[position][1:] for position in left])
    return [replace(each, position=left[each.position], logit=least) for each in found]


async def with_values(places: list[Place], views: Sequence[View], state: State, tools: Tools) -> list[Place]:
    """The places with what each holds of the question, and further ones that hold some of it."""
    question, known = state.question, {each.match.position: each for each in places}
    by_schema = frozenset(known)
    order = dict.fromkeys((*known, *range(len(views))))
    named = {views[position][0].name: position for position in order}
    with suppress(StoreUnavailableError):
        holding = [named[each] for each in (await tools.values.holding(question, [*named]))[:HOLDERS]]
        left = [position for position in holding if position not in known]
        ranked = [each.match for each in places]
        for match in await asyncio.to_thread(_further, question, views, left, ranked, tools.router):
            known[match.position] = Place(views[match.position][0], match, home=False)
        for position in holding:
            if position in known:
                known[position] = replace(known[position], held=await _held(known[position], state, tools))
    return [each for position, each in known.items() if each.held or position in by_schema]


async def _held(place: Place, state: State, tools: Tools) -> tuple[str, ...]:
    """What of the question names values that the asker may see."""
    with suppress(NLError, StatementError, StoreUnavailableError):
        within = Route(place.database, place.match.snapshot, 0.0, ())
        links = await tools.values.links(state.question, within, tools.upstream)
        sure = (each for each in links if each.relation is Relation.EQUALS and each.similarity >= NAMED)
        return tuple(dict.fromkeys(each.span for each in sure if each.span and not each.span.isdigit()))
    return ()


def by_name(match: Match, question: Question) -> bool:
    """Whether the schema comes near to the question: by a word, by what a name is short for, or by cosine."""
    near = bool(match.words) or match.evidence >= MIN_EVIDENCE
    return near or bool(short_names(question, match.snapshot))


def looked_at(
    order: Sequence[int], places: Sequence[Place], shares: Sequence[float], state: State
) -> list[int]:
    """Those that the second look chooses among, in `order`: the likeliest, the asker's own, those that hold values.

    Of a question that is far from all, none is unlikelier than another.
    """
    far, last = state.far, state.dialogue.database
    least = 0.0 if far else MIN_PROBABILITY
    likely = [i for i in order[:LOOKED_AT] if i == order[0] or shares[i] >= least]
    own = [i for i in order if places[i].home][:1] + [i for i in order if places[i].database.name == last]
    holding = [i for i in order if places[i].held and i not in likely][:HELD]
    wanted = {*likely, *own, *holding}
    return [i for i in order if i in wanted]
