"""The surrogate: asked about the element by its name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from benchmarks.quality.linking.opinion import relevance
from engine.core.deadline import Deadline
from engine.core.elements import WHOLE_TABLE
from engine.core.ports import Prompt, Weighed
from tests.support.schemas import MUSIC
from tests.support.scripted import ScriptedLLM

SINGER, NAME = ("public", "singer", WHOLE_TABLE), ("public", "singer", "artist_name")


@dataclass
class Weighing(ScriptedLLM):
    """Weighs as it is told."""

    lines: list[str] = field(default_factory=list)
    yes: float | None = -0.1
    no: float | None = -2.0

    async def weigh(self, prompt: Prompt, options: Sequence[str], *, deadline: Deadline) -> Weighed:
        self.prompts.append(prompt)
        assert options == ("A", "B")
        return Weighed((self.yes, self.no), 1, 0, 1)


async def test_an_element_is_named_and_its_log_odds_are_the_options_difference() -> None:
    model = Weighing()
    for element in (SINGER, NAME):
        assert await relevance(model, element, "Who sings?", MUSIC, Deadline(1e12)) == pytest.approx(1.9)
    assert "Is the table singer relevant to the question?" in model.prompts[0].user
    assert "Is the column singer.artist_name relevant" in model.prompts[1].user
    assert "Who sings?" in model.prompts[1].user


async def test_without_both_options_there_are_no_log_odds() -> None:
    assert await relevance(Weighing(no=None), NAME, "Who sings?", MUSIC, Deadline(1e12)) is None
