"""Candidates that run before one is chosen: what is merged, what never is, what goes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.findings.admit import accept
from engine.judge.judge import judge
from engine.judge.run import run
from engine.question.question import Question
from engine.values.candidate import Candidate, Change, RuleKind
from engine.values.settings import GenerationSettings, Limits
from engine.values.state import State
from engine.values.tools import Tools
from schema_catalog.introspect import introspect
from schema_catalog.pg import Connection
from tests.support.run_stage import ONCE, REPEATED, Counting, left, merged, state, tools, upstream

__all__ = ["state", "tools", "upstream"]


ONE = [
    ("SELECT max(age) FROM singer", "SELECT age FROM singer ORDER BY age DESC LIMIT 1"),
    ("SELECT count(*) FROM singer", "SELECT count(singer_id) FROM singer"),
    ("SELECT max(age) FROM singer", "SELECT max(age) FROM singer WHERE age IS NOT NULL"),
    (
        "SELECT name FROM singer WHERE singer_id IN (SELECT singer_id FROM song)",
        "SELECT DISTINCT singer.name FROM singer JOIN song ON singer.singer_id = song.singer_id",
    ),
    ("SELECT name FROM singer ORDER BY age", "SELECT name FROM singer ORDER BY age, name"),
]


async def test_the_same_in_other_words_is_merged(state: State, tools: Tools) -> None:
    for one, other in ONE:
        after = await merged(state, tools, one, other)
        assert left(after) == [one]
        assert after.trace[-1].event == "gives the same rows"
        assert other in after.trace[-1].detail
        assert left(await merged(state, tools, other, one)) == [other], "the best-scored stays"


async def test_of_equal_rows_the_plainest_statement_stays(state: State, tools: Tools) -> None:
    plain = "SELECT name FROM singer"
    for more in ("WHERE country IS NOT NULL", "WHERE NOT alias IS NULL AND country IS NOT NULL"):
        for statements in ((plain, f"{plain} {more}"), (f"{plain} {more}", plain)):
            after = await merged(state, tools, *statements)
            assert left(after) == [plain]
            assert after.candidates[0].origin.schema_score == 1
            assert after.candidates[0].merged == {*statements}


@pytest.mark.parametrize("scores", [(1.0, 0.5), (0.5, 1.0)])
async def test_a_rule_that_changed_nothing_makes_nothing_likelier(
    state: State, tools: Tools, scores: tuple[float, float]
) -> None:
    joined = (
        "SELECT max(s.age) FROM singer AS s JOIN song ON song.singer_id = s.singer_id WHERE s.name = 'Bob'"
    )
    plain = "SELECT max(s.age) FROM singer AS s WHERE s.name = 'Bob'"
    for before, readings in ((joined, 0), ("SELECT max(age) FROM singer", 1)):
        change = Change("drop_unasked_join", RuleKind.READING, "leaves out song", before, plain)
        written, made = (
            replace(each, origin=replace(each.origin, schema_score=score))
            for each, score in zip(
                (Candidate("shop", joined), Candidate("shop", joined).rewritten(plain, (change,))),
                scores,
                strict=True,
            )
        )
        checked = await accept(replace(state, candidates=(written, made)), tools)
        after = await run(checked, tools)
        assert [(each.sql, each.origin.readings) for each in after.candidates] == [(plain, readings)]


async def test_what_the_model_wrote_as_well_needed_no_rule(state: State, tools: Tools) -> None:
    sql = "SELECT max(age) FROM singer"
    made = Candidate("shop", sql).rewritten(sql, (Change("rule", RuleKind.READING, "", "SELECT 1", sql),))
    for each in ((made, Candidate("shop", sql)), (Candidate("shop", sql), made)):
        (left,) = (await accept(replace(state, candidates=each), tools)).candidates
        assert left.changes == ()


async def test_a_table_that_repeats_a_column_is_done_without(state: State, tools: Tools) -> None:
    both = (
        "SELECT singer.country FROM singer JOIN singer_country ON singer_country.singer_id = singer.singer_id"
    )
    alone = "SELECT country FROM singer"
    after = await merged(state, tools, both, alone)
    assert left(after) == [alone]
    assert after.candidates[0].origin.schema_score == 1, "as likely as what it stands for"
    assert after.trace[-1].detail == f"{both}; kept: {alone}"


async def test_what_reads_one_of_two_names_throughout_stays(
    state: State, tools: Tools, admin: Connection
) -> None:
    await admin.execute(
        "CREATE TABLE pupil (id int UNIQUE, pupil_id int UNIQUE); INSERT INTO pupil VALUES (1, 1);"
        "CREATE TABLE pet (pupil int REFERENCES pupil (id)); INSERT INTO pet VALUES (1);"
        "ALTER TABLE pet ADD FOREIGN KEY (pupil) REFERENCES pupil (pupil_id); GRANT SELECT ON pupil, pet TO ana"
    )
    snapshot = await introspect(admin, state.routes[0].database)
    state = replace(state, routes=(replace(state.routes[0], snapshot=snapshot),))
    mixed = "SELECT pupil.id FROM pupil JOIN pet ON pet.pupil = pupil.pupil_id"
    same = "SELECT pupil.id FROM pupil JOIN pet ON pet.pupil = pupil.id"
    assert left(await merged(state, tools, mixed, same)) == [same]
    assert left(await merged(state, tools, same, mixed)) == [same]


OF_SONGS = "SELECT song.singer_id FROM song"
JOINED = "SELECT singer.singer_id FROM singer JOIN song USING (singer_id)"


async def test_what_reads_fewer_tables_stays(state: State, tools: Tools) -> None:
    for statements in ((OF_SONGS, JOINED), (JOINED, OF_SONGS)):
        after = await merged(state, tools, *statements)
        assert left(after) == [OF_SONGS]
        assert after.candidates[0].origin.schema_score == 1


async def test_what_contradicts_the_question_makes_way(state: State, tools: Tools) -> None:
    first, oldest = (
        "SELECT country, age FROM singer ORDER BY age LIMIT 3",
        "SELECT country, age FROM singer ORDER BY age",
    )
    asked = replace(state, question=Question("Show all singers' countries and ages, sorted by age"))
    assert left(await merged(asked, tools, first, oldest)) == [oldest]


TWO = {
    "two columns of the same data are two readings": (
        "SELECT name FROM singer",
        "SELECT alias FROM singer",
    ),
    "two columns of the same data, and the one joins by the other's": (
        "SELECT singer.name FROM singer JOIN song ON song.singer_id = singer.singer_id WHERE singer.alias <> ''",
        "SELECT singer.alias FROM singer JOIN song ON song.singer_id = singer.singer_id WHERE singer.name <> ''",
    ),
    "two references to one table": ("SELECT first_id FROM duet", "SELECT second_id FROM duet"),
    "two counts agree by chance": ("SELECT count(*) FROM singer", "SELECT count(*) FROM stadium"),
    "a filter that filters nothing today": (
        "SELECT name FROM singer",
        "SELECT name FROM singer WHERE age > 20",
    ),
    "two filters that agree today": (
        "SELECT name FROM singer WHERE age > 30",
        "SELECT name FROM singer WHERE age > 39",
    ),
    "a condition that tests nothing today, and one number": (
        "SELECT count(*) FROM singer",
        "SELECT count(*) FROM singer WHERE country IS NOT NULL",
    ),
    "two conditions that agree today, and one number": (
        "SELECT count(*) FROM singer WHERE age <> 50",
        "SELECT count(*) FROM singer WHERE age < 50",
    ),
    "two aggregates that agree today": (
        "SELECT min(age) FROM singer WHERE country = 'NL'",
        "SELECT max(age) FROM singer WHERE country = 'NL'",
    ),
    "other types": ("SELECT age FROM singer", "SELECT age::text FROM singer"),
    "an order of its own": ("SELECT name FROM singer", "SELECT name FROM singer ORDER BY name"),
    "other rows": ("SELECT name FROM singer", "SELECT name FROM singer WHERE age > 30"),
    "no rows prove nothing": (
        "SELECT name FROM singer WHERE age > 99",
        "SELECT name FROM singer WHERE 99 < age AND age IS NOT NULL",
    ),
    "the clock decides": (
        "SELECT name FROM singer WHERE born < current_date",
        "SELECT name FROM singer WHERE current_date > born AND born IS NOT NULL",
    ),
    "an arbitrary choice": (
        "SELECT name FROM singer LIMIT 1",
        "SELECT name FROM singer WHERE name IS NOT NULL LIMIT 1",
    ),
}


async def test_two_readings_both_stay(state: State, tools: Tools) -> None:
    for case, statements in TWO.items():
        assert left(await merged(state, tools, *statements)) == list(statements), case


async def test_what_fails_on_the_data_goes(state: State, tools: Tools) -> None:
    good, bad = "SELECT name FROM singer", "SELECT 1 / (age - 30) FROM singer"
    after = await merged(state, tools, bad, good)
    assert left(after) == [good]
    assert after.trace[-1].event == "dropped by running it"
    assert "SQLSTATE 22012" in after.trace[-1].detail


async def test_no_value_of_a_row_stays_in_the_trace(state: State, tools: Tools) -> None:
    after = await merged(state, tools, "SELECT name::int FROM singer", "SELECT name FROM singer")
    assert after.trace[-1].event == "dropped by running it"
    assert after.trace[-1].detail == "it fails with SQLSTATE 22P02: SELECT name::int FROM singer"


async def test_the_dba_can_refuse(state: State, tools: Tools, upstream: Counting) -> None:
    refusing = replace(tools, limits=Limits(run_candidates=False))
    assert left(await merged(state, refusing, *ONE[0])) == list(ONE[0])
    assert upstream.runs == 0


async def test_a_dear_statement_does_not_run(state: State, tools: Tools, upstream: Counting) -> None:
    cheap = replace(tools, limits=Limits(run_cost=0.5))
    after = await merged(state, cheap, *ONE[0])
    assert left(after) == list(ONE[0])
    assert upstream.runs == 0
    assert {line.event for line in after.trace} == {"not compared by its rows"}


async def test_a_cut_result_proves_nothing(state: State, tools: Tools) -> None:
    few = replace(tools, limits=Limits(run_rows=2))
    after = await merged(state, few, *ONE[-1])
    assert left(after) == list(ONE[-1])
    assert "it gives more than 2 rows" in after.trace[-1].detail


async def test_a_slow_statement_costs_its_own_seconds(state: State, tools: Tools) -> None:
    slow = "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT 1 FROM r) SELECT count(*) FROM r"
    hasty = replace(tools, limits=Limits(run_seconds=0.3, run_cost=1e12))
    after = await merged(state, hasty, "SELECT name FROM singer", slow, *ONE[0])
    assert left(after) == ["SELECT name FROM singer", slow, ONE[0][0]]
    assert any("not compared" in line.event and slow in line.detail for line in after.trace)


async def test_equal_statements_that_could_not_be_compared_in_time_are_told(
    state: State, tools: Tools
) -> None:
    slow = "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT 1 FROM r) SELECT count(*) FROM r"
    hasty = replace(tools, limits=Limits(run_seconds=0.3, run_cost=1e12))
    again = slow.replace("count(*)", "count(1)")
    after = await merged(state, hasty, slow, again)
    assert left(after) == [slow, again]
    assert after.candidates[1].perhaps == {slow}
    told = [line.detail for line in after.trace if line.event == "not compared in time"]
    assert told == [f"{again}; perhaps: {slow}"]


async def test_what_finds_nothing_is_marked_and_ranked_behind(state: State, tools: Tools) -> None:
    after = await merged(
        state,
        tools,
        "SELECT name FROM singer WHERE name = 'FR'",
        "SELECT max(age) FROM singer WHERE alias = 'FR'",
        "SELECT name FROM singer WHERE country = 'FR'",
    )
    assert [each.fruitless for each in after.candidates] == [True, True, False]
    ranked = await judge(after, tools)
    assert left(ranked)[0] == "SELECT name FROM singer WHERE country = 'FR'"


async def test_beside_rows_that_repeat_each_other_each_is_shown_once(state: State, tools: Tools) -> None:
    after = await merged(state, tools, REPEATED)
    assert [(each.sql, each.origin.readings) for each in after.candidates] == [(REPEATED, 0), (ONCE, 1)]
    assert after.candidates[1].preview is not None
    assert sorted(after.candidates[1].preview.rows) == [("FR",), ("NL",)]
    assert after.trace[-1].event == "repetition rows_once: shows repeated rows once"
    ranked = await judge(after, tools)
    assert left(ranked) == [ONCE, REPEATED]


async def test_other_rows_are_left_as_they_are(state: State, tools: Tools) -> None:
    """Two of three, chosen, not to be compared, no rows."""
    for statement in (
        "SELECT singer.singer_id FROM singer JOIN song USING (singer_id)",
        "SELECT s.country FROM singer AS s CROSS JOIN duet LIMIT 4",
        "SELECT '{}'::json FROM singer",
        "SELECT country FROM singer WHERE age > 99",
    ):
        assert left(await merged(state, tools, statement)) == [statement]


async def test_what_a_dialogue_has_left_stays_alone(state: State, tools: Tools) -> None:
    meant = (Candidate("shop", REPEATED),)
    after = await merged(replace(state, dialogue=replace(state.dialogue, survivors=meant)), tools, REPEATED)
    assert left(after) == [REPEATED]


async def test_an_operator_can_refuse_that(state: State, tools: Tools) -> None:
    off = replace(tools, generation=GenerationSettings(rules_off=("rows_once",)))
    after = await merged(state, off, REPEATED)
    assert left(after) == [REPEATED]
