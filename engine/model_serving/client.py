"""The engine's side of networks that run elsewhere: each port of theirs, answered over HTTP.

Owns deadlines, attempts and errors. Every call asks a pure function, so that a lost answer is asked for again.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, TypeVar

import httpx2
import msgspec
import numpy as np
import structlog
from numpy.typing import NDArray

from engine.core import deadline
from engine.core.elements import SchemaLinks
from engine.errors import ModelUnavailableError, for_log
from engine.model_serving.messages import (
    DIFFERS,
    FINGERPRINT,
    REFUSED,
    Floats,
    LinkerRequest,
    RankerRequest,
    RouterRequest,
    Served,
    TextsRequest,
    TextVectors,
    decode,
    encode,
)
from engine.models.cross import Pair
from engine.models.sentences import Encoded
from engine.routing.artifact import ArtifactError, Manifest
from engine.settings import EncoderSettings
from schema_catalog.types import Snapshot

CONNECT_SECONDS = 2.0
"""What a connection may take to be made."""

AT_MOST = 256
"""Texts a request: between two of a large schema a replica answers others."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0
"""Seconds between attempts: doubled from the one to the other."""

_ATTEMPTS = 3
"""Attempts that a call has time for when each waits as long as it may; more where they fail sooner."""

_TOLD = 200
"""Characters of a refusal that are repeated."""

_OK, _TOO_MANY, _FAILED = 200, 429, 500

T = TypeVar("T")

log = structlog.stdlib.get_logger("engine")


class ModelServer:
    """Calls of the applications below `settings.base_url`. Blocks; safe to call from several threads."""

    def __init__(self, base_url: str, settings: EncoderSettings, fingerprint: str) -> None:
        """`fingerprint`: of the networks wanted, `engine.calibration.fingerprint.networks`."""
        self._base_url = base_url.rstrip("/")
        self._seconds = settings.timeout
        self._client = httpx2.Client(headers={FINGERPRINT: fingerprint})

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    def call(self, to: Served, request: Any, answer: type[T], *, for_several: bool = False) -> T:
        """The answer, asked for again until there is one or time is up; `for_several` askers: whatever their own time.

        Raises `ModelUnavailableError`, `CancelledError` (the question's time) and `ArtifactError` (no such version).
        """
        own = None if for_several else deadline.current()
        started, content = time.monotonic(), encode(request)
        until, pause = started + self._seconds, _FIRST_PAUSE
        while True:
            left = until - time.monotonic()
            if own is not None:
                left = min(left, own.remaining())
            try:
                return self._attempt(to, content, answer, min(left, self._seconds / _ATTEMPTS))
            except _AgainError as problem:
                if time.monotonic() + pause >= until:
                    raise self._unavailable(to, problem) from problem
                log.warning("model call repeated", model=to.value, problem=for_log(problem))
            time.sleep(min(pause, own.remaining()) if own is not None else pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _attempt(self, to: Served, content: bytes, answer: type[T], seconds: float) -> T:
        timeout = httpx2.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))
        try:
            reply = self._client.post(f"{self._base_url}/{to.value}", content=content, timeout=timeout)
        except httpx2.HTTPError as problem:
            raise _AgainError(f"{type(problem).__name__}: {problem}") from problem
        if reply.status_code == _OK:
            try:
                return decode(reply.content, answer)
            except msgspec.DecodeError as problem:
                raise self._not_ours(to, f"an answer that is not understood: {problem}") from problem
        said = f"{reply.status_code} {reply.text[:_TOLD]}"
        if reply.status_code == REFUSED:
            raise ArtifactError(reply.text[:_TOLD])
        if reply.status_code == DIFFERS:
            raise self._not_ours(to, said)
        raise _AgainError(said)

    def _unavailable(self, to: Served, problem: Exception) -> ModelUnavailableError:
        return ModelUnavailableError(
            f"the engine's {to.value} is not available",
            detail=f"{self._base_url}/{to.value}: {problem}",
            hint="Check [encoder] base_url, and with serve status that its applications run.",
        )

    def _not_ours(self, to: Served, said: str) -> ModelUnavailableError:
        return ModelUnavailableError(
            f"the {to.value} at [encoder] base_url is not this engine's",
            detail=f"{self._base_url}/{to.value}: {said}",
            hint="Run there the release of pgparley, and the encoder, that this engine has.",
        )


class _AgainError(Exception):
    """An attempt that may be made again."""


class ServedSentences:
    """`engine.models.encoder.Sentences` by the application `encoder`."""

    def __init__(self, server: ModelServer) -> None:
        self._server = server

    def sentences(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `engine.models.sentences.SentenceModel.sentences`."""
        parts = [
            self._server.call(Served.ENCODER, TextsRequest(tuple(some)), TextVectors).sentences.array()
            for some in _split(texts)
        ]
        return np.concatenate(parts)

    def questions(self, texts: Sequence[str]) -> list[Encoded]:
        """See `engine.models.sentences.SentenceModel.questions`."""
        found: list[Encoded] = []
        for some in _split(texts):
            request = TextsRequest(tuple(some), questions=True)
            found += self._server.call(Served.ENCODER, request, TextVectors, for_several=True).encoded()
        return found


class ServedTower:
    """What `engine.models.pointer.PointerModel` reads questions with, by the application `router`."""

    def __init__(self, server: ModelServer, manifest: Manifest) -> None:
        self._server = server
        self._manifest = manifest

    def questions(self, texts: Sequence[str]) -> list[Encoded]:
        """See `engine.routing.pointer_api.Pointer.read`; raises `ArtifactError` where this version is not there."""
        found: list[Encoded] = []
        for some in _split(texts):
            request = RouterRequest(self._manifest.version, self._manifest.weights_sha256, tuple(some))
            found += self._server.call(Served.ROUTER, request, TextVectors, for_several=True).encoded()
        return found


class ServedReader:
    """`engine.ranking.ranker.Reader` by the application `ranker`."""

    def __init__(self, server: ModelServer) -> None:
        self._server = server

    def scores(self, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        """See `engine.ranking.ranker.Reader.scores`."""
        if not pairs:
            return np.zeros((0, 2), dtype=np.float32)
        request = RankerRequest(tuple((question, tuple(phrases)) for question, phrases in pairs))
        return self._server.call(Served.RANKER, request, Floats).array()


class ServedLinker:
    """`engine.core.ports.SchemaLinker` by the application `linker`."""

    def __init__(self, server: ModelServer) -> None:
        self._server = server

    def link(self, question: str, snapshot: Snapshot) -> SchemaLinks | None:
        """See `engine.core.ports.SchemaLinker.link`."""
        if not snapshot.tables:
            return None
        kind: Any = SchemaLinks | None
        found: SchemaLinks | None = self._server.call(Served.LINKER, LinkerRequest(question, snapshot), kind)
        return found


def _split(texts: Sequence[str]) -> list[Sequence[str]]:
    return [texts[start : start + AT_MOST] for start in range(0, len(texts), AT_MOST)]
