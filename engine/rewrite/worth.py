"""How much likelier a reading is right than the statement that it was made of: fitted on training databases.

Owns the table, `worth.json`: rule → log-odds, with the pairs that it was fitted on.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from importlib import resources

from engine.core.candidate import Candidate, Change
from engine.rewrite.rule import RuleKind

BESIDE = (RuleKind.READING, RuleKind.REPETITION)
"""Kinds that add a statement beside the one that it was made of."""

UNKNOWN = 0.0
"""Of a rule that no pair was seen of."""


def worth(changes: Iterable[Change]) -> float:
    """Log-odds of what `changes` made against what they were made of; repairs and normal forms count nothing."""
    known = _table()
    return sum(known.get(change.rule, UNKNOWN) for change in changes if change.kind in BESIDE)


def worth_of(candidate: Candidate) -> float:
    """Of a candidate's changes and of those of the statements that were merged in it."""
    return worth(candidate.changes) if candidate.merged is None else candidate.merged


@cache
def _table() -> dict[str, float]:
    text = resources.files(__package__).joinpath("worth.json").read_text(encoding="utf-8")
    return {rule: float(entry["log_odds"]) for rule, entry in json.loads(text).items()}
