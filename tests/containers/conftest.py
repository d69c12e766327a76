"""The three images, built once from this checkout; the tests are skipped where podman or room for them is missing.

PGPARLEY_TEST_BUILD    more words to "podman build": --build-arg PYTHON=…, --secret id=pip,src=…, --network host
PGPARLEY_TEST_IMAGES   images of such a build that are there already, as in "localhost/pgparley"
"""

from __future__ import annotations

import os
import shlex
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.containers.container import PODMAN, Site, podman

ROOM = 6 << 30
"""Bytes that images and layers take while they are built."""

BUILD_SECONDS = 3600.0


@pytest.fixture(scope="session")
def images(request: pytest.FixtureRequest) -> dict[str, str]:
    """Target of the Dockerfile → the image's name."""
    if shutil.which(PODMAN) is None:
        pytest.skip("no container was run: podman is not installed")
    store = Path(podman("info", "--format", "{{.Store.GraphRoot}}").stdout.strip())
    if given := os.environ.get("PGPARLEY_TEST_IMAGES"):
        return {target: f"{given}:{target}" for target in ("gateway", "engine", "model")}
    if (free := shutil.disk_usage(store).free) < ROOM:
        pytest.skip(
            f"no container was run: {store} has {free >> 20} MiB free, and the images need {ROOM >> 20}"
        )
    return {target: _built(target, request) for target in ("gateway", "model", "engine")}


def _built(target: str, request: pytest.FixtureRequest) -> str:
    name, began = f"localhost/pgparley-test:{target}", time.monotonic()
    more = shlex.split(os.environ.get("PGPARLEY_TEST_BUILD", ""))
    file = ROOT / "deploy" / "container" / "Dockerfile"
    # Without the format there would be no health check.
    words = (
        "build",
        "--format=docker",
        *more,
        f"--file={file}",
        f"--target={target}",
        f"--tag={name}",
        str(ROOT),
    )
    podman(*words, seconds=BUILD_SECONDS)
    size = int(podman("image", "inspect", "--format", "{{.Size}}", name).stdout)
    said = f"\n{name}: {size / 1e6:.0f} MB, built in {time.monotonic() - began:.0f} s\n"
    request.config.get_terminal_writer().write(said)
    return name


@pytest.fixture(scope="module")
def site(
    images: dict[str, str], request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    """An empty network of a module's containers."""
    prefix = f"pgparley-test-{os.getpid()}-{request.module.__name__.rpartition('.')[2]}"
    made = Site(prefix, images["gateway"], tmp_path_factory.mktemp("site") / "hosts")
    try:
        yield made
    finally:
        made.remove()
