"""The engine's process: builds the tools and serves the interface until SIGINT or SIGTERM."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial

import asyncpg
import structlog
from aiohttp import web

from engine.app.asking_ahead import ROUND, AskingAhead
from engine.app.checking import watch
from engine.app.console_views import ConsoleViews
from engine.app.endpoints import EngineAPI
from engine.app.evaluating import Evaluating, Trials
from engine.app.listening import AddressSite
from engine.app.metrics import Metrics
from engine.app.own_roles import warn_of_own_roles
from engine.app.question_store import Questions
from engine.app.repeats import Repeats
from engine.app.schema_watch import SchemaWatch
from engine.app.service import Service
from engine.app.suggesting import Suggesting
from engine.app.warmup import LOOK_SECONDS, NewSchemas, warm_up
from engine.findings.driver import check_names
from engine.judge import ranker
from engine.judge.calibrating import Calibrating
from engine.judge.fingerprint import pipeline_fingerprint
from engine.judge.model import packaged
from engine.judge.packaged_scores import base_for
from engine.judge.point_store import CalibrationStore
from engine.judge.ranker import TwoStages
from engine.learn.feedback import Learner
from engine.learn.store import LearningStore
from engine.link import schema_linker as linker
from engine.link.schema_linker import TrainedLinker
from engine.link.source import StoredValues
from engine.llm.circuit import Circuit, Outage
from engine.llm.client import ChatModel
from engine.llm.fallback import FallbackModel
from engine.llm.profile_store import ProfileStore
from engine.models import pointer
from engine.models.encoder import EncoderUnavailableError, MiniLMEncoder
from engine.models.linker import LinkerEncoder
from engine.models.packaged import read
from engine.models.pointer import PointerModel
from engine.route import second_look
from engine.route.router import HybridRouter
from engine.route.vectors import VectorCache
from engine.upstream import Databases
from engine.values.background import Background
from engine.values.errors import InvalidSettingError, ModelUnavailableError, PackagedError, for_log
from engine.values.model_settings import ModelSettings
from engine.values.ports import Conditions, Encoder, LanguageModel, Ranker
from engine.values.settings import EncoderSettings, EngineSettings, GenerationSettings, Strategy
from engine.values.tools import NoConditions, NoRanker, Tools
from engine.write import conditions as classifier
from engine.write.conditions import Classifier
from schema_catalog.catalog import CachedCatalog, StoreUnavailableError
from schema_catalog.migrate import MigrationError, migrate
from schema_catalog.pg import Pool, store_pool
from schema_catalog.quotas import QuotaStore
from schema_catalog.refresh import ConnectSettings
from schema_catalog.store import CatalogStore
from schema_catalog.values import ValueStore

CONNECT_TIMEOUT = 10.0
RETENTION = 60.0
"""Seconds between two looks at what has expired: so much longer than `[retention]` says a question stays at most."""

ENCODER = "all-MiniLM-L6-v2"

log = structlog.stdlib.get_logger("engine")


@asynccontextmanager
async def tools(
    settings: EngineSettings, circuit: Circuit | None = None
) -> AsyncIterator[tuple[Tools, Questions, Pool]]:
    """The stages' tools, the stored questions, and the store's pool, migrated first. `circuit`: the model server's.

    Raises `ModelUnavailableError` without a model server, `InvalidSettingError` where a rule that is switched off does
    not exist or the store's address is none, `StoreUnavailableError`, and `PackagedError` where a packaged model cannot
    be read.
    """
    if settings.model.base_url is None:
        raise ModelUnavailableError(
            "no language model", hint="Set [model] base_url or start it with pgparley serve."
        )
    check_names(settings.generation.rules_off)
    async with AsyncExitStack() as stack:
        pool = await _store(settings.store_dsn)
        stack.push_async_callback(pool.close)
        catalog = CachedCatalog(CatalogStore(pool))
        upstream = Databases(settings.upstream, settings.guard, catalog=catalog)
        stack.push_async_callback(upstream.aclose)
        model = await _language_model(settings.model, circuit, ProfileStore(pool), stack)
        encoder = MiniLMEncoder(settings.encoder)
        built = Tools(
            catalog=catalog,
            upstream=upstream,
            encoder=encoder,
            model=model,
            router=HybridRouter(
                encoder,
                VectorCache(encoder, model=ENCODER, path=settings.vectors),
                pointer=_pointer(settings),
                folder=None if settings.vectors is None else settings.vectors.parent / "index",
            ),
            calibration=calibration(settings, pool),
            selection=settings.selection,
            values=StoredValues(ValueStore(pool)),
            limits=settings.limits,
            generation=_generation(settings),
            conditions=conditions(settings.generation, encoder),
            ranker=ranker_of(settings, encoder),
            memory=LearningStore(pool, settings.learning),
            learning=settings.learning,
            linker=_linker(settings.encoder),
            judgement=packaged(),
            second_look=second_look.packaged(),
            dialogue=settings.dialogue,
            effort=settings.model.effort,
        )
        yield built, Questions(pool, settings.retention), pool


def _generation(settings: EngineSettings) -> GenerationSettings:
    """With the strategy that suits the model, where none is set."""
    if settings.generation.strategy is Strategy.AUTO and settings.model.small:
        return replace(settings.generation, strategy=Strategy.SEARCH)
    return settings.generation


def conditions(settings: GenerationSettings, encoder: Encoder) -> Conditions:
    """Those that a question asks for; none, and no weights, while they are off. Raises `PackagedError`."""
    return Classifier.of(classifier.packaged(), encoder) if settings.conditions else NoConditions()


def _linker(settings: EncoderSettings) -> TrainedLinker:
    return TrainedLinker(LinkerEncoder(read(linker.packaged(), linker.NAME, linker.FORMAT), settings))


def ranker_of(settings: EngineSettings, encoder: Encoder) -> Ranker:
    """None, and no weights, where the second stage is off. Raises `PackagedError`."""
    if not settings.generation.second_stage:
        return NoRanker()
    return TwoStages.of(ranker.packaged(), encoder, settings.encoder)


async def _language_model(
    settings: ModelSettings, circuit: Circuit | None, kept: ProfileStore, stack: AsyncExitStack
) -> LanguageModel:
    """The service that is configured, with those that stand in for it; closed with `stack`."""
    found = []
    for number, service in enumerate(settings.services):
        own = circuit if number == 0 else Circuit(service, partial(_log_outage, service))
        model = ChatModel(service, service.base_url or "", own, kept)
        stack.push_async_callback(model.aclose)
        await model.remember()
        found.append(model)
    return FallbackModel(found) if settings.fallback else found[0]


def calibration(settings: EngineSettings, pool: Pool) -> CalibrationStore:
    """The calibration of these settings' recipe; raises `EncoderUnavailableError`, `PackagedError`."""
    return CalibrationStore(pool, pipeline_fingerprint(settings), base_for(settings))


