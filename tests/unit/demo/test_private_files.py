"""What the demo writes is its owner's alone, also where an earlier one left it open."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from pgparley.demo.serving import serving
from pgparley.demo.site import Site


async def test_the_log(tmp_path: Path) -> None:
    no_server: Any = None
    site = Site(tmp_path, no_server, 6432)
    site.config.write_text("[gatewy]\n", encoding="utf-8")
    site.log.touch()
    site.log.chmod(0o644)
    with pytest.raises(RuntimeError, match="ended at once"):
        async with serving(site, Console(quiet=True), keep=False):
            pass
    assert "did you mean" in site.log.read_text("utf-8")
    assert site.log.stat().st_mode & 0o777 == 0o600
