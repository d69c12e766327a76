"""Random expressions over every kind of built-in type: printed and typed they give the same rows and types."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

import asyncpg
import pytest

from engine.guard import Refused, Rules, check
from engine.guard.server_rules import rules_for
from engine.upstream.access import Access
from engine.upstream.frame import Frame
from engine.values.settings import GuardSettings, UpstreamSettings
from schema_catalog.pg import Connection
from schema_catalog.types import Database, Login

VALUES = {
    "bool": ("true", "false"),
    "int2": ("1", "2"),
    "int4": ("1", "40000"),
    "int8": ("1", "5000000000"),
    "float4": ("0.1", "2"),
    "float8": ("0.1", "1e10"),
    "numeric": ("0.1", "2.50"),
    "money": ("1.00", "2.50"),
    "text": ("x", "a.b"),
    "varchar": ("x", "Y"),
    "char(4)": ("x", "ab"),
    "name": ("x", "y"),
    "bytea": ("\\x01", "x"),
    "bit(3)": ("101", "111"),
    "varbit": ("1", "0101"),
    "date": ("2020-01-01", "2021-02-03"),
    "time": ("10:00", "11:30"),
    "timestamp": ("2020-01-01", "2021-02-03 10:00"),
    "timestamptz": ("2020-01-01 00:00+00", "2021-02-03 10:00+00"),
    "interval": ("1 day", "2 hours"),
    "uuid": ("00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"),
    "json": ('{"a": 1}', "[1]"),
    "jsonb": ('{"a": 1}', "[1]"),
    "inet": ("10.0.0.1", "10.0.0.0/8"),
    "cidr": ("10.0.0.0/8", "10.1.0.0/16"),
    "macaddr": ("01:02:03:04:05:06", "01:02:03:04:05:07"),
    "point": ("(1,2)", "(3,4)"),
    "box": ("(1,2),(0,0)", "(3,4),(1,1)"),
    "tsvector": ("a b", "c"),
    "tsquery": ("a & b", "c"),
    "int4range": ("[1,3)", "[2,5)"),
    "numrange": ("[1,3)", "[2,5)"),
    "daterange": ("[2020-01-01,2020-02-01)", "empty"),
    "int4[]": ("{1,2}", "{3}"),
    "text[]": ("{x,y}", "{NULL}"),
    "numeric[]": ("{0.1}", "{2}"),
    "pair": ("(1,x)", "(,)"),
}
"""Type → two of its values; a third row holds NULL."""

OWN = {
    "citext": ("X", "y"),
    "hstore": ("a=>1", "b=>2"),
    "ltree": ("a.b", "c"),
    "vector": ("[1,2]", "[3,4]"),
}

CONSTANTS = [
    "0",
    "1",
    "2.5",
    "0.1",
    "1e3",
    "-1",
    "NULL",
    "'x'",
    "'1'",
    "'2020-01-01'",
    "'{1,2}'",
    "'a'",
    "true",
]
BINARY = [
    "=",
    "<>",
    "<",
    ">=",
    "+",
    "-",
    "*",
    "/",
    "||",
    "&&",
    "@>",
    "<@",
    "->",
    "->>",
    "?",
    "~~",
    "&",
    "%",
    "<->",
]

TRUSTED = "SET LOCAL search_path = pg_catalog, public"
ELSEWHERE = "SET LOCAL search_path = nowhere, pg_catalog"


class Writer:
    """Writes expressions; `columns`: (name, type)."""

    def __init__(self, seed: int, columns: Sequence[tuple[str, str]]) -> None:
        self._random = random.Random(seed)  # noqa: S311 - no secret
        self._columns = columns

    def statement(self) -> str:
        pick = self._random
        name = pick.choice(self._columns)[0]
        shapes = [
            f"SELECT id, {self.value(3)} AS v FROM kinds",
            f"SELECT id FROM kinds WHERE {self.condition(2)}",
            f"SELECT id, {name} FROM kinds WHERE {self.condition(1)} ORDER BY id LIMIT 2",
            f"SELECT {name} FROM kinds JOIN others USING ({name})",
            f"SELECT {name}, {self.value(1)} FROM kinds LEFT JOIN others USING ({name}) WHERE {self.condition(1)}",
            f"SELECT count(*), min({name}) FROM kinds GROUP BY {self.value(1)}",
        ]
        return pick.choice(shapes)

    def value(self, depth: int) -> str:
        pick = self._random
        if depth == 0 or pick.random() < 0.2:
            return pick.choice([pick.choice(self._columns)[0]] * 2 + [self._constant()])
        a, b = self.value(depth - 1), self.value(depth - 1)
        return pick.choice(
            [
                f"({a} {pick.choice(BINARY)} {b})",
                f"NULLIF({a}, {b})",
                f"COALESCE({a}, {b})",
                f"GREATEST({a}, {b})",
                f"CASE {a} WHEN {b} THEN {self.value(0)} ELSE {self.value(0)} END",
                f"CASE WHEN {self.condition(depth - 1)} THEN {a} ELSE {b} END",
                f"length({a})",
                f"abs({a})",
                f"lower({a})",
                f"({self.condition(depth - 1)})",
            ]
        )

    def condition(self, depth: int) -> str:
        pick = self._random
        a, b, c = (self.value(max(0, depth - 1)) for _ in range(3))
        word = pick.choice(["", "NOT "])
        return pick.choice(
            [
                f"{a} {word}IN ({b}, {c})",
                f"{a} {word}IN ({self._constant()}, {self._constant()}, {b})",
                f"{a} {word}IN ({self._constant()}, {self._constant()})",
                f"{a} {word}IN (SELECT {pick.choice(self._columns)[0]} FROM others)",
                f"{a} {word}BETWEEN {b} AND {c}",
                f"{a} {word}BETWEEN SYMMETRIC {b} AND {c}",
                f"{a} IS {word}DISTINCT FROM {b}",
                f"{a} {word}LIKE {b}",
                f"({a}, {b}) {pick.choice(['=', '<', '<>'])} ({c}, {self._constant()})",
                f"{a} {pick.choice(['=', '<>', '<', '>='])} {b}",
            ]
        )

    def _constant(self) -> str:
        pick = self._random
        if pick.random() < 0.6:
            return pick.choice(CONSTANTS)
        kind = pick.choice(list(VALUES))
        return f"'{pick.choice(VALUES[kind])}'" + (f"::{kind}" if pick.random() < 0.5 else "")


async def rows(connection: Connection, sql: str, settings: str) -> object:
    """Types and rows, or that it fails."""
    transaction = connection.transaction(readonly=True)
    await transaction.start()
    try:
        await connection.execute(settings)
        statement = await connection.prepare(sql)
        columns = [(each.name, each.type.oid) for each in statement.get_attributes()]
        names = [f"c{number}" for number in range(len(columns))]
        shown = ", ".join(f"pg_catalog.format('%s', {name})" for name in names)
        found = await connection.fetch(f"SELECT {shown} FROM ({sql}) AS t ({', '.join(names)})")
    except asyncpg.PostgresError:
        return None
    else:
        return columns, sorted((tuple(row) for row in found), key=repr)
    finally:
        await transaction.rollback()


async def placed(connection: Connection, sql: str, rules: Rules) -> tuple[str, str | None] | None:
    """The texts for the frame and for a session; None where the statement is refused or cannot be planned."""
    verdict = check(sql, rules)
    if isinstance(verdict, Refused):
        return None
    frame = Frame(UpstreamSettings(), time.monotonic)
    access = Access(Database("kinds", "", "shop", ("public",)), "postgres", "postgres", Login("postgres", ""))
    transaction = connection.transaction(readonly=True)
    await transaction.start()
    try:
        await connection.execute("SET LOCAL search_path = pg_catalog, pg_temp")
        framed = await frame.printed(connection, verdict.analysis, access, rules)  # type: ignore[arg-type]
        await connection.execute("SET LOCAL search_path = pg_catalog, pg_temp")
        return framed.text, await frame.placed(connection, verdict.analysis, access, rules)  # type: ignore[arg-type]
    except asyncpg.PostgresError:
        return None
    finally:
        await transaction.rollback()


@pytest.mark.parametrize("extensions", [(), tuple(OWN)], ids=["alone", "beside extensions"])
@pytest.mark.parametrize(
    "count",
    [
        pytest.param(100, marks=pytest.mark.timeout(300)),
        pytest.param(50_000, marks=[pytest.mark.slow, pytest.mark.timeout(14_400)]),
    ],
)
async def test_printed_and_typed_give_the_same(
    admin: Connection, extensions: tuple[str, ...], count: int
) -> None:
    kinds = {**VALUES, **{name: OWN[name] for name in extensions}}
    for name in (*extensions, *(["pg_trgm"] if extensions else [])):
        await admin.execute(f"CREATE EXTENSION {name}")
    columns = [(f"c{number}", kind) for number, kind in enumerate(kinds)]
    made = ", ".join(f"{name} {kind}" for name, kind in columns)
    values = [", ".join(f"'{kinds[kind][row]}'" for _, kind in columns) for row in (0, 1)]
    # The same names over other types, where USING has to find a common one.
    turned = {"int2": "int4", "int4": "int8", "float4": "numeric", "char(4)": "text", "date": "timestamp"}
    others = ", ".join(f"{name} {turned.get(kind, kind)}" for name, kind in columns)
    await admin.execute(
        f"CREATE TYPE pair AS (a int, b text); CREATE TABLE kinds (id int, {made}); CREATE TABLE others ({others});"
        f"INSERT INTO kinds VALUES (1, {values[0]}), (2, {values[1]}); INSERT INTO kinds (id) VALUES (3);"
        f"INSERT INTO others VALUES ({values[0]})"
    )
    rules = await rules_for(admin, GuardSettings())
    tried, in_place, wrong = 0, 0, []
    for seed in range(count * 20):
        sql = Writer(seed, columns).statement()
        wanted = await rows(admin, sql, TRUSTED)
        texts = None if wanted is None else await placed(admin, sql, rules)
        if texts is None:
            continue
        tried += 1
        framed, text = texts
        found = [await rows(admin, framed, TRUSTED)]
        if text is not None:
            in_place += 1
            found.append(await rows(admin, text, ELSEWHERE))
        if any(each != wanted for each in found):
            wrong.append((seed, sql, texts, wanted, found))
        if tried == count:
            break
    assert not wrong, "\n".join(map(str, wrong))
    assert tried == count
    assert in_place > count // 3
