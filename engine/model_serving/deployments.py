"""The engine's networks as deployments of Ray Serve, an application each; deploy/ray/models.yaml starts them.

Owns what a replica loads and computes together. The only module that imports Ray.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
from ray import serve
from starlette.requests import Request
from starlette.responses import Response

from engine.app.networks import ONE_COLUMN, trained_linker
from engine.calibration.fingerprint import networks
from engine.core.elements import SchemaLinks
from engine.model_serving.messages import (
    DIFFERS,
    FINGERPRINT,
    REFUSED,
    Floats,
    LinkerRequest,
    RankerRequest,
    RouterRequest,
    TextsRequest,
    TextVectors,
    decode,
    encode,
)
from engine.models.encoder import loaded_model
from engine.models.pointer import PointerModel, packaged_base
from engine.models.sentences import SentenceModel
from engine.ranking import ranker as ranking
from engine.ranking.ranker import cross_encoder
from engine.routing.artifact import ArtifactError, ArtifactStore
from engine.settings import EncoderSettings

_VERSIONS = 3
"""Versions of the router that a replica keeps: those of engines that have not yet taken up the newest, too."""

_TOGETHER = 8
"""Requests that a replica computes at once, at most: those that came while it was at the ones before."""

T = TypeVar("T")
Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Arguments:
    """An application's `args`. `model`, `threads` and `batch`: as in `[encoder]`, and `router` as in `[engine]`."""

    model: Path | None = None
    router: Path | None = None
    threads: int = 1
    batch: int = 64

    @property
    def settings(self) -> EncoderSettings:
        """Of the networks in a replica."""
        return EncoderSettings(self.model, self.threads, self.batch)


def _batched(
    function: Callable[[Any, list[Asked]], Awaitable[list[Answer]]],
) -> Callable[[Any, Asked], Awaitable[Answer]]:
    """`serve.batch`, which gives no types; nobody waits for a batch to fill."""
    batched: Callable[[Any, Asked], Awaitable[Answer]] = serve.batch(
        max_batch_size=_TOGETHER, batch_wait_timeout_s=0.0
    )(function)
    return batched


class _Replica:
    """Takes requests of one kind; computes one thing at a time, beside the event loop."""

    def __init__(self, arguments: Arguments, kind: type[Any]) -> None:
        self._kind = kind
        self._networks = networks(arguments.settings)
        self._turn = asyncio.Lock()

    async def __call__(self, request: Request) -> Response:
        if request.headers.get(FINGERPRINT) != self._networks:
            return Response("its networks are of another release, or of another encoder", DIFFERS)
        try:
            message = decode(await request.body(), self._kind)
            return Response(encode(await self.answer(message)))
        except msgspec.DecodeError as problem:
            return Response(f"a request that is not understood: {problem}", DIFFERS)
        except ArtifactError as problem:
            return Response(str(problem), REFUSED)

    async def answer(self, message: Any) -> Any:
        """What the application says to a request."""
        raise NotImplementedError

    async def compute(self, function: Callable[[], T]) -> T:
        """In a thread, when it is its turn: neither tokenizers nor one processor are for several."""
        async with self._turn:
            return await asyncio.to_thread(function)


class Encoder(_Replica):
    """Texts of schemas exactly, each request by itself; questions of several requests together."""

    def __init__(self, arguments: Arguments) -> None:
        super().__init__(arguments, TextsRequest)
        self._model = SentenceModel(loaded_model(arguments.settings), batch=arguments.batch)
        self._model.questions(["ready"])

    async def answer(self, message: TextsRequest) -> TextVectors:
        """See `engine.models.sentences.SentenceModel`."""
        if message.questions:
            return await self._questions(message.texts)
        vectors = await self.compute(lambda: self._model.sentences(message.texts))
        return TextVectors(Floats.of(vectors), (), Floats((0,), b""))

    @_batched
    async def _questions(self, requests: list[tuple[str, ...]]) -> list[TextVectors]:
        every = list(chain.from_iterable(requests))
        encoded = iter(await self.compute(lambda: self._model.questions(every)))
        return [TextVectors.of([next(encoded) for _ in texts]) for texts in requests]


