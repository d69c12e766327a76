"""Questions whose answer is known, asked through the whole pipeline and judged, in the catalog as it is or would be.

Keeps no answer and no feedback, and a calibration point where it is asked to; an import that is tried is taken back.
What was learned of the very question is left out, so that a verified query never answers its own question.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, replace

import asyncpg

from engine.app import pipeline
from engine.app.checking import check_definitions
from engine.app.known import Known, UnjudgeableError, has_its_result, known
from engine.ask.policy import abstention
from engine.judge.point_store import CalibrationStore, StoredPoint, question_identity
from engine.judge.records import Judged, Point
from engine.judge.splits import id_hash
from engine.learn.parameters import parameters
from engine.question.tokens import normal_form
from engine.values.calibration import KnownQuestion, Source
from engine.values.conformal import nonconformity
from engine.values.deadline import Deadline
from engine.values.errors import (
    DatabaseUnavailableError,
    InvalidSettingError,
    ModelUnavailableError,
    NLError,
    NoRouteError,
    UnsupportedError,
)
from engine.values.evaluation import (
    EvaluateReply,
    EvaluateRequest,
    KnownQuestions,
    KnownRequest,
    TrialReply,
    TrialRequest,
    Verdict,
)
from engine.values.learned import AskerFeedback, ExampleKind
from engine.values.ports import Memory, Upstream
from engine.values.settings import Limits
from engine.values.state import State
from engine.values.tools import Tools
from schema_catalog.catalog import CachedCatalog, StoreUnavailableError
from schema_catalog.definitions import DefinitionStore
from schema_catalog.definitions import State as DefinitionState
from schema_catalog.knowledge import Said
from schema_catalog.knowledge_files.format import read_text
from schema_catalog.knowledge_files.merge import apply
from schema_catalog.pg import Connection, Pool
from schema_catalog.store import CatalogError, CatalogStore, read_said

KEPT = 4
"""Trials that an engine remembers, the newest."""


@dataclass(frozen=True, slots=True)
class _Imported:
    said: dict[str, Said]
    reply: TrialReply


class _TrialStore(CatalogStore):
    def __init__(self, pool: Pool, said: dict[str, Said]) -> None:
        super().__init__(pool)
        self._said = said

    async def said(self) -> dict[str, Said]:
        return self._said


class Trials:
    """The trials of one engine."""

    def __init__(self, pool: Pool, upstream: Upstream) -> None:
        self._pool = pool
        self._upstream = upstream
        self._numbers = itertools.count(1)
        self._kept: dict[str, CachedCatalog] = {}

    async def begin(self, request: TrialRequest) -> TrialReply:
        """Tries a file. Raises `InvalidSettingError` and `ModelUnavailableError`."""
        name = str(next(self._numbers))
        try:
            imported = await self._imported(name, request)
        except CatalogError as problem:
            raise InvalidSettingError(
                str(problem),
                hint="Nothing was tried. `pgparley catalog diff` says what the file would change.",
            ) from problem
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as problem:
            raise ModelUnavailableError(
                "the engine's store does not answer", detail=str(problem), hint="Check [engine] store."
            ) from problem
        self._kept[name] = CachedCatalog(_TrialStore(self._pool, imported.said))
        for old in list(self._kept)[:-KEPT]:
            del self._kept[old]
        return imported.reply

    def catalog(self, name: str) -> CachedCatalog:
        """The catalog of a trial; raises `InvalidSettingError` where the engine has forgotten it."""
        if name not in self._kept:
            raise InvalidSettingError(
                "the engine does not know this trial any more",
                detail="It was started anew, or others have tried files since.",
                hint="Run the command again.",
            )
        return self._kept[name]

    async def _imported(self, name: str, request: TrialRequest) -> _Imported:
        source = read_text(request.name, request.text)
        async with self._pool.acquire() as connection:
            transaction = connection.transaction()
            await transaction.start()
            try:
                steps = await apply(connection, source)
                refused = await self._refused(connection)
                said = await read_said(connection)
            finally:
                await transaction.rollback()
        changes = tuple(
            f"{step.difference.sign} {step.shown}" for step in sorted(steps, key=lambda s: s.fact.key)
        )
        return _Imported(said, TrialReply(name, changes, refused))

    async def _refused(self, connection: Connection) -> tuple[str, ...]:
        """Checks what the file defines, and says what of it would not count."""
        checked = await check_definitions(
            DefinitionStore(connection), CatalogStore(self._pool), self._upstream
        )
        return tuple(
            f"{stored.database}: the {stored.kind} {stored.name} would be refused: {verdict.reason}"
            for stored, verdict in checked
            if verdict.state is DefinitionState.REFUSED
        )


@dataclass(frozen=True, slots=True)
class OthersLessons(Memory):
    """`memory` without what it knows of one question. `key`: that question's normal form."""

    memory: Memory
    key: str

    async def known(self, user: str, database: str) -> AskerFeedback:
        """The feedback that counts for `user` on `database`, less that; raises `StoreUnavailableError`."""
        found = await self.memory.known(user, database)
        return replace(found, lessons=tuple(each for each in found.lessons if each.key != self.key))


