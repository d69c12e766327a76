"""What speaks for and against a candidate, by question, statement and schema, and what the asker is told of it.

A statement that finds nothing is doubtful: a literal of the wrong column finds none. How much each counts is
`engine.judge.model`'s.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import replace

from engine.findings.driver import said
from engine.findings.lint import Context
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
from engine.values import wording
from engine.values.candidate import DEPRECATED, Candidate, Evidence, Finding, On, are_readings
from engine.values.elements import WHOLE_TABLE, elements_of, elements_read
from engine.values.state import Route, State
from schema_catalog.types import ColumnKey, Table, TableKey

SURELY = 0.95
"""Of a linked column at most, that it is asked for: one alone rules no statement out."""


OF_READINGS = frozenset({On.CATALOG, On.SCHEMA})
"""What is looked at in a model's reading: its words are its own, and so is what it takes a period for."""


def linted(candidate: Candidate, question: Question, route: Route, off: Collection[str] = ()) -> Candidate:
    """The candidate with its `findings`: itself where it has them. Walks its tree: not for the event loop.

    `off`: lints that are switched off.
    """
    if candidate.findings is not None:
        return candidate
    is_reading = candidate.meaning.place is not None
    context = Context(route.snapshot, question, lists=route.lists, told=route.told, is_reading=is_reading)
    statement, on = statement_of(candidate.sql, route.snapshot), OF_READINGS if is_reading else frozenset(On)
    units = (Finding("units", On.CATALOG, each) for each in measured(candidate.columns, route.snapshot))
    outdated = (
        Finding(DEPRECATED, On.CATALOG, wording.DEPRECATED.format(name))
        for name in deprecated(candidate.tables, candidate.columns, route.snapshot)
    )
    found = (*units, *said(statement, context, on, off), *outdated)
    return replace(candidate, findings=tuple(sorted(found, key=lambda each: list(On).index(each.on))))


def evidence(state: State, off: Collection[str] = ()) -> list[Evidence]:
    """Of each candidate. For a model's readings schema facts, and the count of unused words, which is not shown.

    `off`: lints that are switched off.
    """
    routes = {route.database.name: route for route in state.routes}
    among_readings = are_readings(state.candidates)
    found = []
    for each in state.candidates:
        route = routes[each.database]
        used = terms_used(route.terms, each.tables, each.columns)
        known = Evidence(used=used, findings=linted(each, state.question, route, off).findings or ())
        tables, words = _unsaid(state.question, each, route, known)
        if among_readings:
            found.append(replace(known, unsaid=len(tables) + len(words)))
            continue
        unread = _linked_unread(each, route)
        found.append(
            replace(
                known,
                tables=tables,
                words=words,
                linked=tuple(sorted(f"{table}.{column}" for _, table, column in unread)),
                needless=math.prod(1.0 - min(chance, SURELY) for chance in unread.values()),
            )
        )
    return found


def _unsaid(
    question: Question, candidate: Candidate, route: Route, found: Evidence
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Tables, and values, names, terms and numbers of the question that a statement does not use.

    Without tables that it was not allowed to read.
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
    """The linked columns that a statement does not read, with their probabilities; without those of terms.

    A column counts as read where its counterpart in a table of the same columns is.
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
