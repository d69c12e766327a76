"""Recalls the feedback that concerns the question: preferences, verified examples, a verified answer to it.

Nothing unreadable is used: preferences are of elements of the route, examples resolve against it, a verified answer
passes the checks of a generated statement. Similarities are adjusted by the adapter, and by strong preferences, which
raise the preferred element above the rejected one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from engine.findings.admit import admitted
from engine.learn.parameters import filled, given, parameters
from engine.learn.preferences import preferences
from engine.link.element_text import linked
from engine.link.phrase_adapter import PhraseAdapter, decode_adapter
from engine.link.standing import sensitive_columns
from engine.question.question import Question
from engine.statement.description import describe
from engine.statement.resolution import Resolution, resolve
from engine.values import wording
from engine.values.candidate import Candidate
from engine.values.elements import Entity, elements_read
from engine.values.learned import AskerFeedback, Example, ExampleKind, Learned, Lesson, Preference
from engine.values.messages import TraceLine
from engine.values.ports import Encoder
from engine.values.state import Route, State
from engine.values.tools import Tools
from engine.write.known_text import preference_line
from schema_catalog.catalog import StoreUnavailableError

RAISED = 0.15
"""Added to the larger cosine of the two for the preferred element, at strength 1."""

TRIED = 3
"""Verified answers to the question that are checked at most."""


async def recall(state: State, tools: Tools) -> State:
    """Sets `learned` of every route, and `verified`; without the store nothing is changed. Raises `CancelledError`."""
    if not tools.learning.enabled:
        return state
    try:
        feedback_by_route = [
            await tools.memory.known(state.ask.asker.owner, each.database.name) for each in state.routes
        ]
    except StoreUnavailableError as problem:
        return state.noted(TraceLine("link", "nothing is recalled", str(problem)))
    routes, lines = [], []
    for route, feedback in zip(state.routes, feedback_by_route, strict=True):
        if feedback == AskerFeedback():
            routes.append(route)
            continue
        recalled = await asyncio.to_thread(_recalled, state.question, route, feedback, tools)
        routes.append(recalled)
        lines += list(_trace_lines(recalled, feedback))
    state = replace(state, routes=tuple(routes)).noted(*lines)
    return await _verified(state, feedback_by_route, tools)


def _recalled(question: Question, route: Route, feedback: AskerFeedback, tools: Tools) -> Route:
    phrases = [entity.text for entity in route.entities]
    adapter = _adapter(feedback, tools.encoder)
    found = _preferences(question, route, phrases, feedback, tools)
    entities = route.entities if adapter is None else linked(phrases, route.snapshot, tools.encoder, adapter)
    refused = tuple(
        each.sql
        for each in feedback.lessons
        if each.kind is ExampleKind.REJECTED and _repeats(question, each)
    )
    learned = Learned(found, _examples(question, route, feedback, found, tools), refused)
    return replace(route, entities=tuple(_raised(each, found) for each in entities), learned=learned)


def _adapter(feedback: AskerFeedback, encoder: Encoder) -> PhraseAdapter | None:
    if feedback.adapter is None:
        return None
    return decode_adapter(feedback.adapter, encoder.encode(["size"]).shape[1])


def _preferences(
    question: Question, route: Route, phrases: Sequence[str], feedback: AskerFeedback, tools: Tools
) -> tuple[Preference, ...]:
    columns = ((*table.key, column.name) for table, column in route.snapshot.columns())
    shown = elements_read(columns, (table.key for table in route.snapshot.tables))
    casts = [each for each in feedback.casts if {each.vote.preferred, each.vote.rejected} <= shown]
    if not casts or not phrases:
        return ()
    texts = list(dict.fromkeys([*phrases, *(each.vote.phrase for each in casts)]))
    vectors = dict(zip(texts, tools.encoder.encode(texts), strict=True))

    def alike(one: str, two: str) -> float:
        return float(np.dot(vectors[one], vectors[two]))

    return preferences(question, phrases, casts, alike, settings=tools.learning)


def _examples(
    question: Question, route: Route, feedback: AskerFeedback, found: Sequence[Preference], tools: Tools
) -> tuple[Example, ...]:
    """The most similar verified questions, without repeats of this one and those that contradict a preference.

    None that reads a sensitive column, either: its statement may hold a value.
    """
    sensitive = sensitive_columns(route.snapshot)
    newest: dict[str, Lesson] = {}
    # The asker's own go before others', newer before older.
    for lesson in sorted(feedback.lessons, key=lambda each: not each.own):
        told = lesson.kind is not ExampleKind.REJECTED and not parameters(lesson.question)
        if told and not _repeats(question, lesson):
            newest.setdefault(lesson.key, lesson)
    lessons = list(newest.values())
    if not lessons or not tools.learning.examples:
        return ()
    vectors = tools.encoder.encode([question.text, *(each.question for each in lessons)])
    cosines = vectors[1:] @ vectors[0]
    examples: list[Example] = []
    for place in np.argsort(-cosines, kind="stable"):
        if cosines[place] < tools.learning.example_similarity or len(examples) == tools.learning.examples:
            break
        lesson = lessons[place]
        resolution = resolve(lesson.sql, route.snapshot)
        if not sensitive.isdisjoint(resolution.columns):
            continue
        if not resolution.problems and agreement(resolution, found) >= 0.0:
            likeness, corrected = round(float(cosines[place]), 3), lesson.kind is ExampleKind.CORRECTED
            examples.append(Example(lesson.question, lesson.sql, likeness, lesson.own, corrected))
    return tuple(examples)


def agreement(read: Candidate | Resolution, found: Sequence[Preference]) -> float:
    """The strengths of the preferences that a statement follows, less those of the ones that it contradicts."""
    used = elements_read(read.columns, read.tables)
    return sum(
        each.strength * ((each.preferred in used) - (each.rejected in used))
        for each in found
        if (each.preferred in used) != (each.rejected in used)
    )


def _raised(entity: Entity, found: Sequence[Preference]) -> Entity:
    similarities = dict(entity.similarities)
    for each in found:
        if each.strong and each.phrase == entity.text:
            nearer = max(similarities[each.preferred], similarities[each.rejected])
            similarities[each.preferred] = min(1.0, nearer + RAISED * each.strength)
    return replace(entity, similarities=similarities)


def _repeats(question: Question, lesson: Lesson) -> bool:
    return lesson.key == question.key


async def _verified(state: State, feedback_by_route: Sequence[AskerFeedback], tools: Tools) -> State:
    """Sets `state.verified`, for which no model is waited: it writes others where it is asked for more."""
    if state.ask.exclude:
        return state
    for route, feedback in zip(state.routes, feedback_by_route, strict=True):
        for lesson in _answers(state.own_words, feedback)[:TRIED]:
            outcome = await admitted(Candidate(route.database.name, lesson.sql), state, tools)
            if not isinstance(outcome, Candidate):
                # Another's statement may name what this asker cannot read.
                why = f"{lesson.sql}: {outcome.message}" if lesson.own else "an approved statement"
                line = TraceLine("link", "no longer answers", why)
                state = state.noted(line)
                continue
            words = f"{describe(outcome.sql)}; {_whose(lesson)}"
            verified = replace(outcome, explanation=words)
            return replace(state, verified=verified, calls=0).noted(
                TraceLine("link", "answered before", outcome.sql)
            )
    return await _with_parameters(state, feedback_by_route, tools)


async def _with_parameters(state: State, feedback_by_route: Sequence[AskerFeedback], tools: Tools) -> State:
    """As `_verified`, by a verified query whose parameters the question fills in."""
    for route, feedback in zip(state.routes, feedback_by_route, strict=True):
        found = await asyncio.to_thread(_filled, state.question, route, feedback, tools.encoder)
        for _, sql, lesson, values in found[:TRIED]:
            outcome = await admitted(Candidate(route.database.name, sql), state, tools)
            if isinstance(outcome, Candidate) and outcome.sql not in route.learned.refused:
                said = ", ".join(f"{name} {value}" for name, value in values.items())
                words = f"{describe(outcome.sql)}; {wording.FILLED_IN.format(said, lesson.question)}"
                line = TraceLine("link", "parameters filled in", said)
                return replace(state, verified=replace(outcome, explanation=words), calls=0).noted(line)
    return state


def _filled(
    question: Question, route: Route, feedback: AskerFeedback, encoder: Encoder
) -> list[tuple[float, str, Lesson, dict[str, str]]]:
    """(likeness, statement, verified query, values) of those that the question fills in, the likest first."""
    found = []
    for lesson in feedback.lessons:
        named = parameters(lesson.question) if lesson.kind is ExampleKind.VERIFIED else ()
        match = given(question, lesson.question, route.values, encoder) if named else None
        if match is not None:
            found.append((match[1], filled(lesson.sql, named, match[0]), lesson, match[0]))
    return sorted(found, key=lambda each: -each[0])


def _whose(lesson: Lesson) -> str:
    if lesson.kind is ExampleKind.VERIFIED:
        return wording.VERIFIED
    return wording.ANSWERED_BEFORE.format("your" if lesson.own else "an approved")


def _answers(question: Question, feedback: AskerFeedback) -> list[Lesson]:
    """Answers to this question: the asker's own, verified, approved; without those that the asker rejected since."""
    same = [each for each in feedback.lessons if _repeats(question, each)]
    refused = {each.sql for each in same if each.kind is ExampleKind.REJECTED}
    kept = {each.sql: each for each in reversed(same) if each.own}
    found = [each for each in same if each.kind is not ExampleKind.REJECTED]
    standing = [
        each for each in found if each.sql not in refused or kept[each.sql].kind is not ExampleKind.REJECTED
    ]
    return sorted(standing, key=lambda each: not each.own)


def _trace_lines(route: Route, feedback: AskerFeedback) -> Iterator[TraceLine]:
    name = route.database.name
    if feedback.adapter is not None:
        yield TraceLine(
            "link",
            "adapter",
            f"{name}: version {feedback.version}, of {feedback.scope or 'everybody'}",
        )
    for each in route.learned.preferences:
        whose = "yours" if each.own else "approved"
        sure = "strong" if each.strong else "weak"
        detail = f"{name}: {preference_line(each, route.snapshot)} ({whose}, {sure}, votes: {each.votes})"
        yield TraceLine("link", "hint", detail, round(each.strength, 3))
    for example in route.learned.examples:
        whose = "yours" if example.own else "approved"
        yield TraceLine(
            "link",
            f"example, {whose}",
            f"{name}: {example.question}: {example.sql}",
            example.similarity,
        )
