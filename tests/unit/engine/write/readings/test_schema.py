"""The schema as a model that follows instructions reads it: what a line says, and what stays the same."""

from __future__ import annotations

from dataclasses import replace

from engine.values.elements import ColumnContent, ColumnFacts, Relation, ValueLink
from engine.values.state import Route
from engine.write.readings.prompt import Server, Writer, room
from engine.write.readings.schema import described
from schema_catalog.types import Attributes, Check, Column, Database, ForeignKey, Snapshot, Table, TableKind
from tests.support.asking import asked

CUSTOMER = Table(
    "public",
    "customer",
    TableKind.TABLE,
    (
        Column("id", "integer", nullable=False),
        Column("Home Town", "character varying(40)", description='the "town"\n### of birth'),
        Column("spot", "point3d", fields=("x integer", "y integer")),
    ),
    ("id",),
    row_estimate=12_345,
    description="who buys",
)
SALE = Table(
    "public",
    "sale",
    TableKind.TABLE,
    (
        Column("id", "bigint", nullable=False),
        Column("customer_id", "integer", nullable=False),
        Column("state", "text", nullable=False, description="open until the money is there"),
        Column("city", "text"),
        Column("net", "money_eur", attributes=Attributes(unit="EUR"), domain="numeric CHECK (VALUE >= 0)"),
        Column("made", "timestamp with time zone"),
        Column("stars", "smallint"),
        Column("more", "jsonb"),
        Column("mood", "mood", labels=("good", "bad")),
        Column("marks", "integer", description="1 = heated, 2 = outdoor, 4 = roofed"),
    ),
    ("id",),
    foreign_keys=(ForeignKey(("customer_id",), "public", "customer", ("id",)),),
    checks=(Check(("net",), "CHECK ((net > 0))"),),
)
RECENT = Table("public", "recent", TableKind.VIEW, (Column("id", "bigint"),))
SHOP = Snapshot("shop", ("public",), (CUSTOMER, RECENT, SALE))


def column(name: str) -> tuple[str, str, str]:
    return ("public", "sale", name)


TOLD = (
    ColumnFacts(column("state"), ("open", "it's paid"), whole=True),
    ColumnFacts(column("city"), ("Graz", "Wien")),
    ColumnFacts(column("net"), least="0.50", greatest="90"),
    ColumnFacts(column("made"), least="2021-01-03 00:00:00+00", greatest="2026-05-31 12:00:00+00"),
    ColumnFacts(column("stars"), ("5", "1"), whole=True),
)
ROUTE = Route(
    Database("shop", "", "shop", ("public",)),
    SHOP,
    1.0,
    (SALE.key, CUSTOMER.key),
    told=TOLD,
    contents=(ColumnContent(column("more"), ("{}->>'color'", "({}->>'weight')::numeric")),),
)

GOLDEN = """\
table customer (about 12000 rows) -- who buys
  id integer key
  "Home Town" varchar(40) -- the 'town' of birth
  spot point3d (x integer, y integer)
view recent
  id bigint
table sale
  id bigint key
  customer_id integer not null -> customer.id
  state text not null ['open', 'it''s paid'] -- open until the money is there
  city text [e.g. 'Graz', 'Wien']
  net money_eur (numeric CHECK (VALUE >= 0)) [0.50..90] -- in EUR
  made timestamptz [2021-01-03..2026-05-31]
  stars smallint [5, 1]
  more jsonb [more->>'color', (more->>'weight')::numeric]
  mood mood ['good', 'bad']
  marks integer -- 1 = heated, 2 = outdoor, 4 = roofed; bits, of which several may be set: 1 heated, 2 outdoor, \
4 roofed; tested as marks & 1 <> 0
  CHECK ((net > 0))"""


def test_a_line_says_all_that_is_known_of_a_column_whatever_the_question_is_near_to() -> None:
    assert described(ROUTE, room(None)).text == GOLDEN
    other = replace(ROUTE, tables=(CUSTOMER.key, SALE.key))
    assert described(other, room(None)).text == GOLDEN


def many(size: int) -> Snapshot:
    wide = tuple(Column(f"column_{number}", "text", description="what it is " * 9) for number in range(8))
    tables = tuple(Table("public", f"t{number:04}", TableKind.TABLE, wide) for number in range(size))
    return Snapshot("many", ("public",), tables)


def test_a_schema_without_room_is_a_constant_list_and_the_likeliest_in_full_behind_it() -> None:
    snapshot = many(1_000)
    keys = [table.key for table in snapshot.tables]
    route = replace(ROUTE, snapshot=snapshot, tables=(keys[700], keys[3]), told=(), contents=())
    one = described(route, room(None) * 2)
    two = described(replace(route, tables=(keys[9],)), room(None) * 2)
    begun = one.text.index("The likeliest of them in full:")
    assert one.text[:begun] == two.text[:begun]
    assert begun / max(len(one.text), len(two.text)) >= 0.9
    assert "\nt0999(column_0, column_1, " in one.text
    assert {keys[700], keys[3]} <= one.full
    assert keys[700] not in two.full
    assert one.shown is snapshot
    assert len(one.text) <= room(None) * 2


def test_where_not_even_the_list_has_room_the_names_stand_before_the_likeliest() -> None:
    snapshot = many(1_000)
    route = replace(ROUTE, snapshot=snapshot, tables=(snapshot.tables[700].key,), told=(), contents=())
    found = described(route, 9_000)
    assert found.text.startswith("All tables: t0000, t0001, ")
    assert "\ntable t0700\n" in found.text
    assert {table.key for table in found.shown.tables} == found.full
    assert len(found.text) <= 9_100
    assert snapshot.tables[0].key in found.left or snapshot.tables[0].key in found.full


def test_values_that_stand_in_the_schema_are_not_told_again() -> None:
    links = (
        ValueLink("open", column("state"), ("open",), 1.0, Relation.EQUALS),
        ValueLink("graz", column("city"), ("Graz",), 0.97, Relation.EQUALS),
    )
    route = replace(ROUTE, values=links)
    state = asked("open sales in graz", route)
    server = Server(16, "Europe/Vienna")
    prompt = Writer((server,), (described(route, room(None)),)).prompt(state, None)
    known = prompt.user.partition(GOLDEN)[2]
    assert "sale.state = 'open'" not in known
    assert "sale.city = 'Graz'" in known
    assert prompt.user.startswith(
        "### Schema\nPostgreSQL 16, time zone of the session: Europe/Vienna\ntable "
    )


def test_two_questions_begin_alike() -> None:
    states = [asked(question, ROUTE) for question in ("open sales in May 2026", "who buys most?")]
    writer = Writer((Server(16),), (described(ROUTE, room(None)),))
    one, two = (writer.prompt(state, None) for state in states)
    assert one.system == two.system
    assert one.user.partition("### Question")[0] == two.user.partition("### Question")[0]
    assert "2026-05" not in one.user.partition("### Today")[2].partition("### Question")[0]
