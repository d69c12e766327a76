"""What speaks for and against a candidate beside the ranker's score: what is weighed, and what each of it weighs.

Owns the weights, in log-odds, and what the asker is told of it. Whether it found anything: who asks expects an answer,
and a literal of the wrong column finds none. The order itself is `engine.stages.rank`'s.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from engine.alternatives.synonyms import are_same_tables
from engine.core.candidate import Candidate
from engine.core.elements import WHOLE_TABLE, elements_of, elements_read
from engine.core.state import Route, State
from engine.linking.exclusions import excluded
from engine.linking.mentions import (
    ShortName,
    mentioned_tables,
    short_names,
    short_names_not_used,
    tables_not_read,
    terms_used,
    values_not_used,
)
from engine.linking.spans import numbers_not_used
from engine.linking.standing import OUTDATED, deprecated, measured
from engine.ranking.contradictions import contradictions, doubts, said_of, undeclared
from engine.sql.tree import parsed
from engine.understanding.unknown import names_not_used
from schema_catalog.types import ColumnKey, Table, TableKey, Term

READING = 1.0
"""Log-odds of a reading beside the statement that it was made of."""

FRUITLESS = 0.1
"""What a statement that finds nothing is worth beside others that do."""

UNSAID = 0.1
"""What a statement is worth that says nothing of a table or a value which the question calls by its name, or of a
number."""

CONTRADICTED = 0.03
"""What a statement is worth that contradicts the question."""

SURELY = 0.95
"""Of a linked column at most, that it is asked for: one alone rules no statement out."""

FORKED = 0.5
"""What a fork is worth beside what the model wrote by itself."""

WEIGHTS = {
    "readings": READING,
    "needless": 1.0,
    "forked": math.log(FORKED),
    "fruitless": math.log(FRUITLESS),
    "unsaid": math.log(UNSAID),
    "outdated": math.log(OUTDATED),
    "contradicted": math.log(CONTRADICTED),
}
"""What each of a candidate's features adds to its log-odds."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What of the question a statement says nothing of: tables, and values, names, terms and numbers; the terms `used`.

    `outdated`: what it reads that is deprecated; `measured`: the units and time zones of what it reads, which rows that
    do not count it leaves out or not, and by which undeclared columns it joins; `contradicted`: what it says otherwise.
    `linked`: columns that the schema linker has linked, and that it leaves unread; `needless`: the probability that
    none of these is asked for. `readings`, `forked`, `fruitless`: as of `Candidate`. `doubted`: what of `contradicted`
    rests on the schema and the calendar.
    """

    tables: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    used: tuple[Term, ...] = ()
    outdated: tuple[str, ...] = ()
    measured: tuple[str, ...] = ()
    contradicted: tuple[str, ...] = ()
    linked: tuple[str, ...] = ()
    needless: float = 1.0
    readings: int = 0
    forked: bool = False
    fruitless: bool = False
    doubted: tuple[str, ...] = ()

    @property
    def unsaid(self) -> tuple[str, ...]:
        """All that it says nothing of."""
        return self.tables + self.words

    @property
    def features(self) -> dict[str, float]:
        """The values of what `WEIGHTS` weighs."""
        return {
            "readings": float(self.readings),
            "needless": math.log(self.needless),
            "forked": float(self.forked),
            "fruitless": float(self.fruitless),
            "unsaid": float(bool(self.unsaid)),
            "outdated": float(bool(self.outdated)),
            "contradicted": float(bool(self.contradicted)),
        }

    @property
    def log_odds(self) -> float:
        """What it adds to the ranker's score."""
        return sum(WEIGHTS[name] * value for name, value in self.features.items())

    @property
    def notes(self) -> tuple[str, ...]:
        """What the asker is told of the statement."""
        outdated = (f"reads {name}, which is deprecated" for name in self.outdated)
        return (*self.measured, *outdated, *self.contradicted)


