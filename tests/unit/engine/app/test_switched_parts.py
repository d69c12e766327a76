"""What `[generation]` switches off is not loaded, and what it switches on is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from engine.app.main import conditions, ranker_of
from engine.values.settings import EngineSettings, GenerationSettings
from engine.values.tools import NoConditions, NoRanker
from engine.write.conditions import Classifier

SETTINGS = EngineSettings(Path("/run/engine.sock"), "postgresql://store")


def test_what_is_off_reads_no_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("engine.write.conditions", "engine.judge.ranker"):
        monkeypatch.setattr(f"{module}.read", None)
    none = cast("Any", None)
    assert isinstance(conditions(SETTINGS.generation, none), NoConditions)
    assert isinstance(ranker_of(SETTINGS, none), NoRanker)


def test_what_is_on_is_there() -> None:
    on = replace(SETTINGS, generation=GenerationSettings(conditions=True))
    assert isinstance(conditions(on.generation, cast("Any", None)), Classifier)
