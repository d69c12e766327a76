"""Changes between snapshots."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schema_catalog.drift import Change, Difference, compare
from schema_catalog.types import Column, Snapshot, Table, TableKind

FILM = Table(
    "public", "film", TableKind.TABLE, (Column("id", "integer"), Column("title", "text")), row_estimate=4
)
ORDER = Table("public", "Order", TableKind.TABLE, (Column("id", "integer"),))


NEW = replace(
    FILM, columns=(Column("id", "bigint", nullable=False, description="key"), Column("name", "text"))
)
STATE = Column("state", "film_state", labels=("OLD", "NEW"))
MORE = replace(STATE, labels=("OLD", "NEW", "LOST"))
ADDED, REMOVED, CHANGED = Difference.ADDED, Difference.REMOVED, Difference.CHANGED
ORDERS = Change(ADDED, "table", 'public."Order"', columns=1)


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ((FILM,), (replace(FILM, row_estimate=9),), []),
        (None, (ORDER, FILM), [ORDERS, Change(ADDED, "table", "public.film", columns=2)]),
        ((FILM,), (ORDER,), [ORDERS, Change(REMOVED, "table", "public.film", columns=2)]),
        (
            (FILM,),
            (NEW,),
            [
                Change(CHANGED, "column", "public.film.id", "integer → bigint, not null now, comment"),
                Change(ADDED, "column", "public.film.name"),
                Change(REMOVED, "column", "public.film.title"),
            ],
        ),
        (
            (FILM,),
            (replace(FILM, primary_key=("id",), description="shown"),),
            [Change(CHANGED, "table", "public.film", "comment, primary key")],
        ),
        (
            (replace(FILM, columns=(STATE,)),),
            (replace(FILM, columns=(MORE,)),),
            [Change(CHANGED, "column", "public.film.state", "labels OLD, NEW → OLD, NEW, LOST")],
        ),
    ],
)
def test_what_comes_goes_and_changes(
    before: tuple[Table, ...] | None, after: tuple[Table, ...], changes: list[Change]
) -> None:
    known = None if before is None else Snapshot("d", ("public",), before)
    assert list(compare(known, Snapshot("d", ("public",), after))) == changes
