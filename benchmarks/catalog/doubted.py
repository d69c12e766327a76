"""How many known statements the checks of grain, periods and shares doubt: they should doubt nearly none.

Needs no model and no server. A doubted one may be wrong itself: some of Spider's add a row up several times.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date

from benchmarks.harness.drawing import Item
from engine.findings.driver import said
from engine.findings.lint import Context
from engine.question.question import Question
from engine.statement.read import statement_of
from engine.values.candidate import On
from schema_catalog.types import Snapshot


def measured(
    items: Iterable[Item], snapshots: Mapping[str, Snapshot], today: date
) -> tuple[int, dict[str, tuple[str, ...]]]:
    """How many questions there are; by its id, what is said against a question's known statement."""
    found = {
        item["id"]: _doubts(Question(item["question"], today), item["gold"], snapshots[item["db"]])
        for item in items
    }
    return len(found), {key: doubts for key, doubts in found.items() if doubts}


def _doubts(question: Question, sql: str, snapshot: Snapshot) -> tuple[str, ...]:
    found = said(statement_of(sql, snapshot), Context(snapshot, question), {On.CALENDAR, On.SCHEMA})
    return tuple(each.says for each in found)
