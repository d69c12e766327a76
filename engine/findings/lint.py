"""What a lint is: a named, versioned value that says what is wrong with a statement, changes it, or both.

One that changes statements is a rule, of an `engine.values.candidate.RuleKind`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from engine.link.mentions import mentioned_tables
from engine.question.question import Question
from engine.statement.read import Draft
from engine.values.candidate import On, RuleKind
from engine.values.elements import (
    WHOLE_TABLE,
    ColumnContent,
    ColumnFacts,
    LinkedDimension,
    ValueLink,
    ValueList,
)
from schema_catalog.foreign_keys import Edge, ForeignKeyGraph, foreign_key_graph
from schema_catalog.implied_references import with_implied_references, with_shared_columns
from schema_catalog.types import ColumnKey, Snapshot, Table, TableKey

MEANT = 0.5
"""From this probability the schema linker takes a table for meant."""

STRANGERS = 1
"""Tables that the question does not speak of, and a repair may join on the way to others."""

NOTHING_ASKED = Question("", date.max)


@dataclass(frozen=True, slots=True)
class Context:
    """What a rule may look at beside the statement.

    `secured`: the tables of which roles see different rows. `stored`: column and text that it does not hold → the value
    to write in its place; `missing`: those without one. `in_any_case`: column and text that it holds but for capital
    letters. `linked`: element → probability that the question is about it, none without a linker. `dimensions`: what
    the question asks a number for each of. `lists`: of columns of few values, all of them. `told`: what else is known
    of kept values. `contents`: of columns of JSON and of days in texts. `is_reading`: a model gave the statement as its
    reading of the question, and says itself what it leaves out. `newest`: the newest day of a column of dates that
    holds nothing of the period tested. `counted`: what a statement leaves out, in words with `{}` for the number of
    rows, and that number.
    """

    snapshot: Snapshot
    question: Question = NOTHING_ASKED
    values: Sequence[ValueLink] = ()
    secured: frozenset[TableKey] = frozenset()
    stored: Mapping[tuple[ColumnKey, str], str] = field(default_factory=dict)
    in_any_case: frozenset[tuple[ColumnKey, str]] = frozenset()
    missing: frozenset[tuple[ColumnKey, str]] = frozenset()
    linked: Mapping[ColumnKey, float] = field(default_factory=dict)
    dimensions: Sequence[LinkedDimension] = ()
    lists: Sequence[ValueList] = ()
    contents: Sequence[ColumnContent] = ()
    is_reading: bool = False
    newest: Mapping[ColumnKey, date] = field(default_factory=dict)
    counted: Sequence[tuple[str, int]] = ()
    told: Sequence[ColumnFacts] = ()

    @property
    def mentioned(self) -> tuple[Table, ...]:
        """The tables that the question names."""
        return mentioned_tables(self.question, self.snapshot)

    def speaks_of(self, table: Table) -> bool:
        """Whether the question names the table or a value in it, or the linker takes it for meant."""
        if self.linked.get((*table.key, WHOLE_TABLE), 0.0) >= MEANT or table in self.mentioned:
            return True
        return any(link.span and link.column[:2] == table.key for link in self.values)

    def strays(self, path: Sequence[Edge], named: Collection[TableKey] = ()) -> bool:
        """Whether a chain leads over more than one table that neither the question nor the statement speaks of.

        `named`: the tables that the statement names; it names that at the end as well.
        """
        between = {edge.other for edge in path[:-1]}.difference(named)
        tables = (each for each in self.snapshot.tables if each.key in between)
        return sum(not self.speaks_of(each) for each in tables) > STRANGERS

    @property
    def references(self) -> ForeignKeyGraph:
        """The snapshot's foreign keys, and what names imply."""
        return foreign_key_graph(with_implied_references(self.snapshot))

    @property
    def ways(self) -> ForeignKeyGraph:
        """The same, and where no reference leads from one table to another, what may join them."""
        return foreign_key_graph(with_shared_columns(self.snapshot))


Fix = Callable[[Draft, Context], str | None]
"""Changes `draft.tree`, in place or for another one, and says how in a few words; None where it changed nothing."""

Says = Callable[[Draft, Context], Iterator[str]]
"""What speaks against a statement, or is to be known of it, each in words; the tree stays as it is."""


@dataclass(frozen=True, slots=True)
class Lint:
    """`name`: as `[generation] rules_off` has it. `version`: raised with each change of behaviour.

    `on`: what it rests on. `kind`: of its `fix`. `says`: also where it cannot mend it. `by_facts`: what it makes rests
    on keys or NULL, and so stands behind a model's reading as well.
    """

    name: str
    version: int
    fix: Fix | None = None
    says: Says | None = None
    on: On = On.QUESTION
    kind: RuleKind | None = None
    by_facts: bool = False
