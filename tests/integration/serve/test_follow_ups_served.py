"""A dialogue through psycopg: follow-ups are read with the statement that was taken, and in its database."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests.integration.serve.conftest import Model
from tests.support.stack import Stack

pytestmark = pytest.mark.timeout(240)

SINGERS = "SELECT count(*) FROM singer WHERE country = 'France'"
NAMES = "SELECT name FROM singer WHERE country = 'France'"
OLD = "SELECT count(*) FROM singer WHERE country = 'France' AND age > 40"
FULL = "How many singers from France are over 40?"
THEN = "only those over 40"
BEFORE = "### Asked before"

SCRIPT = {
    "how many singers are from France?": [SINGERS, NAMES],
    "what does each product cost?": ["SELECT name, price FROM product"],
    THEN: [OLD],
    FULL: [OLD],
    "only the lamp": ["SELECT price FROM product WHERE name = 'lamp'"],
}


@pytest.fixture(autouse=True)
def _script(model: Model) -> None:
    model.script, model.full = SCRIPT, {THEN: FULL}


@pytest.fixture
def ask(stack: Stack) -> Iterator[Any]:
    """Sends a statement; the first row's database and explanation, where it has such."""
    with psycopg.connect(stack.uri("music"), autocommit=True) as connection:

        def ask(statement: str) -> tuple[str, str] | None:
            cursor = connection.execute(statement)
            if cursor.description is None or cursor.description[0].name != "n":
                return None
            row = cursor.fetchone()
            assert row is not None
            return row[2], row[4]

        yield ask


FIRST = "NL (db music): $$how many singers are from France?$$"


def test_a_follow_up_is_read_with_the_dialogue(ask: Any, model: Model) -> None:
    ask(FIRST)
    database, explanation = ask(f"NL: $${THEN}$$")
    assert database == "music"
    assert explanation.startswith(f"Read as: \u201c{FULL}\u201d. ")
    assert SINGERS in model.prompts[-1]
    assert "how many singers are from France?" in model.prompts[-1]
    _, again = ask(f"NL: $${THEN}$$")
    assert "Read as" not in again, "the very same text again goes on from nothing"


def test_what_was_chosen_is_what_it_goes_on_from(ask: Any, model: Model) -> None:
    ask(FIRST)
    ask("NL CHOOSE 2")
    ask(f"NL: $${THEN}$$")
    assert NAMES in model.prompts[-1]
    _, more = ask("NL MORE")
    assert f"### Question\n{FULL}\n" in model.prompts[-1]
    assert BEFORE not in model.prompts[-1]
    assert more.startswith(f"Read as: \u201c{FULL}\u201d. ")


def test_it_stays_in_the_database_of_the_answer_before(ask: Any, model: Model) -> None:
    ask(FIRST)
    ask("NL (db shop): $$what does each product cost?$$")
    database, _ = ask("NL: only the lamp")
    assert database == "shop"
    assert "SELECT name, price FROM product" in model.prompts[-1]
