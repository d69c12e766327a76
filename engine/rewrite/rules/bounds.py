"""Rules about bounds: a number that the question puts above, below or at the end of what it asks for.

Of Spider's training questions 818 say one that their known statement compares with ("more than 5", "before 1850"), 802
of these in the direction that is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp

from engine.rewrite.rule import Context, Statement

_NUMBER = r"(?:the\s+)?(?:year\s+|season\s+|age\s+|\$\s*)?(?P<number>\d[\d,]*(?:\.\d+)?)\b"

_SAID: Mapping[type[exp.Binary], re.Pattern[str]] = {
    compared: re.compile(rf"\b(?:{words})\s+{_NUMBER}", re.IGNORECASE)
    for compared, words in (
        (
            exp.GT,
            r"(?:more|greater|larger|higher|bigger|longer|older|later|taller)\s+than|over|above|after|exceeding",
        ),
        (
            exp.LT,
            r"(?:less|fewer|smaller|lower|shorter|younger|earlier|lighter|cheaper)\s+than|under|below|before",
        ),
        (exp.GTE, r"at\s+least|no\s+(?:less|fewer)\s+than"),
        (exp.LTE, r"at\s+most|no\s+more\s+than"),
    )
}

_DENIED = re.compile(r"(?:\b(?:no|not|never)|n['\u2019]t)(?:\s+\w+)?\s*$", re.IGNORECASE)
"""Before the words of a bound: "not more than 3", "do not have more than 3"."""

_TURNED = {exp.GT: exp.LT, exp.LT: exp.GT, exp.GTE: exp.LTE, exp.LTE: exp.GTE, exp.EQ: exp.EQ}
"""What a comparison says with its sides exchanged."""


@dataclass(frozen=True, slots=True)
class Missed:
    """A comparison with a number that is said otherwise. `meant`: the comparison to write with the same sides."""

    node: exp.Binary
    number: str
    meant: type[exp.Binary]


def said_bound(statement: Statement, context: Context) -> str | None:
    """Compares with a number as the question says, where the statement does so in another direction."""
    missed = list(bounds_missed(context.question, statement.tree))
    for each in missed:
        each.node.replace(each.meant(this=each.node.left.copy(), expression=each.node.right.copy()))
    numbers = ", ".join(dict.fromkeys(each.number for each in missed))
    return f"compares with {numbers} as it is said" if missed else None


def bounds_missed(question: str, tree: exp.Query) -> Iterator[Missed]:
    """The comparisons with a number that the question bounds, where none says what it says."""
    for number, said in said_bounds(question).items():
        every = comparisons_with(number, tree)
        missed = [
            Missed(node, number, said if _is_number(node.expression, number) else _TURNED[said])
            for node in every
            if isinstance(node, exp.Binary)
        ]
        if len(missed) == len(every) and all(type(each.node) is not each.meant for each in missed):
            yield from missed


def said_bounds(question: str) -> dict[str, type[exp.Binary]]:
    """How what is asked for stands to each number, where the question says that in one way."""
    said: dict[str, set[type[exp.Binary]]] = {}
    for compared, words in _SAID.items():
        for found in words.finditer(question):
            if _DENIED.search(question[: found.start()]):
                continue
            said.setdefault(found["number"].replace(",", ""), set()).add(compared)
    return {number: next(iter(ways)) for number, ways in said.items() if len(ways) == 1}


def comparisons_with(number: str, tree: exp.Query) -> list[exp.Expr]:
    """The comparisons that have `number` on one side, BETWEEN among them."""
    sides = ("this", "expression", "low", "high")
    found = (node for kind in (*_TURNED, exp.Between) for node in tree.find_all(kind))
    return [node for node in found if any(_is_number(node.args.get(side), number) for side in sides)]


def _is_number(node: object, number: str) -> bool:
    return isinstance(node, exp.Literal) and node.this == number
