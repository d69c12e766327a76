"""The golden pairs of the rules over SQL, and the schemas that they are written for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.findings.lint import Context, Lint
from engine.findings.rules import RULES
from engine.link.element_text import compared, element_words
from engine.question.question import Question
from engine.statement.read import Draft
from engine.statement.tree import parsed
from engine.values.candidate import RuleKind
from engine.values.elements import ColumnContent, Relation, ValueLink, linked_dimensions
from schema_catalog.types import Column, ColumnKey, ForeignKey, Snapshot, Table, TableKind
from schema_catalog.words import identifier_words
from tests.support.schemas import MUSIC, table

GOLDEN = Path(__file__).parents[1] / "golden" / "rewrite"

BY_NAME: Mapping[str, Lint] = {rule.name: rule for rule in RULES}

UNCHANGED = "unchanged"

_HEADER = re.compile(
    r"^-- (question|values|schema|secured|stored|missing|linked|days|cased|today|newest|rules): (.+)$"
)


def _enforced(snapshot: Snapshot, *, required: bool) -> Snapshot:
    """`snapshot` with foreign keys that hold at every moment, over columns that are NULL only where not `required`."""
    return replace(snapshot, tables=tuple(_with_keys(each, required=required) for each in snapshot.tables))


def _with_keys(table: Table, *, required: bool) -> Table:
    referring = {name for key in table.foreign_keys for name in key.columns}
    return replace(
        table,
        columns=tuple(replace(c, nullable=not (required and c.name in referring)) for c in table.columns),
        foreign_keys=tuple(replace(key, enforced=True) for key in table.foreign_keys),
    )


_TABLES = """
reports
report: report_id | device | payload jsonb | due

camel
Loan: loanId | memberId integer | to | Code | code
Member: memberId integer | isActive boolean

clinics
north.patient: patient_id | name
north.visit: visit_id | patient_id -> north.patient.patient_id | fee integer
south.patient: patient_id | name
south.visit: visit_id | patient_id -> south.patient.patient_id | fee integer

islands
vendor: vendor_id | name
model_line: line_id | vendor_id -> vendor.vendor_id | model
sale: sale_id | model | price

called
league: league_id | name
person: person_id | given | league_id -> league.league_id

terse
dpt: dpt_id | dpt_nm
pay: pay_id | dpt_id -> dpt.dpt_id | amt integer | pd_on date | bkd_at timestamp without time zone

plant
log: log_id | taken_at timestamp without time zone | p01 numeric -- oil pressure at the bearing, bar | p02 numeric\
 | p03 numeric -- oil temperature of the tank, degrees | tag

codes
dpt: dpt_cd | dpt_nm
pay: pay_id | dpt_cd -> dpt.dpt_cd -- who pays: S sales, W warehouse | amt integer | payee

trade
customer: customer_id | name
item: item_id | order_id -> orders.order_id | quantity integer
orders: order_id | customer_id -> customer.customer_id | status integer -- 10 new, 20 paid, 30 invoiced\
 | state -- N = new, P = paid | total integer | ordered_at timestamp without time zone
payment: payment_id | order_id -> orders.order_id | amount integer

flags
club: club_id | title
member: member_id | name | age integer | club_id -> club.club_id | is_active boolean | isofficial | retired boolean

several
person: person_id | name | employed daterange
article: article_id | title | tags text[]

people
staff: staff_id | boss_id -> staff.staff_id | first_name | last_name | paid_net integer | paid_tax integer