def evidence(state: State) -> list[Evidence]:
    """Of each candidate."""
    question = state.ask.question
    asked = {
        route.database.name: _Asked(
            route,
            mentioned_tables(question, route.snapshot),
            short_names(question, route.snapshot),
        )
        for route in state.routes
    }
    return [
        _against(question, each, asked[each.database], state.today)
        if each.database in asked
        else Evidence(readings=each.readings, forked=each.forked, fruitless=each.fruitless)
        for each in state.candidates
    ]


def beside_readings(found: Evidence) -> Evidence:
    """What counts of a reading that a model gave: what became of it, not how its words compare with the question's."""
    return Evidence(
        used=found.used,
        outdated=found.outdated,
        measured=found.measured,
        contradicted=found.doubted,
        fruitless=found.fruitless,
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the question names on a route: tables, and what names are short for."""

    route: Route
    tables: Sequence[Table]
    short: Sequence[ShortName]


def _against(question: str, candidate: Candidate, asked: _Asked, today: date) -> Evidence:
    """What the statement does not name of values, terms and what is `asked`, less tables that it may not read."""
    route = asked.route
    hidden = {key[:2] for key in candidate.masked if key[2] == WHOLE_TABLE}
    left = tables_not_read(asked.tables, candidate.tables, route.snapshot)
    values = values_not_used(question, candidate.sql, route.values)
    names = names_not_used(question, candidate.sql, route.snapshot, route.values)
    tables = tuple(table.name for table in left if table.key not in hidden)
    used = terms_used(route.terms, candidate.tables, candidate.columns)
    terms = (each.name for each in route.terms if each not in used)
    short = (each.words for each in short_names_not_used(asked.short, candidate.names))
    tree = parsed(candidate.sql)
    numbers = [] if tree is None else numbers_not_used(question, tree, candidate.names)
    words = tuple(dict.fromkeys((*values, *names, *terms, *short, *numbers)))
    outdated = deprecated(candidate.tables, candidate.columns, route.snapshot)
    left_out = said_of(lambda each: excluded(each.tree, each.scopes), candidate.sql, route.snapshot)
    joined = said_of(undeclared, candidate.sql, route.snapshot)
    units = (*measured(candidate.columns, route.snapshot), *left_out, *joined)
    sql, snapshot = candidate.sql, route.snapshot
    contradicted = contradictions(question, sql, snapshot, asked.tables, route.lists, today=today)
    unread = _linked_unread(candidate, route)
    linked = tuple(sorted(f"{table}.{column}" for _, table, column in unread))
    needless = math.prod(1.0 - min(chance, SURELY) for chance in unread.values())
    return Evidence(
        tables,
        words,
        used,
        outdated,
        units,
        contradicted,
        linked,
        needless,
        candidate.readings,
        candidate.forked,
        candidate.fruitless,
        doubts(question, sql, snapshot, today=today),
    )


def _linked_unread(candidate: Candidate, route: Route) -> Mapping[ColumnKey, float]:
    """The linked columns that a statement does not read, and how probable each is; less those of terms.

    One of another table of the same columns is read in its place.
    """
    if route.links is None:
        return {}
    known = elements_read(candidate.columns, candidate.tables).union(*map(elements_of, route.terms))
    left = [each for each in route.links.linked - known if each[2] != WHOLE_TABLE]
    tables = {table.key: table for table in route.snapshot.tables} if left else {}
    unread = (each for each in left if not _twin_read(each, candidate, tables))
    return {each: route.links.probabilities.get(each, 0.0) for each in unread}


def _twin_read(element: ColumnKey, candidate: Candidate, tables: Mapping[TableKey, Table]) -> bool:
    """Whether a statement reads the column of that name of another table of the same columns."""
    own = tables.get(element[:2])
    there = (key for key in candidate.tables if key in tables and (*key, element[2]) in candidate.columns)
    return own is not None and any(are_same_tables(own, tables[key], element[2:]) for key in there)
