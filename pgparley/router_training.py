"""Trains and measures routers on the catalog and the questions written for it.

Owns the files of the router's folder beside its versions (the journal of questions), the filter for questions that
still belong to the catalog, and a version's manifest. Shows nothing. Heavy: brings torch.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

import msgspec
import numpy as np

from engine.models.encoder import MiniLMEncoder
from engine.models.fitting import NetworkTrainer
from engine.models.pointer import PointerModel, packaged_base
from engine.routing.artifact import BASE, Artifact, ArtifactStore, Manifest
from engine.routing.index import Index
from engine.routing.question_filter import Style
from engine.routing.schema_index_entry import build
from engine.routing.synthesis import SyntheticQuestion, read_questions, tables_of
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


class _Line(msgspec.Struct, frozen=True):
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
    def journal(self) -> Path:
        """The file of questions that the language model wrote."""
        return self.folder / "questions.jsonl"

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


def written_questions(file: Path) -> list[SyntheticQuestion]:
    """The questions of a journal; none where there is no journal yet."""
    return list(read_questions(file)) if file.is_file() else []


def read_file(file: Path) -> list[SyntheticQuestion]:
    """The questions of a JSONL file; raises `RouterError` with the number of an invalid line."""
    try:
        lines = file.read_bytes().splitlines()
    except OSError as problem:
        raise RouterError(f"cannot read {file}: {problem.strerror}") from problem
    found = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                one = msgspec.json.decode(line, type=_Line)
                found.append(SyntheticQuestion(one.db, one.tables, (), one.question, Style.OTHER, ""))
            except msgspec.MsgspecError as problem:
                shape = '{"question": …, "db": …, "tables": […]}'
                raise RouterError(f"{file}, line {number}: {problem}; a line is {shape}") from problem
    return found


def examples(terrain: Terrain, questions: Sequence[SyntheticQuestion]) -> list[Example]:
    """Those of `questions` whose database and tables are in the catalog still."""
    numbers = {part.snapshot.database: n for n, part in enumerate(terrain.index.parts)}
    found = []
    for one in questions:
        number = numbers.get(one.db)
        if number is not None:
            tables = tables_of(one, terrain.index.parts[number].snapshot)
            if tables:
                found.append(Example(one.question, number, tables))
    return found


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
    """Trains from version `start` on all questions written so far, and saves the outcome; it is not current yet.

    Raises `RouterError` where there are too few questions, `ArtifactError` where `start` cannot be read.
    """
    begun = time.monotonic()
    terrain = workshop.terrain(snapshots)
    known = examples(terrain, written_questions(workshop.journal))
    if not any(not held_out(one.question, settings.held_out) for one in known):
        raise RouterError("no question was written for this catalog yet; run it without --no-synthesis")
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
    workshop: Workshop, snapshots: Sequence[Snapshot], version: str, questions: Sequence[SyntheticQuestion]
) -> tuple[dict[str, float], int]:
    """Figures of a version, and the number of questions they are of; raises `RouterError`, `ArtifactError`."""
    terrain = workshop.terrain(snapshots)
    known = examples(terrain, questions)
    if not known:
        raise RouterError("none of the questions is about a database and tables of the catalog")
    pointer = PointerModel(workshop.versions.load(version), workshop.encoder)
    rng = np.random.default_rng(0)
    return measure(pointer, portioned(terrain, known, TrainingSettings().portion, rng)), len(known)


def kept_apart(questions: Sequence[SyntheticQuestion]) -> list[SyntheticQuestion]:
    """The questions that no training saw."""
    return [one for one in questions if held_out(one.question, TrainingSettings().held_out)]


def with_threads(settings: EncoderSettings, threads: int) -> EncoderSettings:
    """The encoder's settings for training, with more threads than for serving."""
    return replace(settings, threads=threads)


def _origin(store: ArtifactStore, version: str) -> Artifact | None:
    """The version to start from; None, the encoder as it is, where the program comes without a base."""
    if version == BASE and BASE not in {manifest.version for manifest in store.versions()}:
        return None
    return store.load(version)
