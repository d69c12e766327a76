"""The vocabulary of conditions: operators, hardness, and a composition of them with its probability.

A condition as a line of a prompt, its hardness and its operators, by rule (MetaSQL §III-B).
"""

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


_WORDS = {
    Operator.JOIN: "join tables",
    Operator.WHERE: "filter rows (WHERE)",
    Operator.GROUP: "group (GROUP BY)",
    Operator.HAVING: "filter groups (HAVING)",
    Operator.ORDER: "sort (ORDER BY)",
    Operator.LIMIT: "keep the first rows (LIMIT)",
    Operator.DISTINCT: "drop repeated rows (DISTINCT)",
    Operator.NESTED: "use a nested query",
    Operator.INTERSECT: "take what two queries share (INTERSECT)",
    Operator.UNION: "put two queries together (UNION)",
    Operator.EXCEPT: "take away what another query gives (EXCEPT)",
    Operator.COUNT: "count",
    Operator.SUM: "sum",
    Operator.AVG: "average (AVG)",
    Operator.MIN: "minimum (MIN)",
    Operator.MAX: "maximum (MAX)",
}


def words(condition: Condition) -> str:
    """The condition in one line, never empty.

    Absent operators are not mentioned, joins apart: a small model that is told what not to do does it.
    """
    present = [_WORDS[operator] for operator in Operator if operator in condition.kind.operators]
    only = [] if Operator.JOIN in condition.kind.operators else ["one table"]
    return f"The statement is {condition.kind.hardness}. It reads: {', '.join(only + present)}."
