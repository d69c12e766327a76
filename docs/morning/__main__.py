"""`make morning`: a DBA's morning from psql and again on the page, written down in docs/morning.md as it went."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from rich.console import Console

from docs.morning.from_psql import from_psql
from docs.morning.on_page import on_page
from docs.morning.place import ROOT, forget, place
from docs.morning.session import UnexpectedError
from docs.morning.transcript import transcript
from tests.support.chromium import missing


async def main() -> None:
    """Both mornings, one after the other in one place."""
    if why := missing():
        sys.exit(f"morning: {why}")
    console = Console(stderr=True)
    try:
        with tempfile.TemporaryDirectory() as home:
            async with place(Path(home), console) as at:
                typed = await from_psql(at)
                await forget(at)
                shown = await on_page(at, ROOT / "docs" / "screenshots")
    except (UnexpectedError, TimeoutError) as problem:
        sys.exit(f"morning: {problem}")
    (ROOT / "docs" / "morning.md").write_text(
        transcript(typed, shown, "the embedded model"), encoding="utf-8"
    )


if __name__ == "__main__":
    asyncio.run(main())