shop
archive.orders: id -> clients.id | total | closed
archive.refunds: id | order_id -> archive.orders.id
clients: id | email
orders: id | total | client_id -> clients.id
payments: id | order_id -> orders.id
"""
"""Schemas by name, a table a line: `column type -> what it refers to -- description | …`, the first one the key."""

_COLUMN = re.compile(r"(?P<name>\w+)(?: (?P<type>[^-]+?))?(?: -> (?P<to>\S+))?(?: -- (?P<description>.+))?")


def _written(text: str) -> Iterator[tuple[str, Snapshot]]:
    for block in text.strip().split("\n\n"):
        name, *lines = block.splitlines()
        yield name, Snapshot(name, ("public",), tuple(map(_table, lines)))


def _table(line: str) -> Table:
    name, _, columns = line.partition(": ")
    *schema, name = name.split(".")
    found = [each.groupdict() for each in map(_COLUMN.fullmatch, columns.split(" | ")) if each]
    assert len(found) == columns.count(" | ") + 1, line
    made = table(name, " ".join(each["name"] for each in found))
    keys = [
        ForeignKey(
            (each["name"],), *(["public", *each["to"].split(".")][-3:-1]), (each["to"].split(".")[-1],)
        )
        for each in found
        if each["to"]
    ]
    return replace(
        made,
        schema=schema[0] if schema else "public",
        columns=tuple(
            replace(column, type=each["type"] or column.type, description=each["description"])
            for column, each in zip(made.columns, found, strict=True)
        ),
        foreign_keys=tuple(keys),
    )


SCHEMAS: Mapping[str, Snapshot] = {
    "music": MUSIC,
    "required": _enforced(MUSIC, required=True),
    "optional": _enforced(MUSIC, required=False),
    "keyless": replace(
        MUSIC, tables=tuple(replace(each, foreign_keys=(), primary_key=()) for each in MUSIC.tables)
    ),
    "view": replace(
        MUSIC,
        tables=tuple(
            replace(each, kind=TableKind.VIEW) if each.name == "singer" else each for each in MUSIC.tables
        ),
    ),
    "tour": replace(
        MUSIC,
        tables=(*MUSIC.tables, table("tour", "tour_id stadium_id", ("stadium_id", "stadium", "stadium_id"))),
    ),
    "tickets": Snapshot(
        "tickets",
        ("public",),
        (
            replace(
                table("ticket", "ticket_id title"),
                columns=(
                    Column("ticket_id", "integer"),
                    Column("title", "text"),
                    Column("state", "ticket_state", labels=("NEW", "IN_PROGRESS", "CLOSED")),
                ),
            ),
        ),
    ),
    "league": Snapshot(
        "league",
        ("public",),
        (
            replace(
                table("game", "game_id home_id season"),
                columns=tuple(
                    Column(each, "integer", nullable=False) for each in ("game_id", "home_id", "season")
                ),
                foreign_keys=(ForeignKey(("home_id", "season"), "public", "team", ("team_id", "season")),),
            ),
            replace(
                table("team", "team_id season name"),
                columns=(
                    *(Column(each, "integer", nullable=False) for each in ("team_id", "season")),
                    Column("name", "text"),
                ),
                primary_key=("team_id", "season"),
            ),
        ),
    ),
    **dict(_written(_TABLES)),
}


@dataclass(frozen=True, slots=True)
class Pair:
    """A statement, and what a rule makes of it; None where it changes nothing.

    `values`, `missing`: "table.column = value, value; …". `stored`: "table.column / text = value; …".
    `linked`: "table.column probability; …", with `*` a table. `days`: "table.column = form". `cased`: as `stored`, the
    value is what the column may hold. `newest`: "table.column = day".
    """

    rule: Lint
    before: str
    after: str | None
    schema: str = "music"
    question: str = ""
    values: str = ""
    secured: str = ""
    stored: str = ""
    missing: str = ""
    linked: str = ""
    days: str = ""
    cased: str = ""
    today: str = "2021-01-06"
    newest: str = ""

    @property
    def snapshot(self) -> Snapshot:
        """The catalog that the pair is written for."""
        return SCHEMAS[self.schema]

    @property
    def asked(self) -> Question:
        """The question, on its day."""
        return Question(self.question, date.fromisoformat(self.today))

    @property
    def context(self) -> Context:
        """What the rule may look at."""
        return Context(
            self.snapshot,
            self.asked,
            _links(self.values),
            frozenset(("public", name) for name in self.secured.split()),
            _stored(self.stored),
            frozenset(_stored(self.cased)),
            frozenset((each.column, text) for each in _links(self.missing) for text in each.values),
            _chances(self.linked),
            linked_dimensions(
                self.asked.dimensions, compared(self.asked.entities, element_words(self.snapshot), Words())
            ),
            (),
            tuple(ColumnContent(each.column, (), each.values[0]) for each in _links(self.days)),
            newest={each.column: date.fromisoformat(each.values[0]) for each in _links(self.newest)},
        )

    def applied(self, sql: str) -> str | None:
        """What the rule makes of `sql`; None where it changes nothing, and then not the tree it was given either."""
        tree = parsed(sql)
        assert tree is not None, sql
        statement = Draft(tree.copy(), self.snapshot)
        assert self.rule.fix is not None
        if self.rule.fix(statement, self.context) is None:
            assert statement.tree == tree, f"{self.rule.name} changed what it said to leave: {sql}"
            return None
        return statement.sql


def pairs(kind: RuleKind | None = None) -> list[Pair]:
    """Every pair of the rules of one kind, or of all."""
    found = [pair for path in sorted(GOLDEN.glob("*.sql")) for pair in _read(path)]
    return [pair for pair in found if kind in (None, pair.rule.kind)]


def _read(path: Path) -> list[Pair]:
    blocks = re.split(r"\n{2,}", path.read_text("utf-8").strip())[1:]
    return [pair for block in blocks for pair in _pairs(block, path.stem)]


def _pairs(block: str, name: str) -> list[Pair]:
    """The pair that a block holds, once for each of its rules: that of the file's name where it says none."""
    given = dict(match.groups() for line in block.splitlines() if (match := _HEADER.match(line)))
    rules = given.pop("rules", name).split(", ")
    lines = [line for line in block.splitlines() if not line.startswith("--")]
    before, after = " ".join(lines).split(" => ")
    return [Pair(BY_NAME[rule], before, None if after == UNCHANGED else after, **given) for rule in rules]


class Words:
    """An encoder to which texts are as near as they share words, in singular or plural."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        words = [identifier_words(text) for text in texts]
        known = sorted({word for each in words for word in each})
        counts = np.array([[each.count(word) for word in known] for each in words], dtype=np.float32)
        unit: NDArray[np.float32] = counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-6)
        return unit


def _links(text: str) -> tuple[ValueLink, ...]:
    made = []
    for part in filter(None, text.split("; ")):
        column, values = part.split(" = ")
        table, name = column.split(".")
        stored = tuple(values.split(", "))
        made.append(ValueLink(stored[0].lower(), ("public", table, name), stored, 1.0, Relation.EQUALS))
    return tuple(made)


def _stored(text: str) -> dict[tuple[ColumnKey, str], str]:
    found = {}
    for part in filter(None, text.split("; ")):
        place, value = part.split(" = ")
        column, literal = place.split(" / ")
        table, name = column.split(".")
        found[("public", table, name), literal] = value
    return found


def _chances(text: str) -> dict[ColumnKey, float]:
    found = ((element.split("."), chance) for element, chance in _words(text))
    return {("public", table, name): float(chance) for (table, name), chance in found}


def _words(text: str) -> list[list[str]]:
    return [part.split() for part in text.split("; ") if part]
