"""Which questions the ablations are measured on.

`train`: Spider's training questions on the databases that training the ranker's network left out, a few of each, of
those with the same gold statement one, so that no large database decides; nothing of the ranker is fitted on these
statements. `dev`: the open development questions, for one look at the end. `ambiqt_c`,
`ambiqt_t`, `ambiqt_j`: questions with two readings; the set is right that holds both among its first five.

No database has questions that nothing was fitted on: see `README.md`, which says what that favours.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.quality.candidates.questions import SETS as CANDIDATE_SETS
from benchmarks.quality.candidates.questions import (
    Asked,
    Item,
    Judge,
    Question,
    QuestionSet,
    Selection,
    asked,
    read_items,
)

TRAIN = QuestionSet("train", "spider/train.jsonl", Judge.EXECUTION)
DEV = QuestionSet("dev", "spider/dev.jsonl", Judge.EXECUTION)
SETS = (TRAIN, DEV, *(each for each in CANDIDATE_SETS if each.judge is Judge.AMBIQT))

RANKER_SEED, RANKER_DATABASES, RANKER_QUESTIONS = 1, 24, 3
"""Which databases training the ranker's network leaves out, the first by a seeded hash; and how many of the first
questions of each are not measured on: its weights were fitted on them once."""

STEP = 20
"""Questions that an arm is asked before one looks whether it is settled."""

MEASURED = 8
"""Statements of each of these databases that are measured on, the next by the hash. The ranker's weights may be fitted
on what is left."""


def drawn(bench: Path, of: QuestionSet, selection: Selection) -> tuple[Asked, ...]:
    """The questions of a set, in the file's order; a smaller number of them is part of a larger one."""
    if of is not TRAIN:
        return asked(bench, of, selection)
    items = read_items(bench / of.file)
    kept = {item["id"] for item in in_turns(unfitted(items), selection.seed)[: selection.n]}
    return tuple(
        Asked(Question(item["id"], item["question"], item["db"])) for item in items if item["id"] in kept
    )


def growing(bench: Path, of: QuestionSet, selection: Selection) -> list[tuple[Asked, ...]]:
    """Samples of a set, each `STEP` larger than the one before, the last all that is selected."""
    whole = drawn(bench, of, selection)
    smaller = (drawn(bench, of, replace(selection, n=n)) for n in range(STEP, len(whole), STEP))
    return [*smaller, whole]


def left_out(items: Sequence[Item]) -> list[str]:
    """The training databases that training the ranker's network leaves out."""
    return _ordered({item["db"] for item in items if item["gold_rows"]})[:RANKER_DATABASES]


def unfitted(items: Sequence[Item]) -> list[Item]:
    """The training questions that give rows and on which nothing of the ranker is fitted."""
    answered = [item for item in items if item["gold_rows"]]
    return [each for name in left_out(items) for each in _measured([i for i in answered if i["db"] == name])]


def may_be_fitted(items: Sequence[Item]) -> list[Item]:
    """The training questions that give rows and whose statements are none that is measured on here."""
    measured = {(item["db"], item["gold"]) for item in unfitted(items)}
    return [item for item in items if item["gold_rows"] and (item["db"], item["gold"]) not in measured]


def _measured(items: Sequence[Item]) -> list[Item]:
    """A database's questions that are measured on, one for each statement."""
    listed = _ordered({item["id"] for item in items})[:RANKER_QUESTIONS]
    seen = {item["gold"] for item in items if item["id"] in listed}
    found: dict[str, Item] = {}
    for item in items:
        if item["gold"] not in seen:
            found.setdefault(item["gold"], item)
    return sorted(found.values(), key=lambda item: _hashed(RANKER_SEED, item["id"]))[:MEASURED]


def in_turns(items: Sequence[Item], seed: int) -> list[Item]:
    """One question of each database, then another of each: drawn by a seeded hash."""
    ranked = sorted(items, key=lambda item: _hashed(seed, item["id"]))
    counted: Counter[str] = Counter()
    turns = []
    for item in ranked:
        turns.append((counted[item["db"]], _hashed(seed, item["db"]), item))
        counted[item["db"]] += 1
    return [item for *_, item in sorted(turns, key=lambda turn: turn[:2])]


def _ordered(names: set[str]) -> list[str]:
    return sorted(names, key=lambda name: _hashed(RANKER_SEED, name))


def _hashed(seed: int, text: str) -> str:
    return hashlib.sha256(f"{seed}:{text}".encode()).hexdigest()
