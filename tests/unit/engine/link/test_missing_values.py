"""Looks at the data: which texts of a statement its columns do not hold, and which lists of values are whole now."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from engine.guard import Refused, check
from engine.link.looking import ROWS, TOKENS, whole_lists
from engine.link.missing_values import check_literals, compared_literals
from engine.values.candidate import Candidate
from engine.values.elements import Literal, LiteralCheck, Relation, ValueLink, ValueList
from engine.values.ports import Result, StatementError
from engine.values.settings import Limits
from schema_catalog.types import Column, ColumnKey, Table, TableKind
from tests.support import asking
from tests.support.schemas import MUSIC

COUNTRY = ("public", "singer", "country")
TITLE = ("public", "concert", "title")


@dataclass
class Looking:
    """Says `row` of every look, or which of the texts that are looked for occur. `cost`: of the look."""

    row: tuple[str | None, ...] = ()
    stored: tuple[str, ...] = ()
    cost: float = 10.0
    refuses: bool = False
    ran: list[str] = field(default_factory=list)

    async def explain(self, *_: object) -> float:
        return self.cost

    async def run(self, _database: object, _asker: object, sql: str, *_: object) -> Result:
        if self.refuses:
            raise StatementError("42501", "permission denied", None, None, None)
        self.ran.append(sql)
        occurs = [any(f"'{text}'" in part for text in self.stored) for part in sql.split("EXISTS")[1:]]
        row = self.row or tuple("t" if each else "f" for each in occurs)
        kind = "integer" if self.row else "boolean"
        return Result((("look", kind),) * len(row), (row,), truncated=False)


def checked(sql: str, upstream: Looking | None = None, values: tuple[ValueLink, ...] = ()) -> LiteralCheck:
    route = replace(asking.route("singers"), values=values)
    state = asking.asked("singers", route)
    tools = asking.tools(sql, cast("Any", upstream or Looking()))
    return asyncio.run(check_literals(Candidate("music", sql), route, state, tools))


def test_the_texts_that_columns_are_compared_with() -> None:
    sql = """
        SELECT s.artist_name FROM singer s JOIN singer_in_concert i USING (singer_id)
        JOIN concert c ON c.concert_id = i.concert_id
        WHERE s.country IN ('France', 'Spain') AND 'Gala' = c.title AND s.country <> 'Italy'
          AND c.title NOT IN ('None') AND c.title ILIKE '%rock%' AND s.singer_id = '3'
          AND c.year > '2013' AND EXISTS (SELECT 1 FROM singer t WHERE t.country = 'Peru')
    """
    assert set(compared_literals(sql, MUSIC)) == {
        Literal(COUNTRY, "France"),
        Literal(COUNTRY, "Spain"),
        Literal(COUNTRY, "Peru"),
        Literal(TITLE, "Gala"),
        Literal(TITLE, "%rock%", pattern=True, any_case=True),
        Literal(COUNTRY, "Italy", negated=True),
        Literal(TITLE, "None", negated=True),
    }


ROOM = (Column("tags", "text[]"), Column("sizes", "integer[]"), Column("name", "text"))
TAGGED = replace(MUSIC, tables=(Table("public", "room", TableKind.TABLE, ROOM),))
TAGS: ColumnKey = ("public", "room", "tags")


@pytest.mark.parametrize(
    ("test", "texts"),
    [
        ("'beamer' = ANY (tags)", ["beamer"]),
        ("tags @> ARRAY['beamer', 'sofa']", ["beamer", "sofa"]),
        ("ARRAY['beamer'] && tags", ["beamer"]),
        ("tags = ARRAY['beamer']", []),
        ("'3' = ANY (sizes)", []),
        ("name = ANY (ARRAY['Blue'])", []),
    ],
)
def test_members_of_arrays_are_looked_for_like_others(test: str, texts: list[str]) -> None:
    sql = f"SELECT name FROM room WHERE {test}"
    found = [Literal(TAGS, text, member=True) for text in texts]
    assert list(compared_literals(sql, TAGGED)) == found
    upstream = Looking(stored=("sofa",))
    route = replace(asking.route("rooms"), snapshot=TAGGED)
    tools = asking.tools(sql, cast("Any", upstream))
    check = asyncio.run(check_literals(Candidate("music", sql), route, asking.asked("rooms", route), tools))
    assert check.missing == tuple(each for each in found if each.text != "sofa")
    if texts:
        (looked,) = upstream.ran
        assert looked.startswith("SELECT EXISTS (SELECT 1 FROM")
        assert "= ANY (" in looked


def test_invented_texts_are_told_from_stored_ones() -> None:
    upstream = Looking(stored=("France",))
    found = checked("SELECT artist_name FROM singer WHERE country IN ('France', 'O''Land')", upstream)
    assert found.present == (Literal(COUNTRY, "France"),)
    assert found.missing == (Literal(COUNTRY, "O'Land"),)
    assert not found.all_invented
    sql, in_any_case = upstream.ran
    assert "country = 'O''Land'" in sql
    assert "lower('O''Land')" in in_any_case
    assert "France" not in in_any_case
    assert checked("SELECT artist_name FROM singer WHERE country = 'Nowhere'").all_invented


def test_a_linked_value_needs_no_look_and_what_cannot_be_looked_for_is_neither() -> None:
    upstream = Looking()
    link = ValueLink("france", COUNTRY, ("France",), 1.0, Relation.EQUALS)
    found = checked("SELECT artist_name FROM singer WHERE country = 'France'", upstream, (link,))
    assert found == LiteralCheck(present=(Literal(COUNTRY, "France"),))
    assert upstream.ran == []
    sql = "SELECT artist_name FROM singer WHERE country = 'Nowhere'"
    unknown = LiteralCheck(unknown=(Literal(COUNTRY, "Nowhere"),))
    assert checked(sql, Looking(cost=1e9)) == unknown
    assert checked(sql, Looking(refuses=True)) == unknown


def test_what_rows_are_not_to_have_makes_no_statement_an_invented_one() -> None:
    found = checked("SELECT artist_name FROM singer WHERE country <> 'Nowhere'")
    assert found.missing == (Literal(COUNTRY, "Nowhere", negated=True),)
    assert not found.all_invented
    sql = "SELECT artist_name FROM singer WHERE country <> 'France' AND country = 'Nowhere'"
    assert checked(sql, Looking(stored=("France",))).all_invented


COUNTRIES = ValueList(("public", "singer", "country"), ("France", "Côte d'Ivoire"))
ARTISTS = ValueList(("public", "singer", "artist_name"), ("Joe",))
TITLES = ValueList(("public", "concert", "title"), ("Gala",))


class Dear(Looking):
    """Notes a look, and finds it too costly."""

    async def explain(self, _database: object, _asker: object, sql: str, *_: object) -> float:
        self.ran.append(sql)
        return 1e9


def whole(
    upstream: Looking, *lists: ValueList, limits: Limits | None = None, rows: int | None = None
) -> tuple[ValueList, ...]:
    tables = tuple(replace(each, row_estimate=rows) for each in MUSIC.tables)
    route = asking.route("singers", replace(MUSIC, tables=tables))
    tools = replace(asking.tools("", cast("Any", upstream)), limits=limits or Limits())
    return asyncio.run(whole_lists(lists, route, asking.asked("singers", route), tools))


def test_each_table_is_read_once_every_text_quoted_and_the_empty_one_found() -> None:
    upstream = Looking(("0", "2", None))
    assert whole(upstream, COUNTRIES, ARTISTS, TITLES) == (COUNTRIES, TITLES)
    (sql,) = upstream.ran
    assert sql.count(" FROM public.singer") == sql.count(" FROM public.concert") == 1
    assert "'Côte d''Ivoire'" in sql
    assert whole(Looking(("1",)), TITLES) == (replace(TITLES, values=("Gala", "")),)


@pytest.mark.parametrize("upstream", [Looking(("0",), cost=1e9), Looking(("0",), refuses=True)])
def test_what_cannot_be_looked_for_holds_nobody(upstream: Looking) -> None:
    assert whole(upstream, TITLES) == ()
    assert upstream.ran == []


def test_the_first_tables_that_fit_are_looked_at_unless_candidates_may_not_run() -> None:
    upstream = Looking(("0",))
    assert whole(upstream, TITLES, limits=Limits(run_candidates=False)) == ()
    assert upstream.ran == []
    long = replace(COUNTRIES, values=tuple(map(str, range(TOKENS))))
    assert whole(Looking(("0",)), TITLES, long) == (TITLES,)
    assert whole(Looking(("0",)), TITLES, COUNTRIES, rows=ROWS - 1) == (TITLES,)
    assert whole(Looking(("0",)), TITLES, rows=ROWS + 1) == ()


@pytest.mark.parametrize(("columns", "values"), [(1, 1), (9, 5), (3, 90)])
def test_the_longest_look_is_one_that_the_guard_reads(columns: int, values: int) -> None:
    lists = [
        ValueList(("public", f"t{number}", f"c{place}"), tuple(f"v {place} {each}" for each in range(values)))
        for number in range(60)
        for place in range(columns)
    ]
    upstream = Dear()
    whole(upstream, *lists)
    (sql,) = upstream.ran
    verdict = check(sql)
    assert not isinstance(verdict, Refused), verdict
