"""A DBA's morning goes its whole way, from psql and on the page; only the language model is scripted."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiohttp import web
from rich.console import Console

from docs.morning.from_psql import from_psql
from docs.morning.on_page import SHOWN, on_page
from docs.morning.place import ROOT, place
from docs.morning.steps import STEPS, WORD
from tests.chat_server import chat_server, completion
from tests.support.chromium import missing


async def chat(request: web.Request) -> web.Response:
    """One statement to every prompt, with the column's name as the prompt has it."""
    prompt = json.dumps(await request.json())
    if WORD in prompt.rpartition("Question")[2]:
        return completion("SELECT count(*) FROM customers")
    column = "gross_amount" if "gross_amount" in prompt else "gross_sales"
    return completion(f"SELECT region, sum({column}) FROM orders GROUP BY region")


async def models(request: web.Request) -> web.Response:
    return web.json_response({"object": "list", "data": [{"id": "m", "object": "model"}]})


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """Without the server's files once it has ended."""
    yield tmp_path
    shutil.rmtree(tmp_path / "postgres")


@pytest.mark.slow
@pytest.mark.timeout(400)
async def test_every_step_of_the_morning_from_psql(home: Path) -> None:
    async with chat_server(chat, models) as url, place(home, Console(stderr=True), f"{url}/v1") as at:
        done = await from_psql(at)
    assert [each.step for each in done] == list(STEPS)


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.skipif(missing() is not None, reason=str(missing()))
async def test_every_step_of_the_morning_on_the_page(home: Path) -> None:
    async with chat_server(chat, models) as url, place(home, Console(stderr=True), f"{url}/v1") as at:
        assert await on_page(at, home) == SHOWN
    assert all((home / f"{step.picture}.png").stat().st_size for step in SHOWN)


def test_the_morning_that_is_written_down_has_these_steps() -> None:
    text = (ROOT / "docs" / "morning.md").read_text("utf-8")
    at = 0
    for step in STEPS:
        for words in (f". {step.title}\n", *(f"\n{line.text}\n" for line in step.lines)):
            at = text.find(words, at)
            assert at >= 0, words
    for shown in SHOWN:
        at = text.find(f"(screenshots/{shown.picture}.png)", at)
        assert at >= 0, shown.picture
        assert (ROOT / "docs" / "screenshots" / f"{shown.picture}.png").is_file(), shown.picture
