"""Commands of the command line, run in the test's process."""

from __future__ import annotations

from collections.abc import Callable

from typer import Typer
from typer.testing import CliRunner, Result

Run = Callable[..., Result]


def runner(app: Typer) -> Run:
    """Runs a command of `app` on a terminal that is wide and has no colours."""

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "250", "TERM": "dumb"})

    return run
