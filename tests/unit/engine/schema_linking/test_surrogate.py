"""The surrogate: asked about the element by its name, and a point stays where it does not agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from engine.core.deadline import Deadline
from engine.core.elements import WHOLE_TABLE, BranchingPoint
from engine.core.ports import Prompt, Weighed
from engine.schema_linking.surrogate import Surrogate
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
        found = await Surrogate(model).opinion(element, "Who sings?", MUSIC, Deadline(1e12))
        assert found.log_odds == pytest.approx(1.9)
    assert "Is the table singer relevant to the question?" in model.prompts[0].user
    assert "Is the column singer.artist_name relevant" in model.prompts[1].user
    assert "Who sings?" in model.prompts[1].user


@pytest.mark.parametrize(
    ("yes", "no", "left"), [(-0.1, -2.0, [NAME]), (-2.0, -0.1, [SINGER]), (None, None, [SINGER, NAME])]
)
async def test_points_that_it_agrees_with_are_dropped(
    yes: float | None, no: float | None, left: list[object]
) -> None:
    points = (BranchingPoint(SINGER, linked=True), BranchingPoint(NAME, linked=False))
    surrogate = Surrogate(Weighing(yes=yes, no=no))
    found = await surrogate.unconfirmed(points, "Who sings?", MUSIC, Deadline(1e12))
    assert [point.element for point in found] == left
