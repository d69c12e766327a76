"""Answers questions about the data itself from the catalog, before any other stage and without the model."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from engine.ask.data_answers import answers
from engine.findings.admit import those_admitted
from engine.question.data_questions import DataQuestion
from engine.route.places import View
from engine.route.route import askable_views
from engine.values.candidate import Candidate
from engine.values.dialogue import Dialogue
from engine.values.messages import TraceLine
from engine.values.state import Route, State
from engine.values.tools import Tools


async def answer_from_catalog(state: State, tools: Tools) -> State:
    """Sets `candidates` and `from_catalog` where the question is about the data itself; raises as `route`.

    Who wants more, or has said something about an answer, is answered by the stages behind.
    """
    asked = state.question.about_data
    if asked is None or state.ask.exclude or replace(state.dialogue, database=None) != Dialogue():
        return state
    views, _ = await askable_views(state, tools)
    routes, candidates = await asyncio.to_thread(_answered, asked, _here_first(views, asked, state))
    found = replace(state, routes=tuple(routes))
    kept = await those_admitted(candidates[: state.k], found, tools)
    if not kept:
        return state
    sure = tuple(replace(each, confidence=1 / len(kept)) for each in kept)
    line = TraceLine("understand", asked.subject, asked.named)
    return replace(found, candidates=sure, from_catalog=True, calls=0).noted(line)


def _here_first(views: list[View], asked: DataQuestion, state: State) -> list[View]:
    """The databases to answer from, the asker's own first, which alone is meant where nothing is named."""
    here = [view for view in views if view[0].dbname == state.ask.asker.dbname]
    others = [view for view in views if view not in here]
    return here if here and not asked.named else [*here, *others]


def _answered(asked: DataQuestion, views: list[View]) -> tuple[list[Route], list[Candidate]]:
    routes, candidates = [], []
    for database, whole, readable in views:
        snapshot = whole.restricted_to(readable)
        found = answers(asked, snapshot)
        if found:
            tables = tuple(table.key for table in snapshot.tables)
            routes.append(Route(database, snapshot, 1.0, tables))
            candidates += [Candidate(database.name, each.sql, explanation=each.words) for each in found]
    return routes, candidates
