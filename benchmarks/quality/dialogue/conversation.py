"""One question, talked about with the engine's service until the user has nothing more to say.

Owns the loop and what a reply shows. What the user answers is `benchmarks.quality.dialogue.simulated_user`'s; which
statement is right, the caller's.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from benchmarks.harness.journal import Cost
from benchmarks.harness.systems import READER
from benchmarks.quality.dialogue.records import Said, Shown, Turn
from benchmarks.quality.dialogue.simulated_user import (
    Chosen,
    OwnWords,
    Reaction,
    Rejected,
    SimulatedUser,
)
from benchmarks.quality.dialogue.systems import System
from engine.values.dialogue import ClarifyingQuestion, Dialogue
from engine.values.errors import ModelUnavailableError, NLError
from engine.values.messages import AnswerRequest, Asker, AskReply, AskRequest, NoneRequest, RowKind

ASKER = Asker(READER, "")
"""Connected to none of the databases, so that none has a prior."""

_STATEMENTS = (RowKind.CANDIDATE, RowKind.VERIFIED)


class Engine(Protocol):
    """The engine's verbs for a dialogue, and what it has stored of one."""

    async def ask(self, request: AskRequest) -> AskReply: ...  # noqa: D102 - `engine.app.service.Service`'s

    async def answer(self, request: AnswerRequest) -> AskReply: ...  # noqa: D102

    async def none(self, request: NoneRequest) -> AskReply: ...  # noqa: D102

    async def dialogue(self, qid: str) -> Dialogue:
        """What has been said under that reply."""


@dataclass(frozen=True, slots=True)
class Listener:
    """Who the engine talks to. `user` None: reads the first reply and says nothing. `right`: of a statement."""

    user: SimulatedUser | None
    right: Callable[[str], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Ended:
    """A dialogue's turns, and the error that ended it, as its user would see it."""

    turns: tuple[Turn, ...]
    error: str | None = None
    crashed: bool = False


async def converse(
    engine: Engine, ask: AskRequest, system: System, listener: Listener, take: Callable[[], Cost]
) -> Ended:
    """Talks until the user accepts or has answered `system.answers` times. Raises `ModelUnavailableError`.

    `take`: the cost since it was last called.
    """
    turns: list[Turn] = []
    said: list[Reaction] = []
    request: AskRequest | AnswerRequest | NoneRequest = ask
    take()
    try:
        while True:
            reply = await _sent(engine, request)
            dialogue = await engine.dialogue(reply.qid)
            turn = observed(reply, dialogue, take())
            turns.append(turn)
            if len(said) == system.answers:
                break
            reaction, erred = await _reaction(turn, dialogue.pending, system, listener, said)
            if reaction is None:
                break
            turns[-1] = _answered(turn, reaction, erred=erred)
            said.append(reaction)
            request = _request(reaction, reply.qid)
    except ModelUnavailableError:
        raise
    except NLError as error:
        return Ended(tuple(turns), f"{error.sqlstate} {error.message}")
    except Exception as error:  # noqa: BLE001 - one question must not end hours of measuring; it is reported
        return Ended(tuple(turns), f"{type(error).__name__}: {error}"[:300], crashed=True)
    return Ended(tuple(turns))


async def _sent(engine: Engine, request: AskRequest | AnswerRequest | NoneRequest) -> AskReply:
    match request:
        case AskRequest():
            return await engine.ask(request)
        case AnswerRequest():
            return await engine.answer(request)
        case NoneRequest():
            return await engine.none(request)


async def _reaction(
    turn: Turn,
    pending: ClarifyingQuestion | None,
    system: System,
    listener: Listener,
    said: list[Reaction],
) -> tuple[Reaction | None, bool]:
    """What the user does, None where nothing, and whether they erred."""
    if listener.user is None:
        return None, False
    if pending is not None and system.asks:
        return listener.user.answer(pending, said)
    if system.rejects and turn.statements and not await listener.right(turn.statements[0]):
        return Rejected(), False
    return None, False


def _request(reaction: Reaction, qid: str) -> AnswerRequest | NoneRequest:
    match reaction:
        case Chosen(n):
            return AnswerRequest(ASKER, qid, n=n)
        case OwnWords(text):
            return AnswerRequest(ASKER, qid, text=text)
        case Rejected():
            return NoneRequest(ASKER, qid)


def _answered(turn: Turn, reaction: Reaction, *, erred: bool) -> Turn:
    match reaction:
        case Chosen(n):
            return replace(turn, said=Said.OPTION, words=str(n), erred=erred)
        case OwnWords(text):
            return replace(turn, said=Said.OWN_WORDS, words=text, erred=erred)
        case Rejected():
            return replace(turn, said=Said.NONE, erred=erred)


def observed(reply: AskReply, dialogue: Dialogue, cost: Cost) -> Turn:
    """A reply as the user meets it."""
    considered = [each.sql for each in dialogue.survivors or ()]
    shown = [row.sql for row in reply.rows if row.kind in _STATEMENTS and row.sql is not None]
    pending = dialogue.pending
    if pending is None:
        kind = Shown.STATEMENTS if shown else Shown.ABSTENTION
        return Turn(kind, _distinct(shown), len(reply.rows), cost, _distinct(considered))
    # What no survivor is, another way found: it is behind an option alone.
    offered = [sql for option in pending.options for sql in option.statements]
    return Turn(
        Shown.QUESTION,
        _distinct([*considered, *offered]),
        len(reply.rows),
        cost,
        _distinct(considered),
        pending.words,
        pending.ambiguity.value,
        tuple(option.words for option in pending.options),
    )


def _distinct(statements: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(statements))
