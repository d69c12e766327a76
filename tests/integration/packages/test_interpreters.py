"""The one wheel on every version of CPython that is supported, as far as this machine has them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pgparley import cluster
from tests.support.installed import MINORS, Installed, interpreter

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.mark.parametrize("minor", MINORS)
def test_the_wheel_relays_with_its_compiled_parts(
    wheels: dict[str, Path], upstream: cluster.Cluster, tmp_path: Path, minor: int
) -> None:
    found = interpreter(minor)
    if found is None:
        pytest.skip(f"there is no CPython 3.{minor} here")
    installed = Installed.by(found, tmp_path / "gateway", wheels["pgparley"])
    assert installed.compiled
    assert installed.relays(f"{upstream.socket_dir}:{upstream.port}") == 20_000
    shutil.rmtree(installed.folder)
