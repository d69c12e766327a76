"""A dialogue ends where what it is about has changed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.dialogue.question import check_unchanged, fingerprints
from engine.dialogue.types import Dialogue
from engine.errors import StaleDialogueError
from schema_catalog.types import Column
from tests.support.asking import asked, route
from tests.support.schemas import MUSIC

QUESTION = "how many singers are there"
STATE = asked(QUESTION, route(QUESTION))


def test_the_same_schema_goes_on() -> None:
    check_unchanged(replace(STATE, dialogue=Dialogue(fingerprints=fingerprints(STATE))))


def test_a_new_column_ends_it() -> None:
    began = Dialogue(fingerprints=fingerprints(STATE))
    first, *rest = MUSIC.tables
    changed = replace(MUSIC, tables=(replace(first, columns=(*first.columns, Column("more", "text"))), *rest))
    now = asked(QUESTION, route(QUESTION, changed))
    with pytest.raises(StaleDialogueError, match="no longer") as problem:
        check_unchanged(replace(now, dialogue=began))
    assert problem.value.sqlstate == "NL004"


def test_a_database_that_is_gone_ends_it() -> None:
    began = Dialogue(fingerprints=(("elsewhere", "0"),))
    with pytest.raises(StaleDialogueError):
        check_unchanged(replace(STATE, dialogue=began))
