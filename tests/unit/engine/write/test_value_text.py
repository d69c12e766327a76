"""Values as lines of a prompt."""

from __future__ import annotations

from dataclasses import replace

from engine.statement.written import condition
from engine.values.elements import Relation, ValueLink
from engine.write.known_text import value_text
from schema_catalog.types import Column, ColumnKey, Snapshot, Table, TableKind

TABLES = (
    Table("public", "singer", TableKind.TABLE, (Column("country", "text"), Column("Sex", "text"))),
    Table("other", "order", TableKind.TABLE, (Column("day", "text"),)),
)
SNAPSHOT = Snapshot("music", ("public",), TABLES)
COUNTRY: ColumnKey = ("public", "singer", "country")
LINKS = (
    ValueLink("france", COUNTRY, ("France",), 0.97, Relation.EQUALS),
    ValueLink("", ("public", "singer", "Sex"), ("F", "M"), 0.6, Relation.ONE_OF),
    ValueLink("May 2013", ("other", "order", "day"), ("2013-05-14",), 0.97, Relation.SUCH_AS),
)


def test_conditions_are_written_as_sql_of_columns_that_are_shown() -> None:
    assert [condition(link, SNAPSHOT) for link in LINKS] == [
        "singer.country = 'France'",
        "singer.\"Sex\" is either 'F' or 'M'",
        "\"order\".day such as '2013-05-14'",
    ]
    assert condition(replace(LINKS[0], column=("public", "gone", "country")), SNAPSHOT) is None
    assert condition(replace(LINKS[0], column=("public", "singer", "gone")), SNAPSHOT) is None
    assert value_text(LINKS, SNAPSHOT, {COUNTRY, ("public", "singer", "Sex"), ("other", "order", "*")}) == ""
