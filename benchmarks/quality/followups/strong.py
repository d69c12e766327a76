"""The scripted strong model: it says each question in full words and one reading, the right one.

What is measured is what becomes of that, in a dialogue and in full: a ceiling, beside no system that finds statements.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.harness.drawing import read_items
from benchmarks.harness.questions import Question
from benchmarks.harness.site import Site
from benchmarks.harness.systems import asked_now
from benchmarks.quality.followups.systems import in_dialogue
from benchmarks.quality.followups.turns import Turn
from benchmarks.quality.models.recorded import answering_with, reply
from engine.app import pipeline
from engine.values.errors import NLError

CALLS = 6
"""Of the model for a question at most, as for a user's."""


async def survivals(
    place: Site, asked: Sequence[Turn], golds: Mapping[str, str], k: int
) -> dict[str, dict[str, list[str]]]:
    """The statements shown of each turn, by `in_dialogue` and `in_full`."""
    found: dict[str, dict[str, list[str]]] = {"in_dialogue": {}, "in_full": {}}
    said: dict[str, str] = {}
    async with answering_with(place.tools, said) as tools:
        for turn in asked:
            for how, statements in found.items():
                text = turn.text if how == "in_dialogue" else turn.in_full
                said[text] = reply(("", golds[turn.id]), question=turn.in_full)
                before = turn.before if how == "in_dialogue" else ()
                begun = asked_now(Question(turn.id, text, turn.db), k, CALLS)
                try:
                    done = await pipeline.run(await in_dialogue(begun, before, tools), tools)
                except NLError:
                    continue
                statements[turn.id] = [each.sql for each in done.candidates]
    return found


def golds(bench: Path, dialogues: str) -> dict[str, str]:
    """The right statement of each turn: what the script says."""
    return {
        f"{item['id']}-{number}": turn["gold"]
        for item in read_items(bench / dialogues)
        for number, turn in enumerate(item["turns"])
    }
