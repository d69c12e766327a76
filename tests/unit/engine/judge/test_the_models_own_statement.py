"""A statement that runs is answered as the model wrote it; what rules make of it stands beside it, in the open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sqlglot

from engine.findings.admit import accept
from engine.guard import analyse
from engine.judge.judge import judge
from engine.judge.run import run
from engine.statement import tree
from engine.write.write import write
from tests.support.asking import answered

STAGES = (write, accept, run, judge)

SANG = (
    "FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id"
    " JOIN concert AS c ON e.concert_id = c.concert_id"
)

WRITTEN = {
    "Name and country of singers who sang between 2014 and 2015": f"SELECT s.artist_name, s.country {SANG}"
    " WHERE c.year IN ('2014','2015')",
    "Which singers have at least one concert that was not in 2014?": f"SELECT s.artist_name {SANG}"
    " WHERE c.year <> '2014'",
    "For every performance, the artist's name": "SELECT s.artist_name FROM singer_in_concert e"
    " JOIN singer s ON s.singer_id = e.singer_id",
    "The concerts that have a venue": "SELECT c.title FROM concert c"
    " JOIN stadium s ON c.stadium_id = s.stadium_id",
    "Titles of concerts by year, the unknown ones at the top": "SELECT title FROM concert"
    " ORDER BY year DESC NULLS FIRST",
}


def counted(function: Callable[..., Any], texts: list[str]) -> Callable[..., Any]:
    """The function, that notes its first argument at each call."""

    def call(text: str, *arguments: Any, **more: Any) -> Any:
        texts.append(text)
        return function(text, *arguments, **more)

    return call


@pytest.mark.parametrize("question", WRITTEN)
def test_a_statement_is_parsed_at_most_five_times(question: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By PostgreSQL's parser and sqlglot's together, from the model's answer to the ranked candidates."""
    texts: list[str] = []
    monkeypatch.setattr(analyse, "parse_sql", counted(analyse.parse_sql, texts))
    monkeypatch.setattr(sqlglot, "parse_one", counted(sqlglot.parse_one, texts))
    tree._kept.cache_clear()
    analyse._kept.cache_clear()
    state = answered(question, WRITTEN[question], stages=STAGES)
    times = {each.sql: texts.count(each.sql) for each in state.candidates}
    assert times
    assert all(2 <= number <= 5 for number in times.values()), times
