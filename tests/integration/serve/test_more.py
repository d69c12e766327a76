"""`NL MORE` through gateway and engine, of a model that gives readings."""

from __future__ import annotations

import psycopg
import pytest

from tests.integration.serve.conftest import Model
from tests.support.parts import START
from tests.support.stack import Stack

pytestmark = pytest.mark.timeout(2 * START)

NAMES = "What are the singers called?"
NAME, COUNTRY = "SELECT name FROM singer", "SELECT country FROM singer"


def test_more_asks_for_what_was_not_shown_and_says_where_nothing_is_new(stack: Stack, model: Model) -> None:
    model.script, model.beyond = {NAMES: [NAME]}, [NAME, COUNTRY]
    with psycopg.connect(stack.uri("music"), autocommit=True) as session:
        assert [row[5] for row in session.execute(f"NL: $${NAMES}$$")] == [NAME]
        assert [row[5] for row in session.execute("NL MORE")] == [COUNTRY]
        told = session.execute("NL SHOWPROMPT").fetchall()
        assert f"- {NAME}\\n" in str(told)
        (nothing,) = session.execute("NL MORE").fetchall()
        assert nothing[1] == "abstain"
        assert nothing[4].startswith("Nothing new passed all checks")
