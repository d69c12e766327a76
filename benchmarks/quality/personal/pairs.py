"""Pairs of AmbiQT questions in which a simulated user meets the same ambiguity twice.

Owns which questions are paired and which reading the user means. What was made ambiguous is gold: it is read here and
by the simulated user alone, never by what answers.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness.drawing import Item, digest, read_items
from benchmarks.harness.questions import Asked, QuestionSet, Selection, asked


@dataclass(frozen=True, slots=True)
class Meetings:
    """A user's two questions. `reading`: what the user means, 0 or 1. `gold`: what the first then is in SQL.

    Both are asked on the database of the first, whose schema is also that of the second.
    """

    first: Asked
    second: Asked
    reading: int
    gold: str

    @property
    def name(self) -> str:
        """In the journal."""
        return f"{self.first.question.id}+{self.second.question.id}"


def pairs(bench: Path, of: QuestionSet, n: int, seed: int, half: int | None = None) -> tuple[Meetings, ...]:
    """`n` pairs of a set, in the file's order of their first questions; a smaller sample is part of a larger one.

    Both questions of a pair are about the same ambiguous column or table of the same schema and have other answers:
    a paraphrase would show that an answer is remembered, not that a preference is.
    """
    questions = {each.question.id: each for each in asked(bench, of, Selection(None, seed, half))}
    groups: defaultdict[str, list[Item]] = defaultdict(list)
    for item in read_items(bench / of.file):
        if item["id"] in questions:
            groups[json.dumps([item["db"], item["ambiguous"], item["ddl_both"]], sort_keys=True)].append(item)
    # The first pair of every group before the second of any: many ambiguities before many questions.
    made = [
        (place, digest(f"{seed}:{one['id']}"), one, two)
        for group in groups.values()
        for place, (one, two) in enumerate(_paired(group, seed))
    ]
    kept = sorted(made, key=lambda each: each[:2])[:n]
    order = {key: place for place, key in enumerate(questions)}
    return tuple(
        _meetings(questions, one, two, seed)
        for _, _, one, two in sorted(kept, key=lambda each: order[each[2]["id"]])
    )


def _paired(group: Sequence[Item], seed: int) -> Iterator[tuple[Item, Item]]:
    left = sorted(group, key=lambda item: digest(f"{seed}:{item['id']}"))
    while left:
        one = left.pop(0)
        two = next((item for item in left if _differ(one, item)), None)
        if two is not None:
            left.remove(two)
            yield one, two


def _differ(one: Item, two: Item) -> bool:
    return bool(
        one["gold_base"] != two["gold_base"] and one["question"].casefold() != two["question"].casefold()
    )


def _meetings(questions: dict[str, Asked], one: Item, two: Item, seed: int) -> Meetings:
    reading = digest(f"{seed}:reading:{one['id']}:{two['id']}") % 2
    return Meetings(questions[one["id"]], questions[two["id"]], reading, one[f"gold_{reading + 1}"])
