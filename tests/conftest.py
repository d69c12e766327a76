"""Fixtures that several folders share: servers of PostgreSQL, and the embedded model, which runs once."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import settings

from pgparley import cluster
from pgparley.cluster import Cluster
from pgparley.config import load

ROOT = Path(__file__).parents[1]

# A busy machine is no failure of what is tested.
settings.register_profile("quick", deadline=None, max_examples=30)
settings.register_profile("whole", deadline=None)


def pytest_configure(config: pytest.Config) -> None:
    """With the slow tests every property is tried on more examples."""
    settings.load_profile("quick" if config.option.markexpr == "not slow" else "whole")


LONGEST = (
    "integration/llm/test_embedded.py",
    "integration/main_path/test_main_path.py",
    "integration/serve/test_several_engines.py",
    "integration/demo/test_quickstart.py",
    "integration/serve/test_parts.py",
    "integration/serve/test_installation.py",
    "security/test_attacks.py",
    "security/test_leftovers.py",
)
"""Files in which minutes are spent: they come first, so that no process waits at the end for the other's."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first; `make test` gives files to its processes in this order."""
    items.sort(key=lambda item: not item.path.as_posix().endswith(LONGEST))


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def uncollected() -> Iterator[None]:
    """No collection of what the process has gathered until now: in the whole suite one takes half a second."""
    gc.disable()
    yield
    gc.enable()


Postgres = Callable[[str], AbstractContextManager[Cluster]]

_QUICK = "fsync = off\nfull_page_writes = off\nsynchronous_commit = off\nautovacuum = off\n"
"""No test needs to outlive a machine that loses its power, or statistics that come by themselves."""

COPY = "STRATEGY file_copy"
"""How a database is made of its template: in half the time, where nothing is flushed to the disk."""


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    """Runs a new server under a name: a copy of one that was made once, and is removed like its copies."""
    made = tmp_path_factory.mktemp("made") / "pg"
    cluster.stop(cluster.start(made))
    with (made / "postgresql.conf").open("a", encoding="utf-8") as file:
        file.write(_QUICK)

    @contextmanager
    def running(name: str) -> Iterator[Cluster]:
        data = tmp_path_factory.mktemp(name) / "pg"
        subprocess.run(["cp", "-a", str(made), str(data)], check=True)  # noqa: S603, S607 - with its owner
        started = cluster.start(data)
        try:
            yield started
        finally:
            # At once and without a checkpoint: its files go with it.
            with suppress(FileNotFoundError, ProcessLookupError):
                os.kill(int((data / "postmaster.pid").read_text().split()[0]), signal.SIGQUIT)
            cluster.stop(started)
            shutil.rmtree(data)

    yield running
    shutil.rmtree(made)


@pytest.fixture(scope="session")
def model_url() -> Iterator[str]:
    """The base URL of the embedded model, in a process of its own."""
    path = load(None).embedded_model.path
    assert path.is_file(), "the model is missing: run `pgparley fetch-model` (make test does)"
    port = free_port()
    environment = {**os.environ, "PGPARLEY_EMBEDDED_MODEL_PORT": str(port)}
    command = [sys.executable, "-m", "pgparley.processes", "model"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, cwd=ROOT)  # noqa: S603
    try:
        _until_healthy(f"http://127.0.0.1:{port}/health", process)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(20)


def _until_healthy(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        assert process.poll() is None, "the model's process ended"
        try:
            with urllib.request.urlopen(url, timeout=1):  # noqa: S310 - a loopback URL of our own
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise AssertionError("the model did not start in 90 seconds")
