"""What speaks for and against a candidate, by question, statement and schema, and what the asker is told of it.

Whether it found anything counts: who asks expects an answer, and a literal of the wrong column finds none. What all of
it weighs is `engine.judge.model`'s.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import replace

from engine.findings.contradictions import contradictions, doubts, remarks, said_of, undeclared
from engine.link.exclusions import excluded
from engine.link.mentions import (
    mentioned_tables,
    short_names,
    short_names_not_used,
    tables_not_read,
    terms_used,
    values_not_used,
)
from engine.link.standing import deprecated, measured
from engine.link.synonyms import are_same_tables
from engine.link.unknown import names_not_used
from engine.question.question import Question
from engine.question.spans import numbers_not_used
from engine.statement.read import statement_of
from engine.values.candidate import Candidate, Evidence, are_readings
from engine.values.elements import WHOLE_TABLE, elements_of, elements_read
from engine.values.state import Route, State
from schema_catalog.types import ColumnKey, Table, TableKey

SURELY = 0.95
"""Of a linked column at most, that it is asked for: one alone rules no statement out."""


def evidence(state: State, off: Collection[str] = ()) -> list[Evidence]:
    """Of each candidate. Of readings how their words compare with the question's is counted, and told nowhere.

    `off`: rules that are switched off.
    """
    routes = {route.database.name: route for route in state.routes}
    of = _of_reading if are_readings(state.candidates) else _against
    return [of(state.question, each, routes[each.database], off) for each in state.candidates]


def _of_schema(question: Question, candidate: Candidate, route: Route, off: Collection[str]) -> Evidence:
    """What keys, comments and the calendar say of a statement, and what it found.

    Of a model's reading no period is checked, and what it leaves out itself is not told again.
    """
    snapshot, is_reading = route.snapshot, candidate.meaning.place is not None
    left_out = said_of(
        lambda each: excluded(each.tree, each.scopes, counted_only=is_reading), candidate.sql, snapshot
    )
    joined = said_of(undeclared, candidate.sql, snapshot)
    return Evidence(
        used=terms_used(route.terms, candidate.tables, candidate.columns),
        outdated=deprecated(candidate.tables, candidate.columns, snapshot),
        measured=(*measured(candidate.columns, snapshot), *left_out, *joined),
        doubted=remarks(candidate.sql, snapshot, off)
        if is_reading
        else doubts(question, candidate.sql, snapshot, off),
        fruitless=candidate.fruitless,
    )


def _of_reading(question: Question, candidate: Candidate, route: Route, off: Collection[str]) -> Evidence:
    found = _of_schema(question, candidate, route, off)
    tables, words = _unsaid(question, candidate, route, found)
    return replace(found, unsaid=len(tables) + len(words))


def _against(question: Question, candidate: Candidate, route: Route, off: Collection[str]) -> Evidence:
    """With what the statement does not name of values, terms and what is asked for."""
    found = _of_schema(question, candidate, route, off)
    tables, words = _unsaid(question, candidate, route, found)
    unread = _linked_unread(candidate, route)
    return replace(
        found,
        tables=tables,
        words=words,
        contradicted=contradictions(question, candidate.sql, route.snapshot, route.lists, off=off),
        linked=tuple(sorted(f"{table}.{column}" for _, table, column in unread)),
        needless=math.prod(1.0 - min(chance, SURELY) for chance in unread.values()),
    )


def _unsaid(
    question: Question, candidate: Candidate, route: Route, found: Evidence
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tables, and the values, names, terms and numbers of the question that a statement says nothing of.

    Less tables that it may not read.
    """
    snapshot = route.snapshot
    hidden = {key[:2] for key in candidate.origin.masked if key[2] == WHOLE_TABLE}
    left = tables_not_read(mentioned_tables(question, snapshot), candidate.tables, snapshot)
    values = values_not_used(question, candidate.sql, route.values)
    names = names_not_used(question, candidate.sql, snapshot, route.values)
    terms = (each.name for each in route.terms if each not in found.used)
    short = (each.words for each in short_names_not_used(short_names(question, snapshot), candidate.names))
    tree = statement_of(candidate.sql, snapshot).tree
    numbers = [] if tree is None else numbers_not_used(question.numbers, tree, candidate.names)
    words = tuple(dict.fromkeys((*values, *names, *terms, *short, *numbers)))
    return tuple(table.name for table in left if table.key not in hidden), words


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
