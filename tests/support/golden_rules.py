"""The golden pairs of the rules over SQL, and the schemas that they are written for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.core.candidate import RuleKind
from engine.core.elements import ColumnContent, Relation, ValueLink, ValueList
from engine.linking.dimensions import linked_dimensions
from engine.linking.element_text import compared, element_words
from engine.linking.mentions import mentioned_tables
from engine.linking.spans import entities
from engine.rewrite.rule import Context, Rule, Statement
from engine.rewrite.rules import RULES
from engine.sql.tree import parsed
from engine.text.tokens import identifier_words
from schema_catalog.types import Column, ColumnKey, ForeignKey, Snapshot, Table, TableKind
from tests.support.schemas import MUSIC, table

GOLDEN = Path(__file__).parents[1] / "golden" / "rewrite"

BY_NAME: Mapping[str, Rule] = {rule.name: rule for rule in RULES}

UNCHANGED = "unchanged"

_HEADER = re.compile(
    r"^-- (question|values|schema|secured|stored|missing|linked|lists|days|cased|today|rules): (.+)$"
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


def _of(schema: str, name: str, columns: str, *references: tuple[str, str, str, str]) -> Table:
    """`columns`: the first one is the primary key; `references`: (column, schema, table, column)."""
    keys = tuple(ForeignKey((c,), to, t, (r,)) for c, to, t, r in references)
    return replace(table(name, columns), schema=schema, foreign_keys=keys)


def _described(given: Table, **descriptions: str) -> Table:
    columns = tuple(replace(each, description=descriptions.get(each.name)) for each in given.columns)
    return replace(given, columns=columns)


def _typed(given: Table, **types: str) -> Table:
    columns = tuple(replace(each, type=types.get(each.name, each.type)) for each in given.columns)
    return replace(given, columns=columns)


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
    "words": replace(
        MUSIC,
        tables=tuple(
            replace(each, synonyms=("arena",)) if each.name == "stadium" else each for each in MUSIC.tables
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
    "reports": Snapshot(
        "reports",
        ("public",),
        (_typed(_of("public", "report", "report_id device payload due"), payload="jsonb"),),
    ),
    "camel": Snapshot(
        "camel",
        ("public",),
        (
            _typed(_of("public", "Loan", "loanId memberId to Code code"), memberId="integer"),
            _typed(_of("public", "Member", "memberId isActive"), memberId="integer", isActive="boolean"),
        ),
    ),
    "clinics": Snapshot(
        "clinics",
        ("public",),
        tuple(
            table
            for schema in ("north", "south")
            for table in (
                _of(schema, "patient", "patient_id name"),
                _typed(
                    _of(
                        schema,
                        "visit",
                        "visit_id patient_id fee",
                        ("patient_id", schema, "patient", "patient_id"),
                    ),
                    fee="integer",
                ),
            )
        ),
    ),
    "islands": Snapshot(
        "islands",
        ("public",),
        (
            _of("public", "vendor", "vendor_id name"),
            _of(
                "public",
                "model_line",
                "line_id vendor_id model",
                ("vendor_id", "public", "vendor", "vendor_id"),
            ),
            _of("public", "sale", "sale_id model price"),
        ),
    ),
    "terse": Snapshot(
        "terse",
        ("public",),
        (
            _of("public", "dpt", "dpt_id dpt_nm"),
            _typed(
                _of("public", "pay", "pay_id dpt_id amt pd_on bkd_at", ("dpt_id", "public", "dpt", "dpt_id")),
                amt="integer",
                pd_on="date",
                bkd_at="timestamp without time zone",
            ),
        ),
    ),
    "codes": Snapshot(
        "codes",
        ("public",),
        (
            _of("public", "dpt", "dpt_cd dpt_nm"),
            _described(
                _typed(
                    _of("public", "pay", "pay_id dpt_cd amt payee", ("dpt_cd", "public", "dpt", "dpt_cd")),
                    amt="integer",
                ),
                dpt_cd="who pays: S sales, W warehouse",
            ),
        ),
    ),
    "trade": Snapshot(
        "trade",
        ("public",),
        (
            _of("public", "customer", "customer_id name"),
            _typed(
                _of(
                    "public",
                    "item",
                    "item_id order_id quantity",
                    ("order_id", "public", "orders", "order_id"),
                ),
                quantity="integer",
            ),
            _described(
                _typed(
                    _of(
                        "public",
                        "orders",
                        "order_id customer_id status state total ordered_at",
                        ("customer_id", "public", "customer", "customer_id"),
                    ),
                    status="integer",
                    total="integer",
                    ordered_at="timestamp without time zone",
                ),
                status="10 new, 20 paid, 30 invoiced",
                state="N = new, P = paid",
            ),
            _typed(
                _of(
                    "public",
                    "payment",
                    "payment_id order_id amount",
                    ("order_id", "public", "orders", "order_id"),
                ),
                amount="integer",
            ),
        ),
    ),
    "flags": Snapshot(
        "flags",
        ("public",),
        (
            _of("public", "club", "club_id title"),
            _typed(
                _of(
                    "public",
                    "member",
                    "member_id name age club_id is_active isofficial retired",
                    ("club_id", "public", "club", "club_id"),
                ),
                age="integer",
                is_active="boolean",
                retired="boolean",
            ),
        ),
    ),
    "several": Snapshot(
        "several",
        ("public",),
        (
            _typed(_of("public", "person", "person_id name employed"), employed="daterange"),
            _typed(_of("public", "article", "article_id title tags"), tags="text[]"),
        ),
    ),
    "gone": Snapshot(
        "gone",
        ("public",),
        (
            _of("public", "client", "client_id name"),
            _described(
                _typed(
                    _of(
                        "public",
                        "bill",
                        "bill_id client_id net trial deleted_at",
                        ("client_id", "public", "client", "client_id"),
                    ),
                    net="integer",
                    trial="boolean",
                    deleted_at="timestamp without time zone",
                ),
                trial="made by us; such bills do not count",
            ),
        ),
    ),
    "shop": Snapshot(
        "shop",
        ("public",),
        (
            _of("archive", "orders", "id total closed", ("id", "public", "clients", "id")),
            _of("archive", "refunds", "id order_id", ("order_id", "archive", "orders", "id")),
            _of("public", "clients", "id email"),
            _of("public", "orders", "id total client_id", ("client_id", "public", "clients", "id")),
            _of("public", "payments", "id order_id", ("order_id", "public", "orders", "id")),
        ),
    ),
}


@dataclass(frozen=True, slots=True)
class Pair:
    """A statement, and what a rule makes of it; None where it changes nothing.

    `values`, `lists`, `missing`: "table.column = value, value; …". `stored`: "table.column / text = value; …".
    `linked`: "table.column probability; …", with `*` a table. `days`: "table.column = form". `cased`: as `stored`, the
    value is what the column may hold.
    """

    rule: Rule
    before: str
    after: str | None
    schema: str = "music"
    question: str = ""
    values: str = ""
    secured: str = ""
    stored: str = ""
    missing: str = ""
    linked: str = ""
    lists: str = ""
    days: str = ""
    cased: str = ""
    today: str = "2021-01-06"

    @property
    def snapshot(self) -> Snapshot:
        """The catalog that the pair is written for."""
        return SCHEMAS[self.schema]

    @property
    def context(self) -> Context:
        """What the rule may look at; the mentioned tables are the question's."""
        return Context(
            self.snapshot,
            self.question,
            _links(self.values),
            mentioned_tables(self.question, self.snapshot),
            frozenset(("public", name) for name in self.secured.split()),
            _stored(self.stored),
            frozenset(_stored(self.cased)),
            frozenset((each.column, text) for each in _links(self.missing) for text in each.values),
            _chances(self.linked),
            linked_dimensions(
                self.question, compared(entities(self.question), element_words(self.snapshot), Words())
            ),
            tuple(ValueList(each.column, each.values) for each in _links(self.lists)),
            tuple(ColumnContent(each.column, (), each.values[0]) for each in _links(self.days)),
            date.fromisoformat(self.today),
        )

    def applied(self, sql: str) -> str | None:
        """What the rule makes of `sql`; None where it changes nothing, and then not the tree it was given either."""
        tree = parsed(sql)
        assert tree is not None, sql
        statement = Statement(tree.copy(), self.snapshot)
        if self.rule.apply(statement, self.context) is None:
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
