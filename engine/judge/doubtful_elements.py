"""A doubt has a place: how sure each name, literal, operator and clause of a statement is (RTS §3.1, on the statement).

The paper reads off the model's layers whether a token goes astray. Here the candidates tell it, of any model: a fork
goes on from where a token was in doubt, an exchange and a reading say what else may be meant, and the judgement says
how likely each is. An element is as sure as the candidates together that have it. The words of a doubt are here, too;
where they are told is `engine.ask.explanation`'s. Figures, and what token probabilities tell: `benchmarks/STUDIES.md`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from sqlglot import exp

from engine.statement.expressions import OPERATORS
from engine.statement.read import statement_of
from engine.values import wording
from engine.values.candidate import Candidate
from engine.values.elements import WHOLE_TABLE, plain_name
from schema_catalog.types import ColumnKey, Snapshot

STAGE = "doubtful"
"""Of the lines of the trace that name a doubtful element, with the statement as detail."""

CLAUSES = {
    "distinct": "equal rows once",
    "where": "where",
    "group": "for each",
    "having": "only groups where",
    "order": "ordered by",
    "limit": "limited to",
}
"""Of sqlglot's names; as `engine.statement.description` tells them."""

TOLD = 0.8
"""An element that is as sure is told of no more: below are half of the wrong statements, an eighth of the right."""

MOST = 2
"""Elements that are told of."""


class Kind(IntEnum):
    """What an element is, in the order in which equally doubtful ones are told."""

    NAME = 0
    LITERAL = 1
    OPERATOR = 2
    CLAUSE = 3


@dataclass(frozen=True, slots=True)
class Element:
    """What a statement says in one place. `clause`: where. `said`: of a name its column, else the text."""

    kind: Kind
    clause: str
    said: ColumnKey | str

    @property
    def words(self) -> str:
        """For a person: a column without its table."""
        return self.names[0]

    @property
    def names(self) -> tuple[str, ...]:
        """The same, and for a name with more of what it belongs to."""
        if isinstance(self.said, str):
            return (self.said,)
        parts = [part for part in self.said if part != WHOLE_TABLE]
        return (parts[-1], plain_name(self.said), ".".join(parts))


@dataclass(frozen=True, slots=True)
class Doubt:
    """How `sure` an element is, in [0, 1]. `other`: the best that was considered in its place, if any was."""

    element: Element
    sure: float
    other: Element | None = None

    @property
    def words(self) -> str:
        """For a person."""
        if self.other is None:
            return self.element.words
        pairs = list(zip(self.element.names, self.other.names, strict=False))
        return wording.COULD_BE.format(*next((pair for pair in pairs if pair[0] != pair[1]), pairs[-1]))


def doubts(candidates: Sequence[Candidate], snapshot: Snapshot) -> tuple[Doubt, ...]:
    """Of each element of the first of `candidates`, least sure first; of equals those that another one stands for.

    `snapshot`: of its database, whose candidates alone count. Parses each: not for the event loop.
    """
    own = [each for each in candidates if each.database == candidates[0].database]
    said = [Counter(elements(each.sql, snapshot)) for each in own]
    # What cannot be taken apart says nothing for or against an element.
    beside = [place for place, each in enumerate(said) if each or place == 0]
    total = sum(own[place].confidence for place in beside)
    shares = [own[place].confidence / total if total else 1 / len(beside) for place in beside]
    return weighed([said[place] for place in beside], shares)


def weighed(said: Sequence[Counter[Element]], shares: Sequence[float]) -> tuple[Doubt, ...]:
    """As `doubts`: the elements of each candidate, best first, and its share of the confidence."""
    found = []
    for element, times in said[0].items():
        sure = sum(share for share, each in zip(shares, said, strict=True) if each[element] >= times)
        without = (each for each in said[1:] if each[element] < times)
        instead = (other for each in without for other in each - said[0] if _alike(element, other))
        found.append(Doubt(element, min(sure, 1.0), next(instead, None)))
    return tuple(sorted(found, key=lambda each: (round(each.sure, 6), each.other is None, each.element.kind)))


def marks(candidates: Sequence[Candidate], snapshot: Snapshot) -> tuple[Doubt, ...]:
    """The doubts that the asker is told of, none in the same words as another."""
    found: dict[str, Doubt] = {}
    for each in doubts(candidates, snapshot):
        if each.sure < TOLD:
            found.setdefault(each.words, each)
    return tuple(found.values())[:MOST]


def _alike(one: Element, other: Element) -> bool:
    """Whether one may stand in the place of the other: a table for a table, a column for a column."""
    if (one.kind, one.clause) != (other.kind, other.clause):
        return False
    return one.kind is not Kind.NAME or (one.said[2:] == (WHOLE_TABLE,)) == (other.said[2:] == (WHOLE_TABLE,))


def elements(sql: str, snapshot: Snapshot) -> Iterator[Element]:
    """What a statement says, each as often as it says it; nothing of one that cannot be taken apart.

    Of names those of the schema alone: what a statement calls a query or an item itself is nobody's doubt.
    """
    apart = statement_of(sql, snapshot).apart
    if apart is None:
        return
    tables = {id(read.node): read.table for read in apart.scopes.all_reads()}
    for node in apart.tree.walk():
        clause = _clause(node)
        if isinstance(node, exp.Table):
            if (table := tables.get(id(node))) is not None:
                yield Element(Kind.NAME, clause, (*table.key, WHOLE_TABLE))
        elif isinstance(node, exp.Column):
            if (key := apart.scopes.key(node)) is not None:
                yield Element(Kind.NAME, clause, key)
        elif isinstance(node, exp.Literal):
            yield Element(Kind.LITERAL, clause, f"'{node.this}'" if node.is_string else node.this)
        elif isinstance(node, exp.Select):
            yield from _clauses(node, clause)
        elif (words := _operator(node)) is not None:
            yield Element(Kind.OPERATOR, clause, words)


def _clauses(select: exp.Select, clause: str) -> Iterator[Element]:
    if clause:
        yield Element(Kind.CLAUSE, clause, "another query")
    yield from (Element(Kind.CLAUSE, name, words) for name, words in CLAUSES.items() if select.args.get(name))


def _operator(node: exp.Expr) -> str | None:
    """None for what is none, for AND, and for the equality of two columns, which are elements themselves."""
    if isinstance(node, exp.EQ) and all(isinstance(side, exp.Column) for side in (node.left, node.right)):
        return None
    if isinstance(node, exp.Ordered):
        return "descending" if node.args.get("desc") else "ascending"
    if isinstance(node, exp.Join):
        return f"{node.side.lower()} join" if node.side else None
    if type(node) in OPERATORS:
        return OPERATORS[type(node)]
    plain = isinstance(node, exp.Func | exp.Predicate | exp.Not) and not isinstance(node, exp.And)
    return node.key if plain else None


def _clause(node: exp.Expr) -> str:
    """The clause of the nearest query around it that it stands in; empty of the whole statement and its halves."""
    while node.parent is not None:
        place, node = node.arg_key or "", node.parent
        if isinstance(node, exp.Select):
            return "from" if place in ("from_", "joins") else place
    return ""
