"""A condition as a line of a prompt, its hardness and its operators, by rule (MetaSQL §III-B)."""

from __future__ import annotations

from engine.conditions.types import Condition, Operator

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
