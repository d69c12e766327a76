"""The part of a large schema that a question is answered from."""

from __future__ import annotations

from dataclasses import replace

from engine.link.closest_part import AREA, OF_PART, closest_part, columns_of
from engine.values.state import Route
from schema_catalog.types import Database, ForeignKey, Snapshot, Table, TableKey
from tests.support.schemas import table

WIDTH = 20


def made(number: int, *refers: int) -> Table:
    keys = tuple(ForeignKey((f"c{to}",), "public", f"t{to}", ("c0",)) for to in refers)
    return replace(table(f"t{number}", " ".join(f"c{place}" for place in range(WIDTH))), foreign_keys=keys)


def route(*ranked: int) -> Route:
    """Sixty tables; t59 joins t3 and t4."""
    tables = (*(made(number) for number in range(59)), made(59, 3, 4))
    other = replace(made(3), schema="older")
    snapshot = Snapshot("many", ("older", "public"), (other, *tables))
    return Route(Database("many", "", "", ()), snapshot, 1.0, tuple(named(each) for each in ranked))


def named(number: int) -> TableKey:
    return ("public", f"t{number}")


def test_the_likeliest_tables_what_joins_two_of_them_and_what_holds_a_value_are_in_it() -> None:
    found = closest_part(route(3, 7, 4, *range(8, 58)))
    assert found.tables[:4] == (*map(named, (3, 7, 4, 8)),)
    assert named(59) in found.tables
    assert {each.key for each in found.snapshot.tables} == set(found.tables)
    assert columns_of(found.snapshot) <= OF_PART + AREA
    assert named(30) in closest_part(route(*range(40)), [named(30)]).tables
    assert named(30) not in closest_part(route(*range(40))).tables
    wide = table("wide", " ".join(f"c{place}" for place in range(900)))
    snapshot = Snapshot("many", ("public",), (wide, made(1)))
    found = closest_part(Route(Database("many", "", "", ()), snapshot, 1.0, (wide.key, named(1))))
    assert found.tables[0] == wide.key


def test_questions_about_one_area_begin_with_the_same_tables() -> None:
    one = closest_part(replace(route(3, 4), likely=(named(3),))).snapshot
    other = closest_part(replace(route(4, 30), likely=(named(4), named(30)))).snapshot
    assert {named(3), named(4), named(59)} == {each.key for each in one.tables}
    assert other.tables[: len(one.tables)] == one.tables
    assert other.tables[len(one.tables) :] == (made(30),)


def test_names_mean_there_what_they_mean_in_the_whole_and_keys_lead_to_no_table_outside() -> None:
    found = closest_part(route(3, 4)).snapshot
    (third,) = (each for each in found.tables if each.key == named(3))
    assert found.display_name(third) == "public.t3"
    wide = table("wide", " ".join(f"c{place}" for place in range(900)))
    key = ForeignKey(("c1",), "public", "wide", ("c0",))
    joining = replace(made(1), foreign_keys=(key,))
    snapshot = Snapshot("many", ("public",), (joining, wide))
    found = closest_part(Route(Database("many", "", "", ()), snapshot, 1.0, (joining.key, wide.key)))
    assert found.snapshot.tables == (made(1),)