class Router(_Replica):
    """The encoders of the router's versions. What it points at, the catalog, stays with the engine."""

    def __init__(self, arguments: Arguments) -> None:
        super().__init__(arguments, RouterRequest)
        self._settings = arguments.settings
        self._store = ArtifactStore(arguments.router or Path("none"), packaged_base())
        self._versions: OrderedDict[tuple[str, str], PointerModel] = OrderedDict()
        current = self._store.manifest(self._store.current())
        self._load(current.version, current.weights_sha256)

    async def answer(self, message: RouterRequest) -> TextVectors:
        """See `engine.routing.pointer_api.Pointer.read`; raises `ArtifactError`."""
        version = message.version, message.sha256
        if version not in self._versions:
            await self.compute(lambda: self._load(*version))
        return await self._together((self._versions[version], message.texts))

    @_batched
    async def _together(self, requests: list[tuple[PointerModel, tuple[str, ...]]]) -> list[TextVectors]:
        found: dict[int, TextVectors] = {}
        for pointer in {id(pointer): pointer for pointer, _ in requests}.values():
            own = [number for number, (each, _) in enumerate(requests) if each is pointer]
            every = [text for number in own for text in requests[number][1]]
            encoded = iter(await self.compute(partial(pointer.read, every)))
            found |= {number: TextVectors.of([next(encoded) for _ in requests[number][1]]) for number in own}
        return [found[number] for number in range(len(requests))]

    def _load(self, version: str, sha256: str) -> None:
        artifact = self._store.load(version)
        if artifact.manifest.weights_sha256 != sha256:
            raise ArtifactError(f'router version "{version}" has other weights where it is served')
        pointer = PointerModel(artifact, self._settings)
        pointer.read(["ready"])
        self._versions[version, sha256] = pointer
        while len(self._versions) > _VERSIONS:
            self._versions.popitem(last=False)


class Ranker(_Replica):
    """The ranker's cross-encoder: the pairs of several requests together."""

    def __init__(self, arguments: Arguments) -> None:
        super().__init__(arguments, RankerRequest)
        self._model = cross_encoder(ranking.packaged(), arguments.settings)
        self._model.scores([("ready", ("ready",))])

    async def answer(self, message: RankerRequest) -> Floats:
        """See `engine.models.cross.CrossEncoder.scores`."""
        return await self._together(message.pairs)

    @_batched
    async def _together(self, requests: list[tuple[tuple[str, tuple[str, ...]], ...]]) -> list[Floats]:
        every = list(chain.from_iterable(requests))
        scores = await self.compute(lambda: self._model.scores(every))
        ends = np.cumsum([len(pairs) for pairs in requests])[:-1]
        return [Floats.of(each) for each in np.split(scores, ends)]


class Linker(_Replica):
    """The schema linker, one schema at a time: its windows are a batch of their own."""

    def __init__(self, arguments: Arguments) -> None:
        super().__init__(arguments, LinkerRequest)
        self._model = trained_linker(arguments.settings)
        self._model.link("ready", ONE_COLUMN)

    async def answer(self, message: LinkerRequest) -> SchemaLinks | None:
        """See `engine.core.ports.SchemaLinker.link`."""
        return await self.compute(lambda: self._model.link(message.question, message.snapshot))


def encoder(args: dict[str, Any]) -> serve.Application:
    """The application `encoder`; so the others below. `args`: see `Arguments`."""
    return _application(Encoder, args)


def router(args: dict[str, Any]) -> serve.Application:
    """The application `router`."""
    return _application(Router, args)


def ranker(args: dict[str, Any]) -> serve.Application:
    """The application `ranker`."""
    return _application(Ranker, args)


def linker(args: dict[str, Any]) -> serve.Application:
    """The application `linker`."""
    return _application(Linker, args)


def _application(kind: type[_Replica], args: dict[str, Any]) -> serve.Application:
    arguments = msgspec.convert(args, Arguments, dec_hook=lambda _, value: Path(value))
    return serve.deployment(kind).bind(arguments)
