"""Rules about averages and extremes: those that the question says by name, and those of a group's own column.

Of Spider's training questions 484 say *average* or *mean*, and all known statements but one take an average or read
what is called one; 252 say *maximum* or *minimum*, and all take it, the first of an order, or read what is called so
(`benchmarks.quality.contradictions`). Of 1,917 statements with groups none aggregates what it groups by.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

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

_OWN = (exp.Avg, exp.Sum, exp.Min, exp.Max)


def said_aggregate(statement: Statement, context: Context) -> str | None:
    """Takes the average, maximum or minimum that the question says, where one column of numbers is shown as it is."""
    select = statement.tree
    if not isinstance(select, exp.Select) or len(select.expressions) != 1:
        return None
    missing = list(aggregates_not_taken(context.question, statement))
    item = select.expressions[0]
    if len(missing) != 1 or any(select.args.get(part) for part in ("group", "having", "order", "limit")):
        return None
    column = item.unalias()
    if not isinstance(column, exp.Column) or not is_measure(column, statement.scopes):
        return None
    select.set("distinct", None)
    item.replace(missing[0].kind(this=column.copy()))
    return f"takes the {missing[0].name} of {column.name}"


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
    for select in statement.tree.find_all(exp.Select):
        group = select.args.get("group")
        grouped = {_place(each, statement) for each in (group.expressions if group is not None else ())}
        for taken in select.find_all(*_OWN):
            if taken.parent_select is select and _place(taken.this, statement) in grouped - {None}:
                yield taken.this.name


def _place(node: object, statement: Statement) -> tuple[str, str] | None:
    """The name in FROM that a column belongs to, and its own."""
    read = statement.scopes.reading(node) if isinstance(node, exp.Column) else None
    return (read.name, node.name) if read is not None and isinstance(node, exp.Column) else None


def _texts(statement: Statement) -> Iterator[str]:
    """The names of what a statement reads, and what is said of them."""
    for node in statement.tree.find_all(exp.Column, exp.Table, exp.Alias):
        yield from (node.name, node.alias)
        read = statement.scopes.reading(node) if isinstance(node, exp.Column) else None
        if read is not None and read.table is not None:
            yield from (each.description or "" for each in read.table.columns if each.name == node.name)
