"""The texts of a statement that its columns do not hold."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from engine.link.missing_values import check_literals, compared_literals
from engine.values.candidate import Candidate
from engine.values.elements import Literal, LiteralCheck, Relation, ValueLink
from engine.values.ports import Result, StatementError
from schema_catalog.types import Column, ColumnKey, Table, TableKind
from tests.support import asking
from tests.support.schemas import MUSIC

COUNTRY = ("public", "singer", "country")
TITLE = ("public", "concert", "title")


@dataclass
class HoldingUpstream:
    """Says which of the texts that are looked for occur. `cost`: of the look."""

    stored: tuple[str, ...] = ()
    cost: float = 10.0
    refuses: bool = False
    ran: list[str] = field(default_factory=list)

    async def explain(self, *_: object) -> float:
        """The cost."""
        return self.cost

    async def run(self, _database: object, _asker: object, sql: str, *_: object) -> Result:
        """A row with a truth value for each text."""
        if self.refuses:
            raise StatementError("42501", "permission denied", None, None, None)
        self.ran.append(sql)
        row = tuple(
            "t" if any(f"'{text}'" in part for text in self.stored) else "f"
            for part in sql.split("EXISTS")[1:]
        )
        return Result(tuple(("exists", "boolean") for _ in row), (row,), truncated=False)


def checked(
    sql: str, upstream: HoldingUpstream | None = None, values: tuple[ValueLink, ...] = ()
) -> LiteralCheck:
    route = replace(asking.route("singers"), values=values)
    state = asking.asked("singers", route)
    tools = asking.tools(sql, cast("Any", upstream or HoldingUpstream()))
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
    upstream = HoldingUpstream(stored=("sofa",))
    route = replace(asking.route("rooms"), snapshot=TAGGED)
    tools = asking.tools(sql, cast("Any", upstream))
    check = asyncio.run(check_literals(Candidate("music", sql), route, asking.asked("rooms", route), tools))
    assert check.missing == tuple(each for each in found if each.text != "sofa")
    if texts:
        (looked,) = upstream.ran
        assert looked.startswith("SELECT EXISTS (SELECT 1 FROM")
        assert "= ANY (" in looked


def test_invented_texts_are_told_from_stored_ones() -> None:
    upstream = HoldingUpstream(stored=("France",))
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
    upstream = HoldingUpstream()
    link = ValueLink("france", COUNTRY, ("France",), 1.0, Relation.EQUALS)
    found = checked("SELECT artist_name FROM singer WHERE country = 'France'", upstream, (link,))
    assert found == LiteralCheck(present=(Literal(COUNTRY, "France"),))
    assert upstream.ran == []
    sql = "SELECT artist_name FROM singer WHERE country = 'Nowhere'"
    unknown = LiteralCheck(unknown=(Literal(COUNTRY, "Nowhere"),))
    assert checked(sql, HoldingUpstream(cost=1e9)) == unknown
    assert checked(sql, HoldingUpstream(refuses=True)) == unknown


def test_what_rows_are_not_to_have_makes_no_statement_an_invented_one() -> None:
    found = checked("SELECT artist_name FROM singer WHERE country <> 'Nowhere'")
    assert found.missing == (Literal(COUNTRY, "Nowhere", negated=True),)
    assert not found.all_invented
    sql = "SELECT artist_name FROM singer WHERE country <> 'France' AND country = 'Nowhere'"
    assert checked(sql, HoldingUpstream(stored=("France",))).all_invented
