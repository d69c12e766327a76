"""The calibration that comes with the program: for whom it counts, and what it holds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.judge.packaged_scores import NOTHING, Base, base_for, read
from engine.judge.records import Judged, Point
from engine.values.conformal import Calibrated, Threshold
from engine.values.errors import PackagedError
from engine.values.model_settings import GrammarSupport, ModelSettings
from engine.values.settings import (
    DialogueSettings,
    EngineSettings,
    GenerationSettings,
    LearningSettings,
    Limits,
    SelectionSettings,
)

SETTINGS = EngineSettings(
    Path("/run/engine.sock"),
    "postgresql://store",
    model=ModelSettings(base_url="http://127.0.0.1:1", grammar=GrammarSupport.EMBEDDED),
)


@pytest.mark.parametrize(
    "alike",
    [
        SETTINGS,
        replace(SETTINGS, learned_router=False),
        replace(SETTINGS, limits=Limits(k=6, concurrent=2)),
        replace(SETTINGS, dialogue=DialogueSettings(wrong=2.0)),
        replace(SETTINGS, selection=SelectionSettings(coverage=0.8)),
    ],
)
def test_it_counts_with_its_model_and_the_default_settings(alike: EngineSettings) -> None:
    assert base_for(alike) == read()


@pytest.mark.parametrize(
    "other",
    [
        replace(SETTINGS, model=replace(SETTINGS.model, model="another")),
        replace(SETTINGS, model=replace(SETTINGS.model, grammar=GrammarSupport.NONE)),
        replace(SETTINGS, generation=GenerationSettings(exchanges=False)),
        replace(SETTINGS, learning=LearningSettings(alike=0.7)),
        replace(SETTINGS, limits=Limits(calls=3)),
        replace(SETTINGS, selection=SelectionSettings(base=False)),
    ],
)
def test_it_does_not_with_others(other: EngineSettings) -> None:
    assert base_for(other) is NOTHING


def test_what_comes_with_the_program_is_enough_by_default() -> None:
    """Its scores are of the function in use as it is computed now, for the number that is shown by default."""
    found = read().beside(Calibrated(), (), Limits().k)
    threshold = found.at(SelectionSettings().coverage, "any")
    assert isinstance(threshold, Threshold)
    assert threshold.base
    assert threshold.points >= 100
    assert found.at(0.99, "any") != threshold


def test_only_scores_of_that_width_count() -> None:
    made = Base("m", "", {3: (0.2, 0.1)})
    known = [
        Point("1", "db", (Judged(True, 0.3), Judged(True, 0.2))),  # noqa: FBT003 - right
        Point("2", "db", (Judged(False, 0.3),)),  # noqa: FBT003 - wrong
    ]
    beside = made.beside(Calibrated(), known, 3)
    assert (beside.base.tolist(), beside.known.tolist()) == ([0.2, 0.1], [0.2])
    assert made.beside(Calibrated(), known, 4).base.size == 0


@pytest.mark.parametrize("text", ["", "{}", '{"model": 1, "made": "", "scores": {}}'])
def test_a_damaged_file_is_said(text: str, tmp_path: Path) -> None:
    file = tmp_path / "base.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(PackagedError, match="install the program again"):
        read(file)
