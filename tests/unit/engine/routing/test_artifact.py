"""Versions of the router on disk: complete or absent, switched at once, and never taken up damaged."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from structlog.testing import capture_logs

from engine.routing.artifact import BASE, Arrays, Artifact, ArtifactError, ArtifactStore, Manifest, write
from engine.routing.candidate_space import CandidateSpace
from engine.routing.decoder import BeamSettings
from engine.routing.learned_router import Versions
from engine.routing.pointer_api import Asked, Encoded, Pointed

ARRAYS: Arrays = {"network.scalar": np.array(2.0, dtype=np.float32), "tower.x": np.eye(3, dtype=np.float16)}


def manifest(version: str, parent: str | None = BASE) -> Manifest:
    return Manifest(version, "an encoder", f"2026-01-01T00:00:0{version[-1]}", "a test", parent)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    folder = tmp_path / "base"
    folder.mkdir()
    write(folder, Manifest(BASE, "an encoder", "2025-01-01", "a test"), ARRAYS)
    return folder


@pytest.fixture
def store(tmp_path: Path, base: Path) -> ArtifactStore:
    return ArtifactStore(tmp_path / "router", base)


def test_without_a_trained_one_the_base_is_current(store: ArtifactStore) -> None:
    assert store.current() == BASE
    assert [each.version for each in store.versions()] == [BASE]
    assert store.load(BASE).manifest.version == BASE


def test_what_was_saved_is_what_is_read(store: ArtifactStore) -> None:
    store.save(manifest("v1"), ARRAYS)
    found = store.load("v1")
    assert set(found.arrays) == set(ARRAYS)
    for name, array in ARRAYS.items():
        assert found.arrays[name].dtype == array.dtype
        assert found.arrays[name].shape == array.shape
        assert (found.arrays[name] == array).all()
    assert store.current() == BASE


def test_the_same_arrays_give_the_same_bytes(tmp_path: Path) -> None:
    digests = set()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        reordered = {key: ARRAYS[key] for key in reversed(list(ARRAYS))} if name == "two" else ARRAYS
        digests.add(write(tmp_path / name, manifest("v1"), reordered).weights_sha256)
    assert len(digests) == 1


def test_versions_are_listed_oldest_first_and_used_and_rolled_back(store: ArtifactStore) -> None:
    store.save(manifest("v2", parent="v1"), ARRAYS)
    store.save(manifest("v1"), ARRAYS)
    assert [each.version for each in store.versions()] == [BASE, "v1", "v2"]
    marks = [store.mark()]
    store.use("v2")
    marks.append(store.mark())
    assert store.current() == "v2"
    assert store.rollback() == "v1"
    marks.append(store.mark())
    assert store.rollback() == BASE
    assert len(set(marks)) == len(marks)
    with pytest.raises(ArtifactError, match="nothing came before"):
        store.rollback()
    assert store.current() == BASE


def test_a_version_is_never_overwritten(store: ArtifactStore) -> None:
    store.save(manifest("v1"), ARRAYS)
    with pytest.raises(ArtifactError, match="exists already"):
        store.save(manifest("v1"), {})
    assert set(store.load("v1").arrays) == set(ARRAYS)


@pytest.mark.parametrize("name", ["nowhere", "", "../base", ".making-x", "a/b"])
def test_a_name_that_is_no_versions(store: ArtifactStore, name: str) -> None:
    with pytest.raises(ArtifactError, match="router status"):
        store.use(name)
    assert store.current() == BASE


def test_a_write_that_fails_leaves_nothing(
    store: ArtifactStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space"):
        store.save(manifest("v1"), ARRAYS)
    monkeypatch.undo()
    assert os.listdir(tmp_path / "router") == []  # noqa: PTH208  what the folder holds, hidden files too


@pytest.mark.parametrize("damage", ["cut", "flipped", "gone", "manifest", "format"])
def test_a_damaged_version_is_refused_and_the_one_in_use_stays(
    store: ArtifactStore, tmp_path: Path, damage: str
) -> None:
    store.save(manifest("v1"), ARRAYS)
    store.use("v1")
    store.save(manifest("v2"), ARRAYS)
    weights, said = (tmp_path / "router" / "v2" / name for name in ("weights.npz", "manifest.json"))
    content = weights.read_bytes()
    match damage:
        case "cut":
            weights.write_bytes(content[:100])
        case "flipped":
            weights.write_bytes(content[:90] + bytes([content[90] ^ 1]) + content[91:])
        case "gone":
            weights.unlink()
        case "manifest":
            said.write_text("{", encoding="utf-8")
        case "format":
            said.write_text(
                said.read_text(encoding="utf-8").replace('"format": 2', '"format": 3'), encoding="utf-8"
            )
    with pytest.raises(ArtifactError, match="v2"):
        store.use("v2")
    assert store.current() == "v1"


class NamedPointer:
    """A pointer that is nothing but its version."""

    def __init__(self, artifact: Artifact) -> None:
        self.version = artifact.manifest.version
        self.quantized = False

    def read(self, questions: Sequence[str]) -> Sequence[Encoded]:
        """Nothing."""
        return ()

    def point(self, asked: Sequence[Asked], field: CandidateSpace, settings: BeamSettings) -> list[Pointed]:
        """Nothing."""
        return []


def version_of(versions: Versions) -> str | None:
    pointer = versions.current()
    return pointer.version if pointer else None


def test_a_running_engine_takes_up_what_was_made_current(store: ArtifactStore) -> None:
    versions = Versions(store, NamedPointer)
    assert version_of(versions) == BASE
    store.save(manifest("v1"), ARRAYS)
    assert version_of(versions) == BASE
    store.use("v1")
    assert version_of(versions) == "v1"
    assert versions.current() is versions.current()
    store.rollback()
    assert version_of(versions) == BASE


def test_a_version_that_breaks_after_it_was_chosen_does_not_stop_routing(
    store: ArtifactStore, tmp_path: Path
) -> None:
    versions = Versions(store, NamedPointer)
    store.save(manifest("v1"), ARRAYS)
    assert version_of(versions) == BASE
    store.use("v1")
    (tmp_path / "router" / "v1" / "weights.npz").write_bytes(b"")
    with capture_logs() as logs:
        assert version_of(versions) == BASE
        assert version_of(versions) == BASE
    assert [(each["event"], each["version"]) for each in logs] == [("router version not taken up", "v1")]


def test_without_any_version_retrieval_is_left(tmp_path: Path) -> None:
    versions = Versions(ArtifactStore(tmp_path / "router", tmp_path / "nowhere"), NamedPointer)
    with capture_logs() as logs:
        assert version_of(versions) is None
    assert logs[0]["kept"] == "the retrieval leg alone"
