"""The embedded model server as a process of its own, as `pgparley serve` starts it."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.quality.candidates.meter import Meter

ROOT = Path(__file__).resolve().parents[3]
_READY = 120.0


@contextmanager
def model_server(meter: Meter, log: Path) -> Iterator[int]:
    """The embedded model server on a free port, with an empty cache, as what `meter` relays to; its process id."""
    port = _free_port()
    environment = {**os.environ, "PGPARLEY_EMBEDDED_MODEL_PORT": str(port)}
    command = [sys.executable, "-m", "pgparley.processes", "model"]
    with log.open("ab") as output:
        started = subprocess.Popen(command, env=environment, stdout=output, stderr=output, cwd=ROOT)
    try:
        meter.target = f"http://127.0.0.1:{port}"
        _until_healthy(f"{meter.target}/health", started, log)
        yield started.pid
    finally:
        started.terminate()
        started.wait(30)


def _until_healthy(url: str, started: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _READY
    while time.monotonic() < deadline:
        if started.poll() is not None:
            raise RuntimeError(f"the model server ended at once; see {log}")
        with contextlib.suppress(urllib.error.URLError, OSError), urllib.request.urlopen(url, timeout=1):  # noqa: S310 - our own server
            return
        time.sleep(0.2)
    raise RuntimeError(f"the model server was not ready in {_READY:.0f} seconds; see {log}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
