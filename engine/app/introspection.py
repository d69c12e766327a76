"""The rows of every `Topic`, from the store, of the asker's own questions."""

from __future__ import annotations

import asyncio

from engine.app.question_store import Questions, find_row
from engine.ask.data_answers import askable, made
from engine.judge.doubtful_elements import STAGE
from engine.route.route import readable_views
from engine.statement.description import in_parts
from engine.values.errors import InternalError, NLError
from engine.values.messages import BECOMES, AnswerRow, Asker, Cell, RowSet, Topic, TopicRequest, TraceLine
from engine.values.tools import Tools
from schema_catalog.catalog import StoreUnavailableError
from schema_catalog.naming import quote_ident
from schema_catalog.types import Snapshot

HISTORY_ROWS = 20
"""Lines of `NL HISTORY` where the asker names no number."""

MAX_HISTORY_ROWS = 1000


async def introspect(request: TopicRequest, questions: Questions, tools: Tools) -> RowSet:
    """The rows of `request.topic`.

    Raises `UnknownQuestionError` where the question is not the asker's, `InvalidSettingError` where it has no row `n`.
    """
    user = request.asker.owner
    match request.topic:
        case Topic.HISTORY:
            limit = min(request.n or HISTORY_ROWS, MAX_HISTORY_ROWS)
            return RowSet(await questions.history(user, limit))
        case Topic.FORGET:
            return RowSet(((await questions.forget(user, request.qid),),))
        case Topic.HELP:
            return RowSet(await _proposed(request.asker, tools))
    if request.qid is None:
        raise InternalError(f"{request.topic} was asked without a question")
    return await _about(request, request.qid, questions)


async def _proposed(asker: Asker, tools: Tools) -> tuple[tuple[Cell, ...], ...]:
    """Questions that can be asked here, each with its database; none where nothing can be read."""
    try:
        views, _ = await readable_views(asker, tools, await tools.catalog.entries())
    except (NLError, StoreUnavailableError):
        return ()
    here = sorted(views, key=lambda view: view[0].dbname != asker.dbname)[:1]
    found = [(view[0], await asyncio.to_thread(_ready, view[1].restricted_to(view[2]))) for view in here]
    return tuple(
        (f"NL (db {quote_ident(database.name)}): $${text}$$", "a question that can be asked here")
        for database, texts in found
        for text in texts
    )


def _ready(snapshot: Snapshot) -> tuple[str, ...]:
    return (*askable(snapshot), *made(snapshot))


async def _about(request: TopicRequest, qid: str, questions: Questions) -> RowSet:
    user = request.asker.owner
    match request.topic:
        case Topic.PROMPT:
            sent = await questions.prompts(qid, user)
            return RowSet(
                tuple(
                    (call, role, content)
                    for call, prompt in enumerate(sent, 1)
                    for role, content in (
                        ("to", prompt.to),
                        ("system", prompt.system),
                        ("user", prompt.user),
                        ("assistant", prompt.prefix + prompt.begun),
                    )
                    if content
                )
            )
    reply = await questions.get(qid, user)
    if request.topic is Topic.WHY:
        return RowSet(tuple((line.stage, line.event, line.detail, line.score) for line in reply.trace))
    return RowSet(_in_words(find_row(reply, request.n or 1), reply.trace))


def _in_words(row: AnswerRow, trace: tuple[TraceLine, ...]) -> tuple[tuple[Cell, ...], ...]:
    """A row as (aspect, words), without empty aspects."""
    aspects: list[tuple[str, str | None]] = [
        ("meaning", row.explanation),
        ("kind", row.kind.value),
        ("database", row.database),
        ("confidence", None if row.confidence is None else f"{row.confidence:.3f} on a scale from 0 to 1"),
        *(in_parts(row.sql) if row.sql is not None else ()),
        ("statement", row.sql),
    ]
    lines = (line for line in trace if row.sql and line.detail == row.sql)
    aspects += [
        (STAGE, line.event) if line.stage == STAGE else ("made by", f"{line.stage}: {line.event}")
        for line in lines
    ]
    aspects += _changes(row.sql, trace)
    return tuple((aspect, words) for aspect, words in aspects if words)


def _changes(sql: str | None, trace: tuple[TraceLine, ...]) -> list[tuple[str, str | None]]:
    """The rules that changed a statement, each with the statement before it, the last one first."""
    aspects: list[tuple[str, str | None]] = []
    lines = [(line.event, line.detail.partition(BECOMES)) for line in trace if line.stage == "rewrite"]
    changes = {after: (event, before) for event, (before, _, after) in lines}
    while sql in changes:
        event, sql = changes.pop(sql)
        aspects += [("changed by", event), ("was", sql)]
    return aspects
