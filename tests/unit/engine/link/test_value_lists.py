"""Lists of values hold a statement to themselves only where they are whole now."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from engine.guard import Refused, check
from engine.link.looking import ROWS, TOKENS, whole_lists
from engine.values.elements import ValueList
from engine.values.ports import Result, StatementError
from engine.values.settings import Limits
from tests.support import asking
from tests.support.schemas import MUSIC

COUNTRY = ValueList(("public", "singer", "country"), ("France", "Côte d'Ivoire"))
ARTIST = ValueList(("public", "singer", "artist_name"), ("Joe",))
TITLE = ValueList(("public", "concert", "title"), ("Gala",))


@dataclass
class Looking:
    """Says `row` of every look."""

    row: tuple[str | None, ...] = ()
    cost: float = 10.0
    refuses: bool = False
    ran: list[str] = field(default_factory=list)

    async def explain(self, *_: object) -> float:
        """The cost."""
        return self.cost

    async def run(self, _database: object, _asker: object, sql: str, *_: object) -> Result:
        """The row."""
        if self.refuses:
            raise StatementError("42501", "permission denied", None, None, None)
        self.ran.append(sql)
        return Result(tuple(("max", "integer") for _ in self.row), (self.row,), truncated=False)


class Dear(Looking):
    """Notes a look, and finds it too costly."""

    async def explain(self, _database: object, _asker: object, sql: str, *_: object) -> float:
        """Too much."""
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
    assert whole(upstream, COUNTRY, ARTIST, TITLE) == (COUNTRY, TITLE)
    (sql,) = upstream.ran
    assert sql.count(" FROM public.singer") == sql.count(" FROM public.concert") == 1
    assert "'Côte d''Ivoire'" in sql
    assert whole(Looking(("1",)), TITLE) == (replace(TITLE, values=("Gala", "")),)


@pytest.mark.parametrize("upstream", [Looking(("0",), cost=1e9), Looking(("0",), refuses=True)])
def test_what_cannot_be_looked_for_holds_nobody(upstream: Looking) -> None:
    assert whole(upstream, TITLE) == ()
    assert upstream.ran == []


def test_the_first_tables_that_fit_are_looked_at_unless_candidates_may_not_run() -> None:
    upstream = Looking(("0",))
    assert whole(upstream, TITLE, limits=Limits(run_candidates=False)) == ()
    assert upstream.ran == []
    long = replace(COUNTRY, values=tuple(map(str, range(TOKENS))))
    assert whole(Looking(("0",)), TITLE, long) == (TITLE,)
    assert whole(Looking(("0",)), TITLE, COUNTRY, rows=ROWS - 1) == (TITLE,)
    assert whole(Looking(("0",)), TITLE, rows=ROWS + 1) == ()


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
