"""Invented values are told, and a statement of nothing else counts as fruitless."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import pytest

from benchmarks.harness.without import NoValues
from engine.findings.stored_literals import write_as_stored
from engine.link.missing_values import COLUMNS, held_words
from engine.values.candidate import Candidate, Origin
from engine.values.elements import NearValues, Relation, UnknownPhrase, ValueLink
from engine.values.ports import Result
from engine.values.refusal import lacking
from engine.values.settings import Limits
from engine.values.state import State
from schema_catalog.types import ColumnKey, Snapshot
from tests.support.asking import PlanningUpstream, asked, route, tools
from tests.support.schemas import MUSIC

FRENCH = Candidate("music", "SELECT artist_name FROM singer WHERE country = 'France'")
INVENTED = Candidate("music", "SELECT artist_name FROM singer WHERE country = 'Oz'")
BOTH = Candidate("music", "SELECT artist_name FROM singer WHERE country IN ('France', 'Oz')")


class Holding(PlanningUpstream):
    """Holds France alone."""

    async def run(self, _database: object, _asker: object, sql: str, *_: object) -> Result:
        """Whether each text occurs; in any case none does."""
        row = tuple("t" if "'France'" in part else "f" for part in sql.split("EXISTS")[1:])
        return Result(tuple(("exists", "boolean") for _ in row), (row,), truncated=False)


def checked(*candidates: Candidate, limits: Limits | None = None) -> State:
    to = route("singers from France")
    state = replace(asked("singers from France", to), candidates=candidates)
    given = replace(tools("", cast("Any", Holding())), limits=limits or Limits())
    return asyncio.run(write_as_stored(state, given))


def test_what_does_not_occur_is_told() -> None:
    done = checked(FRENCH, INVENTED, BOTH)
    assert [[each.text for each in candidate.missing] for candidate in done.candidates] == [
        [],
        ["Oz"],
        ["Oz"],
    ]
    assert [candidate.fruitless for candidate in done.candidates] == [False, True, False]
    assert [line.event for line in done.trace] == ["country 'Oz' does not occur"] * 2


def test_nothing_runs_where_candidates_may_not() -> None:
    done = checked(INVENTED, limits=Limits(run_candidates=False))
    assert done.candidates == (INVENTED,)


@dataclass
class Near(NoValues):
    """Knows what is near to a text."""

    known: dict[str, NearValues]

    async def near(self, texts: Sequence[tuple[ColumnKey, str]], *_: object) -> tuple[NearValues, ...]:
        return tuple(self.known.get(text, NearValues()) for _, text in texts)


def corrected(found: NearValues, *candidates: Candidate, limits: Limits | None = None) -> State:
    to = route("singers from France")
    state = replace(asked("singers from France", to), candidates=candidates)
    given = replace(tools("", cast("Any", Holding())), values=Near({"Oz": found}), limits=limits or Limits())
    return asyncio.run(write_as_stored(state, given))


def test_what_is_surely_another_spelling_takes_the_statements_place() -> None:
    done = corrected(
        NearValues(("France",), sure=True, whole=True),
        replace(INVENTED, cost=1.0, origin=Origin(logprob=-0.1)),
    )
    (only,) = done.candidates
    assert only.sql == FRENCH.sql
    assert (only.missing, only.fruitless, only.cost, only.origin.logprob) == ((), False, None, None)
    (change,) = only.changes
    assert (change.rule, change.how) == ("literal_as_stored", "reads 'Oz' as 'France'")
    assert [line.event for line in done.trace] == ["correction literal_as_stored: reads 'Oz' as 'France'"]


NOT_SURE = [NearValues(("France",), whole=True), NearValues(("France",), sure=True), NearValues(("France",))]


@pytest.mark.parametrize("found", NOT_SURE)
def test_what_may_be_meant_stands_behind_the_statement(found: NearValues) -> None:
    first, second = corrected(found, INVENTED).candidates
    assert (first.sql, first.fruitless, len(first.missing)) == (INVENTED.sql, True, 1)
    assert (second.sql, second.fruitless, second.missing) == (FRENCH.sql, False, ())


def test_a_value_that_was_not_looked_for_is_never_replaced() -> None:
    limits = Limits(run_candidates=False)
    first, second = corrected(
        NearValues(("France",), sure=True, whole=True), INVENTED, limits=limits
    ).candidates
    assert (first, second.sql) == (INVENTED, FRENCH.sql)
    assert corrected(NearValues(("France",), sure=True), INVENTED, limits=limits).candidates == (INVENTED,)


def test_a_stored_value_and_a_pattern_stay() -> None:
    pattern = replace(INVENTED, sql=INVENTED.sql.replace("= 'Oz'", "ILIKE 'Oz'"))
    done = corrected(NearValues(("France",), sure=True, whole=True), FRENCH, pattern)
    assert [each.sql for each in done.candidates] == [FRENCH.sql, pattern.sql]


class InCapitals(Holding):
    """Holds FRANCE and nothing as it is asked for; `cost`: of a look in any case."""

    cost = 1.0

    async def explain(self, _database: object, _asker: object, sql: str, _deadline: object) -> float:
        return self.cost if "lower" in sql else 1.0

    async def run(self, _database: object, _asker: object, sql: str, *_: object) -> Result:
        """The look in any case finds it."""
        self.planned.append(sql)
        row = tuple("t" if "lower('France')" in part else "f" for part in sql.split("EXISTS")[1:])
        return Result((("a", "text"),) * len(row), (row,), truncated=False)


def looked_for(upstream: InCapitals, *candidates: Candidate) -> State:
    to = route("singers from France")
    state = replace(asked("singers from France", to), candidates=candidates)
    return asyncio.run(write_as_stored(state, tools("", cast("Any", upstream))))


def test_a_text_stored_in_other_letters_is_written_so_unless_that_is_dear_to_find() -> None:
    upstream = InCapitals()
    done = looked_for(upstream, FRENCH)
    (only,) = done.candidates
    assert only.sql.endswith("WHERE LOWER(CAST(country AS TEXT)) = LOWER('France')")
    assert (only.missing, only.fruitless) == ((), False)
    assert len(upstream.planned) == 2
    upstream = InCapitals()
    upstream.cost = Limits().run_cost + 1
    (only,) = looked_for(upstream, FRENCH).candidates
    assert (only.sql, [each.text for each in only.missing]) == (FRENCH.sql, ["France"])


UNKNOWN = (UnknownPhrase("gravel", ("public", "singer", "country"), 0.1), UnknownPhrase("sand", None, 0.0))


@dataclass
class Rows(PlanningUpstream):
    """Finds the first word of two."""

    found: tuple[str, ...] = ("t", "f")

    async def run(self, _database: object, _asker: object, sql: str, *_: object) -> Result:
        self.planned.append(sql)
        return Result((("a", "boolean"),) * len(self.found), (self.found,), truncated=False)


def test_a_word_that_some_row_holds_is_not_unknown_and_the_others_say_where_was_looked() -> None:
    to, upstream = route("gravel and sand"), Rows()
    left = asyncio.run(held_words(UNKNOWN, to, asked("", to), tools("", upstream)))
    assert [each.text for each in left] == ["sand"]
    assert 3 < len(left[0].looked) < COLUMNS
    assert "lower(artist_name::text) = lower('gravel'))" in upstream.planned[-1]
    words = lacking(left, ["music"], partly=False).words
    looked = f"no row of concert.title, concert.year or {len(left[0].looked) - 2} others holds it"
    assert words == f"Nothing in music is about \u201csand\u201d, and {looked}"
    beyond = lacking([replace(left[0], unlooked=2)], ["music"], partly=False).words
    assert beyond.endswith("; 2 text columns not searched")


def test_words_that_cannot_be_looked_for_stay_as_they_are() -> None:
    to = route("gravel and sand")
    off = replace(tools("", Rows()), limits=Limits(run_candidates=False))
    left = asyncio.run(held_words(UNKNOWN, to, asked("", to), off))
    assert [replace(each, unlooked=0) for each in left] == [*UNKNOWN]
    words = lacking(left, ["music"], partly=False).words
    assert f"; {left[0].unlooked} text columns not searched" in words
    assert asyncio.run(held_words((), to, asked("", to), tools("", Rows()))) == ()


def legend(comment: str) -> Snapshot:
    """MUSIC with a comment on the singers' country."""
    singer = next(each for each in MUSIC.tables if each.name == "singer")
    columns = [
        replace(each, description=comment) if each.name == "country" else each for each in singer.columns
    ]
    return replace(MUSIC, tables=(replace(singer, columns=tuple(columns)),))


