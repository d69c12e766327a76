"""The vocabulary of conditions: operators, hardness, and a composition of them with its probability."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Operator(StrEnum):
    """The operators of a statement, in the order of a prompt's line."""

    JOIN = "join"
    WHERE = "where"
    GROUP = "group"
    HAVING = "having"
    ORDER = "order"
    LIMIT = "limit"
    DISTINCT = "distinct"
    NESTED = "nested"
    INTERSECT = "intersect"
    UNION = "union"
    EXCEPT = "except"
    COUNT = "count"
    SUM = "sum"
    AVG = "avg"
    MIN = "min"
    MAX = "max"


class Hardness(StrEnum):
    """Spider's four classes."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"
    EXTRA = "extra"


@dataclass(frozen=True, slots=True)
class StatementKind:
    """A composition; without operators it only projects columns of one table."""

    operators: frozenset[Operator]
    hardness: Hardness


@dataclass(frozen=True, slots=True)
class Condition:
    """A composition seen in training with its probability for a question, in [0, 1]."""

    kind: StatementKind
    probability: float
