"""Rules about averages, extremes and sums: those that the question says by name, and those of a group's own column.

Of Spider's training questions 484 say *average* or *mean*, and all known statements but one take an average or read
what is called one; 252 say *maximum* or *minimum*, and all take it, the first of an order, or read what is called so.
Of 1,917 statements with groups none aggregates what it groups by.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from engine.linking.dimensions import asked_dimensions
from engine.rewrite.rule import Context, Statement
from engine.rewrite.rules.grouping import is_measure
from engine.text.tokens import identifier_words


@dataclass(frozen=True, slots=True)
class Said:
    """An aggregate as questions say it. `taken`: what takes it. `named`: how words of names that stand for it begin."""

    kind: type[exp.AggFunc]
    name: str
    word: re.Pattern[str]
    taken: tuple[type[exp.Expr], ...]
    named: re.Pattern[str]


_EXTREMES = (exp.Limit, exp.Window, exp.All)

SAID = (
    Said(
        exp.Avg,
        "average",
        re.compile(r"\baverages?\b|\bmean(?=\s+[a-z])", re.IGNORECASE),
        (exp.Avg, exp.Div, exp.PercentileCont),
        re.compile(r"avg|average|mean"),
    ),
    Said(
        exp.Max,
        "maximum",
        re.compile(r"\bmaximum\b", re.IGNORECASE),
        (exp.Max, *_EXTREMES),
        re.compile(r"max|highest"),
    ),
    Said(
        exp.Min,
        "minimum",
        re.compile(r"\bminimum\b", re.IGNORECASE),
        (exp.Min, *_EXTREMES),
        re.compile(r"min$|minim|lowest"),
    ),
)

_TOTAL = re.compile(r"\btotal\b|\bhow (?:many|much)\b", re.IGNORECASE)

_OWN = (exp.Avg, exp.Sum, exp.Min, exp.Max)


def said_aggregate(statement: Statement, context: Context) -> str | None:
    """Takes the average, maximum or minimum that the question says, where one column of numbers is shown as it is."""
    column = shown_measure(statement)
    missing = [] if column is None else list(aggregates_not_taken(context.question, statement))
    if column is None or len(missing) != 1:
        return None
    _show(statement, missing[0].kind(this=column.copy()))
    return f"takes the {missing[0].name} of {column.name}"


def asked_total(statement: Statement, context: Context) -> str | None:
    """Adds up the one column of numbers that is shown as it is, where the question asks how many, or for a total."""
    column = shown_measure(statement)
    if column is None or not asks_for_total(context.question, column.name):
        return None
    _show(statement, exp.Sum(this=column.copy()))
    return f"adds up {column.name}"


def asks_for_total(question: str, name: str) -> bool:
    """Whether a question asks for one total of numbers, which no column called `name` holds by its name."""
    words = identifier_words(name)
    return _TOTAL.search(question) is not None and "total" not in words and not asked_dimensions(question)


def shown_measure(statement: Statement) -> exp.Column | None:
    """The column of numbers that a statement shows as it is, alone, without groups, order and limit."""
    select = statement.tree
    if not isinstance(select, exp.Select) or len(select.expressions) != 1:
        return None
    if any(select.args.get(part) for part in ("group", "having", "order", "limit")):
        return None
    column = select.expressions[0].unalias()
    return column if isinstance(column, exp.Column) and is_measure(column, statement.scopes) else None


def _show(statement: Statement, aggregate: exp.AggFunc) -> None:
    """Shows an aggregate in the place of all that a select shows."""
    statement.tree.set("distinct", None)
    statement.tree.set("expressions", [aggregate])


def aggregates_not_taken(question: str, statement: Statement) -> Iterator[Said]:
    """What the question says by name and the statement neither takes nor reads under a name or description of it."""
    for said in SAID:
        if said.word.search(question) is None or statement.tree.find(*said.taken) is not None:
            continue
        names = (word for text in _texts(statement) for word in identifier_words(text))
        if not any(map(said.named.match, names)):
            yield said


def aggregated_groups(statement: Statement) -> Iterator[str]:
    """The columns that a statement groups by and takes the average, sum or extreme of, which is the column itself."""
    place = statement.scopes.place
    for select in statement.tree.find_all(exp.Select):
        group = select.args.get("group")
        grouped = {place(each) for each in (group.expressions if group is not None else ())} - {None}
        for taken in select.find_all(*_OWN) if grouped else ():
            if taken.parent_select is select and place(taken.this) in grouped:
                yield taken.this.name


def _texts(statement: Statement) -> Iterator[str]:
    """The names of what a statement reads, and what is said of them."""
    for node in statement.tree.find_all(exp.Column, exp.Table, exp.Alias):
        column = statement.scopes.stored(node)
        yield from (node.name, node.alias, (column and column.description) or "")
