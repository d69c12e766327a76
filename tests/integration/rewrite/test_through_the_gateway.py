"""What an asker gets of statements that could be read in another way, and of one that PostgreSQL refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import psycopg
import pytest

from engine.values.settings import GenerationSettings, Strategy
from schema_catalog.store import CatalogStore
from tests.integration.lending.conftest import (
    House,
    house,
    loop_thread,
    register,
    start_gateway,
    wire_cluster,
)
from tests.wire_fixtures import LoopThread

__all__ = ["house", "loop_thread", "start_gateway", "wire_cluster"]

STAGE = """
CREATE TABLE stadium (stadium_id int PRIMARY KEY, name text, capacity text);
CREATE TABLE concert (concert_id int PRIMARY KEY, title text, year text, stadium_id int REFERENCES stadium);
CREATE TABLE artist (artist_id int PRIMARY KEY, artist_name text, country text);
CREATE TABLE performance (performance_id int PRIMARY KEY, concert_id int REFERENCES concert,
    artist_id int REFERENCES artist);
INSERT INTO stadium VALUES (1, 'Oval', '1,200'), (2, 'Wembley', '800 seats'),
    (3, 'Field', 'unknown'), (4, 'Hall', NULL);
INSERT INTO concert VALUES (1, 'Opening', '2014', 1), (2, 'Summer', '2015', 2), (3, 'Home', NULL, NULL);
INSERT INTO artist VALUES (1, 'Ann', 'Kenya'), (2, 'Bo', 'France');
INSERT INTO performance VALUES (1, 1, 1), (2, 2, 1), (3, 1, 2);
GRANT SELECT ON ALL TABLES IN SCHEMA public TO ana;
"""

SANG = (
    "FROM artist AS a JOIN performance AS p ON a.artist_id = p.artist_id"
    " JOIN concert AS c ON p.concert_id = c.concert_id"
)

WRITTEN = {
    "name and country of artists who sang in concerts between 2014 and 2015": (
        f"SELECT a.artist_name, a.country {SANG} WHERE c.year IN ('2014','2015')",
        [("Ann", "Kenya"), ("Ann", "Kenya"), ("Bo", "France")],
    ),
    "artists with at least one concert that was not in 2014": (
        f"SELECT a.artist_name {SANG} WHERE c.year <> '2014'",
        [("Ann",)],
    ),
    "for every performance, the artist name": (
        "SELECT a.artist_name FROM performance p JOIN artist a ON a.artist_id = p.artist_id",
        [("Ann",), ("Ann",), ("Bo",)],
    ),
    "title of concerts that have a venue": (
        "SELECT c.title FROM concert c JOIN stadium s ON c.stadium_id = s.stadium_id",
        [("Opening",), ("Summer",)],
    ),
    "title of each concert by year, the unknown ones at the top": (
        "SELECT c.title FROM concert c ORDER BY c.year DESC NULLS FIRST",
        [("Home",), ("Summer",), ("Opening",)],
    ),
}


@pytest.fixture(scope="module")
def stage(house: House, loop_thread: LoopThread) -> House:
    """A database `stage` in the catalog, of which ana may read everything."""
    with house.admin("postgres") as admin:
        admin.execute("CREATE DATABASE stage")
    loop_thread.run(register("stage", STAGE, house.cluster, CatalogStore(house.pool)))
    return house


@pytest.fixture
def ana(stage: House) -> Iterator[psycopg.Connection[Any]]:
    with stage.connect("ana", "stage") as connection:
        connection.execute("SET nl.k = 6")
        yield connection


def statements(connection: psycopg.Connection[Any], question: str) -> list[str]:
    return [row[5] for row in connection.execute(f"NL: $${question}$$".encode()).fetchall()]


@pytest.mark.parametrize("question", WRITTEN)
def test_what_runs_is_shown_byte_for_byte(stage: House, ana: psycopg.Connection[Any], question: str) -> None:
    sql, rows = WRITTEN[question]
    stage.model.lines[:] = [sql]
    shown = statements(ana, question)
    assert sql in shown
    chosen = ana.execute(f"NL CHOOSE {shown.index(sql) + 1}".encode()).fetchall()
    assert (chosen if "ORDER BY" in sql else sorted(chosen)) == rows


def test_a_reading_is_told_apart_from_what_it_was_made_of(stage: House, ana: psycopg.Connection[Any]) -> None:
    question = "name of artists who did not sing in concerts of 2014"
    sql = f"SELECT a.artist_name {SANG} WHERE c.year <> '2014'"
    stage.model.lines[:] = [sql]
    shown = statements(ana, question)
    assert sql in shown
    reading = next(n for n, each in enumerate(shown, 1) if "NOT " in each)
    aspects = ana.execute(f"NL EXPLAIN {reading}".encode()).fetchall()
    assert ("changed by", "reading none_of_them: reads 'not' as: none of them") in aspects
    assert ("was", sql) in aspects
    own = dict(ana.execute(f"NL EXPLAIN {shown.index(sql) + 1}".encode()).fetchall())
    assert "changed by" not in own


def test_a_sum_of_texts_is_repaired_and_said_so(stage: House, ana: psycopg.Connection[Any]) -> None:
    sql = "SELECT SUM(capacity) FROM stadium"
    stage.model.lines[:] = [sql]
    with stage.admin("stage") as admin, pytest.raises(psycopg.errors.UndefinedFunction):
        admin.execute(sql)
    (repaired, *_) = statements(ana, "total capacity of all stadiums")
    assert "SUM(" in repaired
    assert repaired != sql
    assert ana.execute("NL CHOOSE 1").fetchall() == [(Decimal(2000),)]
    aspects = ana.execute("NL EXPLAIN 1").fetchall()
    change = "repair text_as_number: reads the texts of capacity as numbers"
    assert {("changed by", change), ("was", sql)} <= set(aspects)
    why = ana.execute("NL WHY").fetchall()
    assert ("rewrite", change, f"{sql}\nbecomes\n{repaired}") in [line[:3] for line in why]


def test_the_doubtful_part_of_the_first_statement_is_named(
    stage: House, ana: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    readings = GenerationSettings(strategy=Strategy.READINGS)
    monkeypatch.setattr(stage.service, "_tools", replace(stage.service._tools, generation=readings))
    named, numbered = (
        f"SELECT {each} FROM artist WHERE country <> 'Chad'" for each in ("artist_name", "artist_id")
    )
    given = [
        {"sql": sql, "meaning": each, "assumes": ""} for sql, each in ((named, "names"), (numbered, "ids"))
    ]
    stage.model.lines[:] = [json.dumps({"readings": given})]
    # A country that nobody asked for makes the first reading doubtful.
    rows = ana.execute("NL: $$the country of artists$$").fetchall()
    assert [row[5] for row in rows] == [named, numbered]
    doubt = "artist_name; could be artist_id"
    assert rows[0][4].endswith(f"; doubtful: {doubt}")
    assert "doubtful" not in rows[1][4]
    aspects = ana.execute("NL EXPLAIN 1").fetchall()
    assert [words for aspect, words in aspects if aspect == "doubtful"] == [doubt]
    assert "doubtful" not in dict(ana.execute("NL EXPLAIN 2").fetchall())
    (line,) = [line for line in ana.execute("NL WHY").fetchall() if line[0] == "doubtful"]
    assert line[1:3] == (doubt, named)
    assert line[3] == pytest.approx(rows[0][3] / (rows[0][3] + rows[1][3]), abs=0.001)
