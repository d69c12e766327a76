"""The embedded model as the commands take it: this module is a `pgparley.plugins.EmbeddedModel`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from engine.values.errors import ModelUnavailableError
from engine.values.model_settings import EmbeddedModelSettings
from pgparley.check.finding import Finding, ok, problem, warning
from pgparley.check.parts import room
from pgparley_local.fetch import described, ensure_model, is_verified
from pgparley_local.model_file import DEFAULT, QWEN_CODER_1_5B, ModelFile, model_file

MEMORY = 1.15
"""Of a file's size is what its model takes, beside `CACHE`."""

CACHE = 1 << 30
"""Bytes for what the model has read, with the context that is set."""


def fetch(directory: Path, name: str = "", file: str = "", sha256: str = "") -> Path:
    """A model's file, fetched where it is not there yet, with progress on the terminal.

    `name`: of a known model, without one the demo's; or of the hub's repository that has `file`.
    """
    try:
        wanted = model_file(name or DEFAULT, file, sha256)
    except ValueError as unknown:
        raise ModelUnavailableError(str(unknown)) from unknown
    console = Console(stderr=True)
    model = described(wanted, directory / wanted.name)
    console.print(memory_told(model), highlight=False)
    bars = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
    )
    with Progress(*bars, console=console) as progress:
        tasks: dict[str, TaskID] = {}

        def report(step: str, done: int, total: int) -> None:
            if step not in tasks:
                tasks[step] = progress.add_task(step, total=total or None)
            progress.update(tasks[step], completed=done, total=total or None)

        return ensure_model(model, directory, report)


def memory_told(model: ModelFile) -> str:
    """What a model takes, beside what this machine has."""
    needed = MEMORY * model.size + CACHE
    has = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    told = f"{model.name}: {_gb(model.size)} on the disk, about {_gb(needed)} of memory"
    return told if needed < has else f"{told}; this machine has {_gb(has)}: it will hardly run here"


def _gb(size: float) -> str:
    return f"{size / 1e9:.1f} GB"


def check(path: Path) -> Iterator[Finding]:
    """What is to be said of the model's file, and where it is missing of the room for it."""
    ours = path.name == QWEN_CODER_1_5B.name
    if not path.is_file():
        action = "Run: pgparley fetch-model" if ours else "Correct path in [embedded_model]."
        yield problem("model", f"{path} is not there", action)
        yield room("model", path.parent, 2 * QWEN_CODER_1_5B.size)
    elif ours and not is_verified(QWEN_CODER_1_5B, path):
        yield warning("model", f"{path} was never verified, or changed since", "Run: pgparley fetch-model")
    else:
        yield ok("model", str(path))


def serve(settings: EmbeddedModelSettings, name: str, key: str, *, reuse_port: bool) -> None:
    """The server as a process of its own; ends on SIGINT or SIGTERM."""
    from pgparley_local.server import run  # noqa: PLC0415  llama.cpp, which the others do without

    run(settings, name, key, reuse_port=reuse_port)
