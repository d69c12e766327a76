"""The embedded model as the commands take it: this module is a `pgparley.plugins.EmbeddedModel`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from engine.values.model_settings import EmbeddedModelSettings
from pgparley.check.finding import Finding, ok, problem, warning
from pgparley.check.parts import room
from pgparley_local.fetch import ensure_model, is_verified
from pgparley_local.model_file import QWEN_CODER_1_5B


def fetch(directory: Path) -> Path:
    """The model's file, fetched where it is not there yet, with progress on the terminal."""
    bars = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
    )
    with Progress(*bars, console=Console(stderr=True)) as progress:
        tasks: dict[str, TaskID] = {}

        def report(step: str, done: int, total: int) -> None:
            if step not in tasks:
                tasks[step] = progress.add_task(step, total=total or None)
            progress.update(tasks[step], completed=done, total=total or None)

        return ensure_model(QWEN_CODER_1_5B, directory, report)


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
