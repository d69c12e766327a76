"""An answer of a moment ago to the same question, which is given again without the model.

Owns what makes two questions the same: the asker, the words, the settings, the program and its models, the catalog,
what was learned, the day, and what the asker may read. An answer is given again for `[limits] reuse` seconds, until its
asker has said something about it. Abstentions and what ran out of time are not, and verified statements need no model.
"""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache

import msgspec

from engine.app.question_store import Questions
from engine.route.route import readable_views
from engine.values import wording
from engine.values.dialogue import Dialogue
from engine.values.errors import NLError
from engine.values.messages import AskReply, AskRequest, RowKind, Usage
from engine.values.state import State
from engine.values.tools import Tools
from schema_catalog.catalog import StoreUnavailableError
from schema_catalog.types import ReadableColumns

_KEPT = 1024
"""Sets of readable columns whose digests are kept."""


@dataclass(frozen=True, slots=True)
class Keys:
    """SHA-256 (hex) of a question: its `own`, with what it may go on from, and that of one that stands `alone`.

    The latter is of a question of which a model said so, whatever was asked before it.
    """

    own: str = ""
    alone: str = ""

    def of(self, begun: Dialogue, done: Dialogue) -> str:
        """The key of an answer. `begun`: before the question was read, `done`: after that."""
        return self.alone if begun.follow_up is not None and done.follow_up is None else self.own


@dataclass(frozen=True, slots=True)
class Repeats:
    """`recipe`: of the program, its settings and its models. `seconds`: for how long an answer is given again."""

    recipe: str
    seconds: float

    async def keys(self, request: AskRequest, dialogue: Dialogue, tools: Tools, questions: Questions) -> Keys:
        """Of all that shapes the answer; empty where that cannot be told."""
        if not self.seconds:
            return Keys()
        try:
            versions = await questions.versions()
            views, unreachable = await readable_views(request.asker, tools, await tools.catalog.entries())
        except (NLError, StoreUnavailableError):
            # The question itself will say so.
            return Keys()
        rights = await asyncio.to_thread(
            lambda: [(database.name, _digest(readable)) for database, _, readable in views]
        )
        asked = replace(request, asker=replace(request.asker, session=None), timeout=None)
        settings = [tools.limits, tools.dialogue, tools.selection, tools.learning, tools.generation]
        parts = [
            *(
                asked,
                self.recipe,
                settings,
                tools.effort,
                versions,
                rights,
                unreachable,
                datetime.now(UTC).date(),
            ),
        ]
        return Keys(*(_sha256([*parts, before]) for before in (dialogue.follow_up, "nothing before it")))

    async def known(self, request: AskRequest, keys: Keys, questions: Questions) -> AskReply | None:
        """The answer that was given to the same question; it has cost nothing now."""
        for key in filter(None, (keys.own, keys.alone)):
            found = await questions.repeated(request.asker.owner, key, self.seconds)
            if found is not None:
                return _again(*found)
        return None


def _again(reply: AskReply, at: datetime) -> AskReply:
    told = wording.FROM_EARLIER.format(at.astimezone(UTC))
    first, *others = reply.rows
    if first.kind is not RowKind.OPTION:
        first = replace(first, explanation=f"{first.explanation}; {told}")
    return replace(reply, rows=(first, *others), notices=(told,), usage=Usage(), timings=())


def _sha256(of: object) -> str:
    return hashlib.sha256(msgspec.json.encode(of)).hexdigest()


def is_repeatable(state: State) -> bool:
    """Whether the answer may be given again."""
    answered = bool(state.candidates) or state.dialogue.pending is not None
    return answered and state.verified is None and not state.late


@lru_cache(maxsize=_KEPT)
def _digest(readable: ReadableColumns) -> str:
    return hashlib.sha256(msgspec.json.encode(sorted(readable))).hexdigest()
