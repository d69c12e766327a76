"""Statements whose outcome is known before they run, and those that only look like them."""

from __future__ import annotations

import pytest

from engine.rewrite.degenerate import degenerate
from tests.support.golden_rules import Pair, pairs
from tests.support.schemas import MUSIC

KNOWN = {
    "SELECT name, COUNT(*) FROM stadium GROUP BY stadium_id": "each group is one row of stadium",
    "SELECT name FROM stadium GROUP BY stadium_id HAVING COUNT(*) > 1": "each group is one row of stadium",
    "SELECT COUNT(*) FROM concert c JOIN stadium s ON c.stadium_id = s.stadium_id GROUP BY c.concert_id": (
        "each group is one row of concert and stadium"
    ),
    "SELECT name FROM stadium WHERE stadium_id NOT IN (SELECT stadium_id FROM stadium)": (
        "no row is left: stadium.stadium_id"
    ),
    "SELECT entry_id FROM singer_in_concert WHERE entry_id NOT IN (SELECT entry_id FROM singer_in_concert)": (
        "no row is left: singer_in_concert.entry_id"
    ),
}

MEANT = [
    "SELECT name FROM stadium GROUP BY stadium_id",
    "SELECT country, COUNT(*) FROM singer GROUP BY country",
    "SELECT s.name, COUNT(*) FROM stadium s JOIN concert c ON s.stadium_id = c.stadium_id GROUP BY s.stadium_id",
    "SELECT COUNT(c.title) FROM stadium s LEFT JOIN concert c ON s.stadium_id = c.stadium_id GROUP BY s.stadium_id",
    "SELECT x.title, COUNT(*) FROM (SELECT title FROM concert) AS x GROUP BY x.title",
    "SELECT name FROM stadium WHERE stadium_id NOT IN (SELECT stadium_id FROM concert)",
    "SELECT name FROM stadium WHERE stadium_id NOT IN (SELECT stadium_id FROM stadium WHERE capacity = '3')",
    "SELECT name FROM stadium WHERE stadium_id IN (SELECT stadium_id FROM stadium)",
    "SELECT COUNT(*) FROM stadium",
    "not SQL at all (",
]

MENDED = [
    pair
    for pair in pairs()
    if pair.rule.name in {"count_referring_rows", "exclude_referring_rows"} and pair.after is not None
]


@pytest.mark.parametrize("sql", KNOWN)
def test_the_reason_is_said(sql: str) -> None:
    reason = degenerate(sql, MUSIC)
    assert reason is not None
    assert reason.startswith(KNOWN[sql])


@pytest.mark.parametrize("sql", MEANT)
def test_what_can_be_meant_passes(sql: str) -> None:
    assert degenerate(sql, MUSIC) is None


@pytest.mark.parametrize("pair", MENDED, ids=lambda pair: f"{pair.schema}: {pair.before}")
def test_the_rules_against_it_make_a_statement_that_passes(pair: Pair) -> None:
    assert pair.after is not None
    assert degenerate(pair.before, pair.snapshot) is not None
    assert degenerate(pair.after, pair.snapshot) is None
