"""The vocabulary of conditions: operators, hardness, and a composition of them with its probability."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Operator(StrEnum):
    """What a statement does, beyond giving columns; in the order in which a line of words names them."""

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
    """A composition. No operators: it gives columns of one table and nothing more."""

    operators: frozenset[Operator]
    hardness: Hardness


@dataclass(frozen=True, slots=True)
class Condition:
    """A composition that was seen in training, and how likely it is what a question asks for, in [0, 1]."""

    kind: StatementKind
    probability: float
