"""Getting the embedded model, with progress on the terminal."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from engine.llm.fetch import ensure_model
from engine.values.model_file import QWEN_CODER_1_5B


def fetch(directory: Path) -> Path:
    """The model's file, fetched where it is not there yet; raises `ModelUnavailableError`."""
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
