"""Labels of enums are linked, listed and ordered without anybody having allowed values."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from benchmarks.harness.without import NoValues
from engine.findings.driver import said
from engine.findings.lint import Context
from engine.link.labels import label_links, label_lists
from engine.link.link import link_schemas
from engine.link.source import LISTED
from engine.question.question import Question
from engine.statement.read import statement_of
from engine.values.candidate import AGAINST
from engine.values.elements import ValueList
from engine.values.ports import Upstream
from engine.values.state import Route
from schema_catalog.catalog import StoreUnavailableError
from schema_catalog.types import Column, Snapshot, Table, TableKind
from tests.support.asking import asked, route, tools

STATE = ("public", "ticket", "state")
LABELS = ("NEW", "IN_PROGRESS", "CLOSED")
COLUMNS = (
    Column("ticket_id", "integer"),
    Column("title", "text"),
    Column("state", "ticket_state", labels=LABELS),
)
TICKETS = Snapshot(
    "tickets", ("public",), (Table("public", "ticket", TableKind.TABLE, COLUMNS, ("ticket_id",)),)
)


@pytest.mark.parametrize(
    ("question", "labels"),
    {
        "How many tickets are in progress?": ["IN_PROGRESS"],
        "Titles of tickets that are not closed": ["CLOSED"],
        "Tickets in the state 'new' or In-Progress": ["NEW", "IN_PROGRESS"],
        "How many tickets are there?": [],
    }.items(),
)
def test_words_of_a_question_are_labels(question: str, labels: list[str]) -> None:
    found = label_links(Question(question), route(question, TICKETS))
    assert [value for each in found for value in each.values] == labels
    assert {each.column for each in found} <= {STATE}


def test_an_enum_is_listed_unless_it_is_long() -> None:
    assert label_lists(TICKETS) == (ValueList(STATE, LABELS),)
    long = replace(COLUMNS[2], labels=tuple(f"L{n}" for n in range(LISTED + 1)))
    table = replace(TICKETS.tables[0], columns=(*COLUMNS[:2], long))
    assert label_lists(replace(TICKETS, tables=(table,))) == ()


class Away(NoValues):
    """A store that does not answer."""

    async def lists(self, _route: Route, _upstream: Upstream) -> tuple[ValueList, ...]:
        raise StoreUnavailableError("the store is away")


@pytest.mark.parametrize("values", [NoValues(), Away()])
async def test_a_question_has_labels_without_stored_values(values: NoValues) -> None:
    question = "How many tickets are in progress?"
    state = asked(question, route(question, TICKETS))
    done = await link_schemas(state, replace(tools("SELECT 1"), values=values))
    (found,) = done.routes
    assert [(each.column, each.values) for each in found.values] == [(STATE, ("IN_PROGRESS",))]
    assert found.lists == (ValueList(STATE, LABELS),)


def test_the_order_of_an_enum_is_no_order_of_words() -> None:
    sql = "SELECT title FROM ticket ORDER BY state DESC LIMIT 1"
    plain = replace(TICKETS.tables[0], columns=(*COLUMNS[:2], Column("state", "text")))
    for schema, doubted in ((TICKETS, False), (replace(TICKETS, tables=(plain,)), True)):
        asking = Context(schema, Question("Which ticket is farthest?", date.max), lists=label_lists(TICKETS))
        assert bool(said(statement_of(sql, schema), asking, AGAINST)) == doubted
