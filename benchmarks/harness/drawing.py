"""Draws by hashes: which questions, which databases, which fold; the same in every run.

Training questions are measured on databases that training the ranker's network left out, a few of each, of those with
the same gold statement one, so that no large database decides; nothing of the ranker is fitted on these statements.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Item = Mapping[str, Any]
"""An object of one of the data's files."""

FOLDS = 5

RANKER_SEED, RANKER_DATABASES, RANKER_QUESTIONS = 1, 24, 3
"""Which databases training the ranker's network leaves out, the first by a seeded hash; and how many of the first
questions of each are not measured on: its weights were fitted on them once."""

MEASURED = 8
"""Statements of each of these databases that are measured on, the next by the hash. The ranker's weights may be fitted
on what is left."""


def read_items(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSONL file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def digest(text: str) -> int:
    """SHA-256 of a text, as a number."""
    return int(hashlib.sha256(text.encode()).hexdigest(), 16)


def fold_of(database: str, salt: str = "") -> int:
    """The fold of a database, 0 to FOLDS - 1; another `salt` gives an independent division."""
    return digest(f"{salt}{database}") % FOLDS


def in_half_a(database: str) -> bool:
    """Whether a database of AMBROSIA is of the half that arms and fits may use."""
    return hashlib.sha256(database.encode()).digest()[0] % 2 == 0


def share(text: str) -> float:
    """A number in [0, 1) that the text decides."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") / 2**64


def left_out(items: Sequence[Item]) -> list[str]:
    """The training databases that training the ranker's network leaves out."""
    return _ordered({item["db"] for item in items if item["gold_rows"]})[:RANKER_DATABASES]


def unfitted(items: Sequence[Item]) -> list[Item]:
    """The training questions that give rows and on which nothing of the ranker is fitted."""
    answered = [item for item in items if item["gold_rows"]]
    return [each for name in left_out(items) for each in _measured([i for i in answered if i["db"] == name])]


def may_be_fitted(items: Sequence[Item]) -> list[Item]:
    """The training questions that give rows and whose statements are none that is measured on."""
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
    return sorted(found.values(), key=lambda item: digest(f"{RANKER_SEED}:{item['id']}"))[:MEASURED]


def in_turns(items: Sequence[Item], seed: int) -> list[Item]:
    """One question of each database, then another of each: drawn by a seeded hash."""
    counted: Counter[str] = Counter()
    turns = []
    for item in sorted(items, key=lambda item: digest(f"{seed}:{item['id']}")):
        turns.append((counted[item["db"]], digest(f"{seed}:{item['db']}"), item))
        counted[item["db"]] += 1
    return [item for *_, item in sorted(turns, key=lambda turn: turn[:2])]


def _ordered(names: set[str]) -> list[str]:
    return sorted(names, key=lambda name: digest(f"{RANKER_SEED}:{name}"))
