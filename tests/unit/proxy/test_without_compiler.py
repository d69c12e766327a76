"""Where there is no C compiler the package installs all the same, and the relay takes its Python versions."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

WITHOUT = """
import sys
sys.modules["proxy.protocol._scan"] = sys.modules["proxy.net._pump"] = None
from proxy.net import pump
from proxy.protocol import fast, framing, scan
import proxy.server
assert not fast.COMPILED
assert (fast.hop, fast.frontend, fast.backend) == (framing.hop, scan.frontend, scan.backend)
assert pump.start() is None
"""


def test_a_build_without_a_compiler_leaves_the_modules_out(tmp_path: Path) -> None:
    pytest.importorskip("setuptools", reason="setuptools is where the package was built, not always here")
    command = [sys.executable, "setup.py", "-q", "build_ext"]
    command += ["--build-lib", str(tmp_path / "lib"), "--build-temp", str(tmp_path / "temp")]
    environment = {**os.environ, "CC": "/nonexistent/cc"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    assert "proxy.net._pump" in done.stderr, "it says what it leaves out"
    assert not list(tmp_path.rglob("*.so"))


def test_the_python_versions_are_taken_where_the_modules_are_missing() -> None:
    command = [sys.executable, "-c", WITHOUT]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