def _pointer(settings: EngineSettings) -> PointerModel | None:
    """The learned router's network; None leaves routing to the retrieval leg."""
    if not settings.learned_router:
        return None
    return PointerModel(read(pointer.packaged(), pointer.NAME, pointer.FORMAT), settings.encoder)


def _circuit(settings: ModelSettings, metrics: Metrics) -> Circuit:
    """The circuit to the model server, of which the metrics and the log tell."""

    def changed(outage: Outage | None) -> None:
        metrics.circuit_open.set(outage is not None)
        if outage is not None:
            metrics.circuit_opened.inc()
        _log_outage(settings, outage)

    return Circuit(settings, changed)


def _log_outage(settings: ModelSettings, outage: Outage | None) -> None:
    if outage is None:
        log.info("model circuit closed", model=settings.address)
    else:
        log.warning("model circuit opened", model=settings.address, failures=outage.failures)


async def _store(dsn: str) -> Pool:
    try:
        try:
            pool = await store_pool(dsn, 4, timeout=CONNECT_TIMEOUT)
        except ValueError as problem:
            # The driver's words may repeat a password.
            hint = "Correct [engine] store: postgresql://USER@HOST/DATABASE"
            raise InvalidSettingError("the store's address cannot be understood", hint=hint) from problem
        async with pool.acquire() as connection:
            await migrate(connection)
    except (OSError, TimeoutError, asyncpg.PostgresError, MigrationError) as problem:
        raise StoreUnavailableError(f"{type(problem).__name__}: {problem}") from problem
    return pool


