"""A model's readings that run before one is chosen: which stay, and what is told of the others."""

from __future__ import annotations

from dataclasses import replace

from engine.ask.explanation import explain
from engine.findings.admit import Door, accept
from engine.findings.lint import Context
from engine.judge.judge import judge
from engine.judge.run import run
from engine.values.candidate import Candidate, Meaning
from engine.values.settings import Limits
from engine.values.state import State
from engine.values.tools import Tools
from schema_catalog.pg import Connection
from tests.support.run_stage import ONCE, REPEATED, left, state, tools, upstream

__all__ = ["state", "tools", "upstream"]


async def readings(state: State, tools: Tools, *each: tuple[str, str], k: int = 3) -> State:
    """What is ranked of a model's readings, a meaning and a statement each, and of what keys and NULL make of them."""
    given = tuple(
        Candidate("shop", sql, meaning=Meaning(place, says)) for place, (says, sql) in enumerate(each)
    )
    route = state.routes[0]
    door = Door(Context(route.snapshot, state.question), route, state, tools)
    beside = [twin for one in given for twin in await door.readings(one)]
    checked = await accept(replace(state, k=k, candidates=(*given, *beside)), tools)
    return await judge(await run(checked, tools), tools)


async def test_a_reading_with_the_same_rows_today_is_told_in_the_one_that_stays(
    state: State, tools: Tools
) -> None:
    after = await readings(
        state,
        tools,
        ("all singers", "SELECT name FROM singer"),
        ("singers over 20.", "SELECT name FROM singer WHERE age > 20"),
        ("singers over 30", "SELECT name FROM singer WHERE age > 30"),
        ("adults alone", "SELECT name FROM singer WHERE age >= 18"),
    )
    assert [each.meaning.says for each in after.candidates] == ["all singers", "singers over 30"]
    assert explain(after.candidates[0], after.candidates[0]) == (
        "all singers; the same rows today as \u201csingers over 20\u201d;"
        " the same rows today as \u201cadults alone\u201d"
    )


async def test_a_reading_that_fails_on_the_data_or_says_nothing_is_told_as_well(
    state: State, tools: Tools
) -> None:
    after = await readings(
        state,
        tools,
        ("shares", "SELECT 1 / (age - age) FROM singer"),
        ("all singers", "SELECT name FROM singer"),
        ("", "SELECT name FROM singer WHERE age > 0"),
    )
    assert explain(after.candidates[0], after.candidates[0]) == (
        "all singers; the same rows today as another reading;"
        " not shown: \u201cshares\u201d, because it fails on the data"
    )


async def test_rows_that_repeat_each_other_take_no_readings_place(state: State, tools: Tools) -> None:
    given = (
        ("countries of each pair", REPEATED),
        ("ages", "SELECT age FROM singer"),
        ("names", "SELECT name FROM singer"),
    )
    after = await readings(state, tools, *given)
    assert left(after) == [sql for _, sql in given]
    more = await readings(state, tools, *given, k=5)
    assert left(more) == [*left(after), ONCE]
    assert [each.confidence for each in more.candidates[:3]] == [each.confidence for each in after.candidates]
    alone = await readings(state, tools, given[0])
    assert left(alone) == [REPEATED, ONCE]
    assert alone.candidates[0].confidence > 0.5 > 2 * alone.candidates[1].confidence


SUMS = (
    "SELECT SUM(singer.age) FROM singer JOIN song ON song.singer_id = singer.singer_id WHERE song.song_id {}"
)


async def test_what_keys_make_of_a_reading_stands_behind_it_where_the_rows_differ(
    state: State, tools: Tools
) -> None:
    twice = await readings(state, tools, ("total age", SUMS.format("< 9")))
    assert left(twice)[0] == SUMS.format("< 9")
    assert [each.is_twin for each in twice.candidates] == [False, True]
    assert twice.candidates[0].confidence > 0.5 > twice.candidates[1].confidence
    once = await readings(state, tools, ("total age", SUMS.format("= 3")))
    assert left(once) == [SUMS.format("= 3")]
    assert once.candidates[0].confidence > twice.candidates[0].confidence


async def test_what_is_not_known_to_give_other_rows_is_no_reading(state: State, tools: Tools) -> None:
    for limits in (Limits(run_candidates=False), Limits(run_cost=0.5)):
        blind = replace(tools, limits=limits)
        assert left(await readings(state, blind, ("total age", SUMS.format("< 9")))) == [SUMS.format("< 9")]


async def test_an_empty_list_for_null_is_told_from_what_finds_some(
    state: State, tools: Tools, admin: Connection
) -> None:
    await admin.execute("INSERT INTO song VALUES (4, NULL, 'w')")
    silent = "SELECT name FROM singer WHERE singer_id NOT IN (SELECT singer_id FROM song)"
    after = await readings(state, tools, ("singers without a song", silent))
    assert left(after)[0] == silent
    assert [each.is_twin for each in after.candidates] == [False, True]


async def test_the_first_reading_stays_first_whatever_it_finds(state: State, tools: Tools) -> None:
    none = "SELECT name FROM singer WHERE age > 99"
    after = await readings(state, tools, ("over 99", none), ("all", "SELECT name FROM singer"))
    assert left(after)[0] == none


TIES = {
    "the key is shown": (
        "SELECT country, name FROM singer ORDER BY country",
        "SELECT s.country, s.name FROM (SELECT * FROM singer ORDER BY name DESC) AS s ORDER BY s.country",
    ),
    "the key is not shown": (
        "SELECT name FROM singer ORDER BY country",
        "SELECT s.name FROM (SELECT * FROM singer ORDER BY name DESC) AS s ORDER BY s.country",
    ),
    "by its number and by its name": (
        "SELECT country AS land, name FROM singer ORDER BY 1",
        "SELECT s.country AS land, s.name FROM (SELECT * FROM singer ORDER BY name DESC) AS s ORDER BY land",
    ),
    "of a set operation": (
        "SELECT country, name FROM singer UNION ALL SELECT 'NL', 'Dee' ORDER BY country",
        "SELECT 'NL' AS country, 'Dee' AS name UNION ALL SELECT country, name FROM singer ORDER BY country",
    ),
}


async def test_rows_that_differ_in_the_order_of_ties_are_the_same(state: State, tools: Tools) -> None:
    for case, (one, other) in TIES.items():
        after = await readings(state, tools, ("one", one), ("other", other))
        assert left(after) == [one], case
        preview = after.candidates[0].preview
        assert preview is not None
        assert len(preview.columns) == len(preview.rows[0]) == (1 if "not shown" in case else 2)


async def test_another_order_is_no_tie(state: State, tools: Tools) -> None:
    one, other = "SELECT name FROM singer ORDER BY age", "SELECT name FROM singer ORDER BY age DESC"
    assert left(await readings(state, tools, ("up", one), ("down", other))) == [one, other]
