"""Trains and measures routers on the catalog, by questions made of its schemas' names. Heavy: brings torch."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

import numpy as np

from engine.models.encoder import MiniLMEncoder
from engine.models.fitting import NetworkTrainer
from engine.models.pointer import PointerModel, packaged_base
from engine.routing.artifact import BASE, Artifact, ArtifactStore, Manifest
from engine.routing.index import Index, build
from engine.routing.questioner import lesson, packaged
from engine.routing.training import (
    Example,
    Progress,
    Terrain,
    TrainingSettings,
    held_out,
    measure,
    portioned,
    train,
)
from engine.routing.vectors import VectorCache
from engine.settings import EncoderSettings
from schema_catalog.types import Snapshot

ENCODER = "all-MiniLM-L6-v2"


class RouterError(Exception):
    """Training or measuring is not possible; the message says what to do."""


class Coverage(StrEnum):
    """Whether a version was trained on a database of the catalog."""

    TRAINED = "trained"
    CHANGED = "changed since"
    NEW = "new"


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A line of a file of questions: tables by name, with the schema where two tables share the bare one."""

    question: str
    db: str
    tables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Workshop:
    """Paths and settings of the work. `folder`: of the router. `vectors`: the cache of schema vectors."""

    folder: Path
    vectors: Path | None
    encoder: EncoderSettings

    @property
    def versions(self) -> ArtifactStore:
        """The versions in the folder, and the one that comes along."""
        return ArtifactStore(self.folder, packaged_base())

    def terrain(self, snapshots: Sequence[Snapshot]) -> Terrain:
        """The catalog's databases with at least one column, encoded; raises `RouterError` where there is none."""
        cache = VectorCache(MiniLMEncoder(self.encoder), model=ENCODER, path=self.vectors)
        held = [snapshot for snapshot in snapshots if any(table.columns for table in snapshot.tables)]
        if not held:
            raise RouterError(
                "no registered database holds a table; register one with `pgparley catalog add`"
            )
        return Terrain.of(Index([build(snapshot, cache.encode) for snapshot in held]))


def examples(terrain: Terrain, questions: Sequence[AnsweredQuestion]) -> list[Example]:
    """Those of `questions` whose database and tables are in the catalog still."""
    numbers = {part.snapshot.database: n for n, part in enumerate(terrain.index.parts)}
    found = []
    for one in questions:
        number = numbers.get(one.db)
        if number is not None:
            tables = _tables_of(one, terrain.index.parts[number].snapshot)
            if tables:
                found.append(Example(one.question, number, tables))
    return found


def _tables_of(question: AnsweredQuestion, snapshot: Snapshot) -> tuple[int, ...]:
    times = Counter(table.name for table in snapshot.tables)
    numbers = {
        table.name if times[table.name] == 1 else f"{table.schema}.{table.name}": number
        for number, table in enumerate(snapshot.tables)
    }
    found = [numbers.get(name) for name in question.tables]
    return tuple(number for number in found if number is not None) if None not in found else ()


def coverage(manifest: Manifest, snapshots: Sequence[Snapshot]) -> dict[str, Coverage]:
    """Database → whether the version was trained on it."""
    found = {}
    for snapshot in snapshots:
        held = manifest.schemas.get(snapshot.database)
        known = Coverage.TRAINED if held == snapshot.fingerprint else Coverage.CHANGED
        found[snapshot.database] = known if held else Coverage.NEW
    return found


@dataclass(frozen=True, slots=True)
class Trained:
    """A new version, and whether it is no worse than its origin on questions held out of the training."""

    manifest: Manifest
    better: bool


def train_version(
    workshop: Workshop,
    snapshots: Sequence[Snapshot],
    start: str,
    settings: TrainingSettings,
    progress: Callable[[Progress], None],
) -> Trained:
    """Trains from version `start` and saves the outcome, not current yet. Raises `RouterError` and `ArtifactError`."""
    begun = time.monotonic()
    terrain = workshop.terrain(snapshots)
    known = lesson(terrain.index.parts, packaged())
    if all(held_out(one.question, settings.held_out) for one in known):
        raise RouterError(
            "no question can be made of the registered databases' names; register one whose tables have names of words"
        )
    origin = _origin(workshop.versions, start)
    trainer = NetworkTrainer(origin, workshop.encoder, seed=settings.seed)
    outcome = train(trainer, terrain, known, settings, progress)
    now = datetime.now(UTC)
    asked = {one.database for one in known}
    manifest = Manifest(
        version=now.strftime("%Y%m%dT%H%M%S"),
        encoder=ENCODER,
        created=now.isoformat(timespec="seconds"),
        command="pgparley router train",
        parent=start if origin else None,
        schemas={
            part.snapshot.database: part.snapshot.fingerprint
            for number, part in enumerate(terrain.index.parts)
            if number in asked
        },
        questions=outcome.trained,
        minutes=round((time.monotonic() - begun) / 60, 2),
        figures=outcome.figures,
    )
    written = workshop.versions.save(manifest, trainer.arrays(outcome.temperature))
    figures = outcome.figures
    better = not figures or figures["nll"] <= figures["nll_before"]
    return Trained(written, better)


def evaluate(
    workshop: Workshop,
    snapshots: Sequence[Snapshot],
    version: str,
    questions: Sequence[AnsweredQuestion] | None,
) -> tuple[dict[str, float], int]:
    """Figures and count; without `questions` of untrained ones. Raises `RouterError` and `ArtifactError`."""
    terrain = workshop.terrain(snapshots)
    known = _kept_apart(terrain) if questions is None else examples(terrain, questions)
    if not known:
        raise RouterError("none of the questions is about a database and tables of the catalog")
    pointer = PointerModel(workshop.versions.load(version), workshop.encoder)
    rng = np.random.default_rng(0)
    return measure(pointer, portioned(terrain, known, TrainingSettings().portion, rng)), len(known)


def _kept_apart(terrain: Terrain) -> list[Example]:
    share = TrainingSettings().held_out
    return [one for one in lesson(terrain.index.parts, packaged()) if held_out(one.question, share)]


def _origin(store: ArtifactStore, version: str) -> Artifact | None:
    """The version to start from; None, the encoder as it is, where the program comes without a base."""
    if version == BASE and BASE not in {manifest.version for manifest in store.versions()}:
        return None
    return store.load(version)
