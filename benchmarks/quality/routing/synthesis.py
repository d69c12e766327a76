"""Writes questions for the benchmark's schemas with the embedded model, to train the router on.

    python -m benchmarks.quality.routing.synthesis --out FILE [--bench FOLDER] [--seconds N] [--per-table N] [--most N]

Reads schemas only, never a question. The model server is its own, on two threads; both may be stopped and continued
(SIGSTOP, SIGCONT) at any time. A rerun with the same file goes on where the last one ended. SIGINT and SIGTERM end
it cleanly.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.quality.routing.collection import ROOT, read_views
from engine.llm.client import ChatModel
from engine.llm.settings import ModelSettings
from engine.routing.synthesis import Journal, Progress, SynthesisSettings, synthesise

THREADS, CALLS, CONTEXT = 2, 16, 12_288
EVERY = 20.0
"""Seconds between two lines of progress."""


def main() -> int:
    """Runs until the plan is done, the time is up or a signal comes; gives 0."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--bench", type=Path, default=ROOT.parent / "shared" / "bench", help="benchmark folder"
    )
    parser.add_argument("--out", type=Path, required=True, help="the journal: JSON lines")
    parser.add_argument("--seconds", type=float, help="stop after this long")
    parser.add_argument("--per-table", type=float, default=2.0, help="walks a table")
    parser.add_argument("--most", type=int, default=24, help="walks of one database at most")
    parser.add_argument("--port", type=int, default=0, help="of the model server; 0 finds one")
    args = parser.parse_args()
    with model_server(args.port) as url:
        asyncio.run(_synthesise(args, url))
    return 0


async def _synthesise(args: argparse.Namespace, url: str) -> None:
    snapshots = [snapshot for snapshot, _ in read_views(args.bench, pool=True)]
    journal = Journal(args.out)
    named = ModelSettings()
    settings = SynthesisSettings(named.model, per_table=args.per_table, most=args.most, concurrent=CALLS)
    model = ChatModel(named, url)
    work = asyncio.create_task(synthesise(snapshots, model, journal, settings, _Reporter()), name="synthesis")
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, work.cancel)
    with contextlib.suppress(asyncio.CancelledError, TimeoutError):
        await asyncio.wait_for(work, args.seconds)
    await model.aclose()
    print(
        f"{len(journal.questions)} questions", dict(Counter(question.style for question in journal.questions))
    )


class _Reporter:
    """Prints a line of progress every `EVERY` seconds."""

    def __init__(self) -> None:
        self._last = 0.0
        self._before: int | None = None

    def __call__(self, progress: Progress) -> None:
        if self._before is None:
            self._before = progress.questions
        if progress.seconds - self._last < EVERY:
            return
        self._last = progress.seconds
        pace = (progress.questions - self._before) / progress.seconds
        print(
            f"{progress.walks}/{progress.planned} walks, {progress.questions} questions, {pace:.2f} a second, "
            f"{progress.failed} failed",
            flush=True,
        )


@contextlib.contextmanager
def model_server(port: int = 0) -> Iterator[str]:
    """The base URL of an embedded model server on `port`, 0 for a free one; it ends with this block."""
    port = port or _free_port()
    values = {"PORT": port, "THREADS": THREADS, "SEQUENCES": CALLS + 2, "CONTEXT": CONTEXT}
    settings = {f"PGPARLEY_EMBEDDED_MODEL_{name}": str(value) for name, value in values.items()}
    command = [sys.executable, "-m", "pgparley.processes", "model"]
    environment = {**os.environ, **settings, "OMP_WAIT_POLICY": "passive"}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, cwd=ROOT)
    url = f"http://127.0.0.1:{port}"
    try:
        while not _healthy(url):
            if process.poll() is not None:
                raise SystemExit("the model server ended; `pgparley fetch-model` gets the model")
            time.sleep(0.2)
        yield f"{url}/v1"
    finally:
        process.terminate()
        process.wait()


def _healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=5):  # noqa: S310 - a loopback URL of our own
            return True
    except (urllib.error.URLError, OSError):
        return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    sys.exit(main())
