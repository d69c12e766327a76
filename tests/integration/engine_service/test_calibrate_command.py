"""`pgparley calibrate` through the engine's interface: a file of pairs, what was said, and how it stands."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import typer
from aiohttp import web
from typer.testing import CliRunner

from engine.api.console_views import ConsoleViews
from engine.api.endpoints import EngineAPI
from engine.api.service import Service
from engine.calibration.service import Calibrating
from engine.calibration.store import CalibrationStore
from engine.evaluation.evaluating import Evaluating, Trials
from engine.llm.settings import ModelSettings
from engine.metrics import Metrics
from engine.suggestions.suggesting import Suggesting
from pgparley.calibrate_commands import Calibration, calibrate, status
from pgparley.cli import app
from pgparley.config import load

QUESTION = "name of each singer"
RIGHT = "SELECT name FROM singer"


@pytest.fixture
async def engine(
    learning: Service, calibrating: Calibrating, pool: Any, tmp_path: Path
) -> AsyncIterator[Path]:
    """The configuration file of an engine that answers on a socket."""
    ready = asyncio.Event()
    console = ConsoleViews(pool, ModelSettings(), ready, calibrating, lambda: 0)
    runner = web.AppRunner(
        EngineAPI(
            learning,
            Metrics(),
            ready,
            console,
            calibrating,
            Evaluating(calibrating.tools, calibrating.limits, Trials(pool, calibrating.tools.upstream)),
            Suggesting(calibrating.tools.catalog, calibrating.tools.model, pool),
        ).application()
    )
    await runner.setup()
    await web.UnixSite(runner, str(tmp_path / "e.sock")).start()
    file = tmp_path / "pgparley.toml"
    file.write_text(f'[engine]\nsocket = "{tmp_path}/e.sock"\n', encoding="utf-8")
    yield file
    await runner.cleanup()


def options(origin: str) -> Calibration:
    return Calibration(origin, "ana", None, again=False, named=True)


async def test_the_command_judges_a_file_and_goes_on_where_it_was(
    engine: Path, points: CalibrationStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = load(engine, {})
    lines = [
        {"id": number, "question": f"{QUESTION} {number}", "database": "music", "sql": sql}
        for number, sql in enumerate([RIGHT, "SELECT max(age) FROM singer", "SELECT 1 WHERE false"])
    ]
    file = tmp_path / "pairs.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)) + "\n\n", encoding="utf-8")
    assert await calibrate(config, options(str(file))) == 0
    shown = capsys.readouterr().out
    assert "1 right, 1 skipped, 1 wrong" in shown
    assert "2: its statement gives no row" in shown
    assert len(await points.points()) == 2
    assert await calibrate(config, options(str(file))) == 0
    assert "2 known, 1 skipped" in capsys.readouterr().out
    assert await calibrate(config, options("verified")) == 0
    assert "nothing to judge in verified" in capsys.readouterr().out
    assert await status(config, as_json=True) == 0
    assert json.loads(capsys.readouterr().out)["sources"] == [["file", 2]]


@pytest.mark.parametrize(
    ("text", "told"),
    [("{", "line 1: "), ('{"id": 1}', "line 1: Object missing required field"), (None, "cannot read")],
)
async def test_a_file_that_is_none(
    engine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None, told: str
) -> None:
    file = tmp_path / "pairs.jsonl"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    with pytest.raises(typer.Exit) as ended:
        await calibrate(load(engine, {}), options(str(file)))
    assert ended.value.exit_code == 1
    assert told in capsys.readouterr().err


async def test_no_engine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = load(None, {"PGPARLEY_ENGINE_SOCKET": str(tmp_path / "none")})
    with pytest.raises(typer.Exit):
        await status(config, as_json=False)
    assert "the engine does not answer" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["--from", "pairs.jsonl", "--status"]])
def test_wrong_usage(arguments: list[str]) -> None:
    done = CliRunner().invoke(app, ["calibrate", *arguments])
    assert done.exit_code == 2
    assert "give either --from or --status" in done.output