@dataclass(frozen=True, slots=True)
class Evaluating:
    """The verbs. Every failure is an `NLError`."""

    tools: Tools
    limits: Limits
    trials: Trials
    points: CalibrationStore

    async def evaluate(self, request: EvaluateRequest) -> EvaluateReply:
        """Asks one question and judges its answer.

        Raises what others would meet too, `InvalidSettingError`, and `UnsupportedError` where a point is to be kept
        and selection is off.
        """
        if request.source is not None and not self.tools.selection.enabled:
            raise UnsupportedError("selection is turned off", hint="Set [selection] enabled.")
        try:
            asked = await known(request, self.tools, self.limits)
            return await self._asked(request, asked)
        except (UnjudgeableError, NoRouteError) as problem:
            return EvaluateReply(Verdict.UNJUDGED, str(problem))
        except StoreUnavailableError as problem:
            raise _no_store() from problem

    async def known(self, request: KnownRequest) -> KnownQuestions:
        """Stored questions whose answer is known."""
        try:
            found = await (self.points.feedback() if request.feedback else self._verified())
        except StoreUnavailableError as problem:
            raise _no_store() from problem
        return KnownQuestions(tuple(each for each in found if request.database in {None, each.database}))

    async def _verified(self) -> list[KnownQuestion]:
        return [
            KnownQuestion(each.question, database.name, each.sql, source=Source.VERIFIED)
            for database, _ in await self.tools.catalog.entries()
            for each in (await self.tools.memory.known("", database.name)).lessons
            if each.kind is ExampleKind.VERIFIED and not parameters(each.question)
        ]

    async def _asked(self, request: EvaluateRequest, asked: Known) -> EvaluateReply:
        tools = replace(
            self.tools,
            catalog=self.tools.catalog if request.trial is None else self.trials.catalog(request.trial),
            memory=OthersLessons(self.tools.memory, normal_form(request.question)),
            # No question is taken at random to be shown whole: an evaluation can be repeated.
            selection=replace(self.tools.selection, audit=0.0),
        )
        began = time.monotonic()
        begun = replace(asked.state, started=began, deadline=Deadline(began + self.limits.timeout))
        try:
            state = await pipeline.run(begun, tools)
        except (ModelUnavailableError, DatabaseUnavailableError):
            raise
        except NoRouteError as problem:
            return EvaluateReply(Verdict.REFUSED, problem.message, seconds=time.monotonic() - began)
        except NLError as problem:
            return EvaluateReply(Verdict.FAILED, problem.message, seconds=time.monotonic() - began)
        seconds = time.monotonic() - began
        if request.source is not None and not state.late:
            await self._keep(request.source, asked, state)
        if state.dialogue.pending is not None:
            return EvaluateReply(Verdict.ASKED_BACK, state.dialogue.pending.words, seconds=seconds)
        shown = state.candidates[: state.k]
        if not shown:
            return EvaluateReply(Verdict.REFUSED, abstention(state).explanation, seconds=seconds)
        for rank, candidate in enumerate(shown, 1):
            if await has_its_result(candidate, asked, tools):
                verdict = Verdict.FIRST if rank == 1 else Verdict.IN_SET
                return EvaluateReply(verdict, "", shown[0].sql, len(shown), rank, seconds)
        return EvaluateReply(Verdict.WRONG, "", shown[0].sql, len(shown), None, seconds)

    async def _keep(self, source: Source, asked: Known, state: State) -> None:
        """Keeps a point of all candidates, also where the asker is asked back or not answered."""
        judged = [
            Judged(await has_its_result(candidate, asked, self.tools), nonconformity(candidate))
            for candidate in state.considered[: state.k]
        ]
        database = asked.route.database.name
        group = state.routes[0].database.name if state.routes else database
        identity = question_identity(database, state.question.text)
        point = Point(id_hash(identity), group, tuple(judged))
        await self.points.keep(database, StoredPoint(source, state.k, point))


def _no_store() -> ModelUnavailableError:
    return ModelUnavailableError("the engine's store does not answer", hint="Check [engine] store.")
