"""What "not", "both" and "different" in the question settle about a statement, and what it joins for nothing."""

from __future__ import annotations

import pytest
from engine.rewrite.rules.wording import reworded

from engine.linking.mentions import mentioned_tables
from tests.support.schemas import MUSIC

PLAYED = (
    "FROM singer AS s JOIN singer_in_concert AS e ON s.singer_id = e.singer_id"
    " JOIN concert AS c ON e.concert_id = c.concert_id"
)

REWORDED = [
    (
        "Which singers did not sing in 2014?",
        f"SELECT s.artist_name {PLAYED} WHERE c.year <> '2014' AND s.country = 'Kenya'",
        "SELECT s.artist_name FROM singer AS s WHERE s.country = 'Kenya' AND NOT s.singer_id IN"
        " (SELECT e.singer_id FROM singer_in_concert AS e JOIN concert AS c ON e.concert_id = c.concert_id"
        " WHERE c.year = '2014')",
    ),
    (
        "How many singers never sang in 2014 or 2015?",
        f"SELECT COUNT(DISTINCT s.singer_id) {PLAYED} WHERE NOT c.year IN ('2014', '2015')",
        "SELECT COUNT(DISTINCT s.singer_id) FROM singer AS s WHERE NOT s.singer_id IN"
        " (SELECT e.singer_id FROM singer_in_concert AS e JOIN concert AS c ON e.concert_id = c.concert_id"
        " WHERE c.year IN ('2014', '2015'))",
    ),
    (
        "Which singers sang in 2014 but not in 2015?",
        f"SELECT s.artist_name {PLAYED} WHERE c.year = '2014' AND c.year <> '2015'",
        f"SELECT s.artist_name {PLAYED} WHERE c.year = '2014' AND NOT s.singer_id IN"
        " (SELECT e.singer_id FROM singer_in_concert AS e JOIN concert AS c ON e.concert_id = c.concert_id"
        " WHERE c.year = '2015')",
    ),
    (
        "Stadiums without a concert called like x, by name",
        "SELECT s.name FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id"
        " WHERE NOT c.title LIKE '%x%' ORDER BY s.name",
        "SELECT s.name FROM stadium AS s WHERE NOT s.stadium_id IN"
        " (SELECT c.stadium_id FROM concert AS c WHERE c.title LIKE '%x%') ORDER BY s.name",
    ),
    (
        "Which singers sang in both 2014 and 2015?",
        f"SELECT s.artist_name {PLAYED} WHERE c.year IN ('2014', '2015')",
        f"SELECT s.artist_name {PLAYED} WHERE c.year = '2014'"
        f" INTERSECT SELECT s.artist_name {PLAYED} WHERE c.year = '2015'",
    ),
    (
        "Which singers from Kenya sang in 2014 and 2015?",
        f"SELECT s.artist_name {PLAYED} WHERE s.country = 'Kenya' AND (c.year = '2014' OR c.year = '2015')",
        f"SELECT s.artist_name {PLAYED} WHERE s.country = 'Kenya' AND c.year = '2014'"
        f" INTERSECT SELECT s.artist_name {PLAYED} WHERE s.country = 'Kenya' AND c.year = '2015'",
    ),
    (
        "Titles of concerts of 2014 that are of 2015",
        "SELECT title FROM concert WHERE year = '2014' AND year = '2015'",
        "SELECT title FROM concert WHERE year = '2014' INTERSECT SELECT title FROM concert WHERE year = '2015'",
    ),
    (
        "Names of stadiums that had a concert",
        "SELECT s.name FROM stadium AS s JOIN concert AS c ON s.stadium_id = c.stadium_id ORDER BY s.name",
        "SELECT DISTINCT s.name FROM stadium AS s JOIN concert AS c ON s.stadium_id = c.stadium_id ORDER BY s.name",
    ),
    (
        "The different countries of singers in 2014",
        f"SELECT s.country {PLAYED} WHERE c.year = '2014'",
        f"SELECT DISTINCT s.country {PLAYED} WHERE c.year = '2014'",
    ),
    (
        "Which titles are of 2014?",
        "SELECT c.title FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id WHERE c.year = '2014'",
        "SELECT c.title FROM concert AS c WHERE c.year = '2014'",
    ),
]

LEFT = [
    (
        "Which concerts of 2014 were in a stadium?",
        "SELECT c.title FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id WHERE c.year = '2014'",
    ),
    ("Names of singers in 2014", f"SELECT s.artist_name {PLAYED} WHERE c.year = '2014'"),
    (
        "A stadium that had a concert",
        "SELECT s.name FROM stadium s JOIN concert c ON s.stadium_id = c.stadium_id LIMIT 1",
    ),
    (
        "Each concert's stadium",
        "SELECT c.title, s.name FROM stadium s JOIN concert c ON s.stadium_id = c.stadium_id",
    ),
    ("Which concerts were not in x?", "SELECT title FROM concert WHERE year <> '2014'"),
    (
        "Which concerts were not in a stadium for 3?",
        "SELECT c.title FROM concert AS c JOIN stadium AS s ON c.stadium_id = s.stadium_id WHERE s.capacity <> '3'",
    ),
    ("Which singers sang in a year but 2014?", f"SELECT s.artist_name {PLAYED} WHERE c.year <> '2014'"),
    ("Singers and titles, not of 2014", f"SELECT s.artist_name, c.title {PLAYED} WHERE c.year <> '2014'"),
    (
        "Which singers sang in 2014 or in 2015?",
        f"SELECT s.artist_name {PLAYED} WHERE c.year IN ('2014', '2015')",
    ),
    ("Titles of 2014 and 2015", "SELECT title FROM concert WHERE year IN ('2014', '2015')"),
    ("How many sang in both 2014 and 2015?", f"SELECT COUNT(*) {PLAYED} WHERE c.year IN ('2014', '2015')"),
    (
        "Singers who did not sing in 2014, with their concerts",
        f"SELECT s.artist_name, COUNT(*) {PLAYED} WHERE c.year <> '2014' GROUP BY s.artist_name",
    ),
    (
        "Which singers did not sing in 2014?",
        "SELECT s.artist_name FROM singer s JOIN concert c ON s.singer_id = s.singer_id WHERE c.year <> '2014'",
    ),
    ("Who did not sing?", "not SQL at all ("),
]


@pytest.mark.parametrize(("question", "sql", "right"), REWORDED)
def test_the_statement_says_what_the_question_does(question: str, sql: str, right: str) -> None:
    assert reworded(sql, question, MUSIC, mentioned_tables(question, MUSIC)) == right


@pytest.mark.parametrize(("question", "sql"), LEFT)
def test_what_the_words_leave_open_stays(question: str, sql: str) -> None:
    assert reworded(sql, question, MUSIC, mentioned_tables(question, MUSIC)) is None
