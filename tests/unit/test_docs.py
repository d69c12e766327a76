"""The picture in README.md is what its script draws, and it has the pipeline's stages in their order."""

from __future__ import annotations

import runpy
from pathlib import Path

from engine.app.pipeline import STAGES

DOCS = Path(__file__).parents[2] / "docs"
FLOW = runpy.run_path(str(DOCS / "flow.py"))


def test_the_picture_is_up_to_date_and_has_the_stages_of_the_pipeline() -> None:
    drawn: str = FLOW["draw"]()
    assert drawn == (DOCS / "flow.svg").read_text("utf-8")
    shown = [stage for _, stages, _ in FLOW["GROUPS"] for stage in stages]
    assert shown == [stage.__name__ for stage in STAGES]