@pytest.mark.parametrize(("limits", "kept"), [(Limits(), []), (Limits(run_candidates=False), ["from Oz"])])
def test_what_a_comment_says_of_a_code_is_written_as_the_code(limits: Limits, kept: list[str]) -> None:
    spelt = replace(INVENTED, sql=INVENTED.sql.replace("Oz", "from Oz"))
    to = replace(route("singers from Oz"), snapshot=legend("F = from Oz, K = from Kansas"))
    state = replace(asked("singers from Oz", to), candidates=(spelt,))
    done = asyncio.run(write_as_stored(state, replace(tools("", cast("Any", Holding())), limits=limits)))
    texts = [each.sql.partition("country = ")[2] for each in done.candidates]
    assert texts == [*(f"'{each}'" for each in kept), "'F'"]


def test_what_a_reference_explains_stands_behind_a_text_that_does_not_occur() -> None:
    to = replace(
        route("singers of concert Opening"),
        values=(ValueLink("Opening", ("public", "concert", "title"), ("Opening",), 1.0, Relation.EQUALS),),
    )
    sung = Candidate(
        "music", "SELECT s.entry_id FROM singer_in_concert AS s, singer AS c WHERE c.country = 'Opening'"
    )
    state = replace(asked("singers of concert Opening", to), candidates=(sung,))
    done = asyncio.run(write_as_stored(state, tools("", cast("Any", Holding()))))
    assert done.candidates[0].sql == sung.sql
    assert "SELECT concert_id FROM concert WHERE title = 'Opening'" in done.candidates[1].sql
