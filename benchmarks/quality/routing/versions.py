"""Trains the routers that the benchmark measures, on questions made of its schemas as `pgparley router train` does.

Owns which version answers for which collection. No question of a test set is read here.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.harness.schemas import View
from engine.core.ports import Encoder
from engine.models.fitting import NetworkTrainer
from engine.models.pointer import PointerModel, packaged_base
from engine.routing.artifact import BASE, ArtifactStore, Manifest
from engine.routing.index import Index, build
from engine.routing.learned_router import Versions
from engine.routing.questioner import lesson, packaged
from engine.routing.training import Terrain, TrainingSettings, train


class _Pinned(ArtifactStore):
    """A store in which one version is in use, whatever else its folder says."""

    def __init__(self, folder: Path, version: str) -> None:
        super().__init__(folder, packaged_base())
        self._version = version

    def current(self) -> str:
        """The pinned version."""
        return self._version

    def mark(self) -> tuple[int, int]:
        """Never changes."""
        return (1, 1)


def versions(folder: Path, version: str) -> Versions:
    """One version of the store in `folder`, or the base; raises `ArtifactError` where it cannot be read."""
    store = _Pinned(folder, version)
    store.load(version)
    return Versions(store, PointerModel)


def trained(
    folder: Path, name: str, views: Sequence[View], encoder: Encoder, settings: TrainingSettings
) -> dict[str, object]:
    """Trains the version `name` from the base and saves it; says how long that took and on how much."""
    started = time.perf_counter()
    store = ArtifactStore(folder, packaged_base())
    terrain = Terrain.of(Index([build(snapshot, encoder.encode) for snapshot, _ in views]))
    trainer = NetworkTrainer(store.load(BASE), seed=settings.seed)
    outcome = train(trainer, terrain, lesson(terrain.index.parts, packaged()), settings, lambda _: None)
    manifest = Manifest(
        version=name,
        encoder="all-MiniLM-L6-v2",
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        command="make bench-routing",
        parent=BASE,
        schemas={snapshot.database: snapshot.fingerprint for snapshot, _ in views},
        questions=outcome.trained,
        minutes=round(outcome.minutes, 2),
        figures=outcome.figures,
    )
    store.save(manifest, trainer.arrays(outcome.temperature))
    minutes = (time.perf_counter() - started) / 60
    return {"questions": outcome.trained, "train_minutes": minutes, "figures": outcome.figures}
