"""Which questions the ablations are measured on.

`train`: Spider's training questions on the databases that training the ranker's network left out, less the questions
that its five weights were fitted on; of those with the same gold statement one. As many from each database as there
are, so that no large database decides. `dev`: the open development questions, for one look at the end. `ambiqt_c`,
`ambiqt_t`, `ambiqt_j`: questions with two readings; the set is right that holds both among its first five.

No database has questions that nothing was fitted on: see `README.md`, which says what that favours.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
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
"""How the ranker's lists were drawn: the first databases by a seeded hash, of each the first questions."""


def drawn(bench: Path, of: QuestionSet, selection: Selection) -> tuple[Asked, ...]:
    """The questions of a set, in the file's order; a smaller number of them is part of a larger one."""
    if of is not TRAIN:
        return asked(bench, of, selection)
    items = read_items(bench / of.file)
    kept = {item["id"] for item in in_turns(unfitted(items), selection.seed)[: selection.n]}
    return tuple(
        Asked(Question(item["id"], item["question"], item["db"])) for item in items if item["id"] in kept
    )


def left_out(items: Sequence[Item]) -> list[str]:
    """The training databases that training the ranker's network leaves out."""
    return _ordered({item["db"] for item in items if item["gold_rows"]})[:RANKER_DATABASES]


def unfitted(items: Sequence[Item]) -> list[Item]:
    """The training questions that give rows and on which the ranker was not fitted."""
    answered = [item for item in items if item["gold_rows"]]
    return [each for name in left_out(items) for each in _unlisted([i for i in answered if i["db"] == name])]


def may_be_fitted(items: Sequence[Item]) -> list[Item]:
    """The training questions that give rows and on which nothing is measured here."""
    answered = [item for item in items if item["gold_rows"]]
    names = left_out(items)
    listed = {key for name in names for key in _listed([i for i in answered if i["db"] == name])}
    return [item for item in answered if item["db"] not in names or item["id"] in listed]


def _listed(items: Sequence[Item]) -> list[str]:
    """The ids of a database's questions that are the ranker's."""
    return _ordered({item["id"] for item in items})[:RANKER_QUESTIONS]


def _unlisted(items: Sequence[Item]) -> Iterator[Item]:
    """A database's questions, one for each statement, less those whose statement is one of the ranker's lists'."""
    listed = _listed(items)
    seen = {item["gold"] for item in items if item["id"] in listed}
    for item in items:
        if item["gold"] not in seen:
            seen.add(item["gold"])
            yield item


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
