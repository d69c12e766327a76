"""The networks that an engine asks: in its own process, or those that Ray Serve runs for it (`[encoder] base_url`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial

from engine.calibration.fingerprint import networks
from engine.core.ports import SchemaLinker
from engine.model_serving.messages import Served
from engine.models.encoder import MiniLMEncoder
from engine.models.linker import LinkerEncoder
from engine.models.packaged import read
from engine.models.pointer import PointerModel, packaged_base
from engine.ranking.ranker import Reader
from engine.routing.artifact import Artifact, ArtifactStore
from engine.routing.pointer_api import Pointer
from engine.schema_linking import branching, linker
from engine.schema_linking.branching import TrainedBranching
from engine.schema_linking.linker import TrainedLinker
from engine.settings import EncoderSettings, EngineSettings
from schema_catalog.types import Column, Snapshot, Table, TableKind

ONE_COLUMN = Snapshot("", (), (Table("", "ready", TableKind.TABLE, (Column("ready", "text"),)),))
"""A schema to ask the linker about, so that it loads: for one without tables it does not."""


@dataclass(frozen=True, slots=True)
class Networks:
    """`reader`: the ranker's cross-encoder, None for one in this process. `pointer`: of a version of the router."""

    encoder: MiniLMEncoder
    linker: SchemaLinker
    reader: Reader | None
    pointer: Callable[[Artifact], Pointer]


@contextmanager
def networks_of(settings: EngineSettings) -> Iterator[Networks]:
    """Those of these settings; raises `PackagedError`, and `EncoderUnavailableError` without the encoder's files."""
    own = settings.encoder
    if own.base_url is None:
        pointer = lambda artifact: PointerModel(artifact, own)  # noqa: E731
        yield Networks(MiniLMEncoder(own), trained_linker(own), None, pointer)
        return
    # Loads an HTTP client, which an engine with networks of its own does without.
    from engine.model_serving import client  # noqa: PLC0415

    with closing(client.ModelServer(own.base_url, own, networks(own))) as server:
        yield Networks(
            MiniLMEncoder(own, client.ServedSentences(server)),
            client.ServedLinker(server),
            client.ServedReader(server),
            lambda artifact: PointerModel(artifact, own, client.ServedTower(server, artifact.manifest)),
        )


def probes(settings: EngineSettings) -> Iterator[tuple[Served, Callable[[], object]]]:
    """A small call of each network that runs elsewhere, to see whether it answers; each raises as its port."""
    with networks_of(settings) as found:
        yield Served.ENCODER, lambda: found.encoder.encode(["ready"])
        if settings.router is not None:
            routers = ArtifactStore(settings.router, packaged_base())
            yield Served.ROUTER, lambda: found.pointer(routers.load(routers.current())).read(["ready"])
        if found.reader is not None and settings.generation.second_stage:
            yield Served.RANKER, partial(found.reader.scores, [("ready", ("ready",))])
        yield Served.LINKER, lambda: found.linker.link("ready", ONE_COLUMN)


def trained_linker(settings: EncoderSettings) -> TrainedLinker:
    """In this process; raises `PackagedError`."""
    model = LinkerEncoder(read(linker.packaged(), linker.NAME, linker.FORMAT), settings)
    return TrainedLinker(model, TrainedBranching.of(branching.packaged(), model.version))