async def serve(settings: EngineSettings) -> None:
    """Serves until SIGINT or SIGTERM, then ends running requests within 10 seconds. Raises as `tools`."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    ready, metrics = asyncio.Event(), Metrics()
    circuit = _circuit(settings.model, metrics)
    async with tools(settings, circuit) as (built, questions, pool), asyncio.TaskGroup() as group:
        warming = group.create_task(warm_up(built, settings.limits.warm_databases, ready), name="warm-up")
        background = Background()
        expiring = group.create_task(
            background.repeat("retention", RETENTION, questions.keep_to_retention), name="retention"
        )
        preparing = group.create_task(
            background.repeat("new schemas", LOOK_SECONDS, NewSchemas(built).step), name="new-schemas"
        )
        checking = group.create_task(watch(pool, built.upstream, background), name="definitions")
        warning = group.create_task(warn_of_own_roles(pool, ConnectSettings()), name="own-roles")
        points = calibration(settings, pool)
        calibrating = Calibrating(points, settings.selection, settings.limits)
        evaluating = Evaluating(built, settings.limits, Trials(pool, built.upstream), points)
        upstream = built.upstream
        views = ConsoleViews(
            *(pool, settings.model, ready, calibrating, lambda: upstream.overdue),
            outage=lambda: circuit.outage,
            profile=lambda: built.model.profile,
        )
        learner = Learner(built, LearningStore(pool, settings.learning))
        looking = SchemaWatch(
            pool,
            upstream,
            metrics,
            settings.catalog,
            settings.catalog.login or settings.store_dsn,
            background=background,
        )
        watching = group.create_task(looking.run(), name="schema-watch")
        metrics.overdue.set_function(lambda: upstream.overdue)
        metrics.ready.set_function(ready.is_set)
        repeats = Repeats(pipeline_fingerprint(settings), settings.limits.reuse)
        service = Service(
            *(built, questions, settings.limits, points, learner), quotas=QuotaStore(pool), repeats=repeats
        )
        ahead = AskingAhead(
            *(built.catalog, built.model, pool, upstream, settings.model, settings.catalog),
            idle=lambda: ready.is_set() and not service.admission.running,
        )
        asking = group.create_task(background.repeat("asking ahead", ROUND, ahead.step), name="asking-ahead")
        metrics.running.set_function(lambda: service.admission.running)
        metrics.waiting.set_function(lambda: service.admission.waiting)
        commands = Suggesting(built.catalog, built.model, pool), ahead
        app = EngineAPI(service, metrics, ready, views, calibrating, evaluating, *commands).application()
        address = AddressSite(settings.listening) if settings.listening.listen else None
        if address is not None:
            app = address.guarded(app)
        runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=10.0)
        await runner.setup()
        try:
            settings.socket.unlink(missing_ok=True)
            await web.UnixSite(runner, str(settings.socket)).start()
            settings.socket.chmod(0o600)
            if address is not None:
                await address.site(runner).start()
            log.info("engine ready", socket=str(settings.socket), listen=settings.listening.listen)
            await stop.wait()
            log.info("engine stopping")
        finally:
            for task in (warming, preparing, checking, expiring, watching, warning, asking):
                task.cancel()
            await runner.cleanup()
            await learner.aclose()
            settings.socket.unlink(missing_ok=True)


def run(settings: EngineSettings) -> None:
    """Blocks until the engine has ended; logs why and exits where it cannot start.

    With 1 where the store is away, with `os.EX_CONFIG` where these settings will never do.
    """
    try:
        asyncio.run(serve(settings))
    except StoreUnavailableError as problem:
        hint = "Run: pgparley check. [engine] store is a database that exists and that its role may create a schema in."
        log.critical("the store cannot be used", problem=for_log(problem), hint=hint)
        sys.exit(1)
    except (ModelUnavailableError, InvalidSettingError) as problem:
        log.critical(problem.message, hint=problem.hint)
        sys.exit(os.EX_CONFIG)
    except (EncoderUnavailableError, PackagedError) as problem:
        log.critical(
            "a trained model cannot be used", problem=for_log(problem), hint="Run: pgparley check engine"
        )
        sys.exit(os.EX_CONFIG)
