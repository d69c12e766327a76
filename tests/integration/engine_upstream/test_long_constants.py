"""Functions and operators over two long constants: refused, or done before a short timeout.

The first are folded into one call that looks for no interrupt, so that a timeout tells of them when they are done.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

import asyncpg
import pytest

from engine.guard import Allowed, allowed, check
from schema_catalog.pg import Connection
from tests.support.long_values import SIZES, Written, values

FUNCTIONS = """
    SELECT proname::text, ARRAY(SELECT format_type(o, NULL) FROM unnest(proargtypes::oid[]) o)
    FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind = 'f' AND NOT proretset
      AND proname = ANY ($1) AND pronargs > 0 ORDER BY 1, 2
"""
OPERATORS = """
    SELECT oprname::text, ARRAY[format_type(oprleft, NULL), format_type(oprright, NULL)]
    FROM pg_operator WHERE oprnamespace = 'pg_catalog'::regnamespace AND oprname = ANY ($1) AND oprleft <> 0
    ORDER BY 1, 2
"""
INTERRUPTED = re.compile(r"(regexp_\w+|substring|!?~\*?|ts_headline|jsonb_path_\w+|@[?@]) |(@>|<@) polygon")
"""Those that look for interrupts, with their first type: a timeout ends them, whatever they were given."""


@dataclass(frozen=True, slots=True)
class Call:
    """A function or an operator with the types of its arguments."""

    name: str
    types: tuple[str, ...]
    operator: bool

    @property
    def interrupted(self) -> bool:
        """Whether a timeout ends it in time."""
        return INTERRUPTED.match(f"{self.name} {self.types[0]}") is not None

    def of(self, arguments: list[str]) -> str:
        """The expression."""
        if self.operator:
            return f"{arguments[0]} {self.name} {arguments[1]}"
        return f"pg_catalog.{self.name}({', '.join(arguments)})"

    def choices(self) -> list[tuple[Written, ...]]:
        """Every way to fill the arguments; none where one of them cannot be long."""
        return list(itertools.product(*map(values, self.types)))


async def calls(admin: Connection) -> list[Call]:
    """All that are allowed and can be given something long."""
    functions = await admin.fetch(FUNCTIONS, sorted(allowed.FUNCTIONS))
    operators = await admin.fetch(OPERATORS, sorted(allowed.OPERATORS))
    found = [Call(name, tuple(types), operator=False) for name, types in functions]
    found += [Call(name, tuple(types), operator=True) for name, types in operators]
    return [call for call in found if call.choices()]


def longest(call: Call, chosen: tuple[Written, ...]) -> str | None:
    """The statement with the longest arguments that the guard lets pass; None where it lets none pass."""
    statements = (f"SELECT {call.of([written(size) for written in chosen])}" for size in SIZES)
    return next((sql for sql in statements if isinstance(check(sql), Allowed)), None)


async def too_long(admin: Connection, statements: Iterator[str]) -> list[str]:
    """The statements that a timeout of five seconds ends; what a server refuses is none."""
    found = []
    await admin.execute("SET statement_timeout = '5s'")
    for sql in statements:
        try:
            await admin.execute(f"SELECT count(z) FROM ({sql} AS z) AS s")
        except asyncpg.QueryCanceledError:
            found.append(sql[:200])
        except asyncpg.PostgresError:
            continue
    return found


async def test_functions_of_two_texts_are_quick_or_refused(admin: Connection) -> None:
    texts = {"text", "character varying", "character", "bytea"}
    chosen = [
        call
        for call in await calls(admin)
        if len(texts & set(call.types)) and sum(kind in texts for kind in call.types) > 1
        if not call.interrupted
    ]
    names = {call.name for call in chosen}
    assert {
        "btrim",
        "ltrim",
        "rtrim",
        "translate",
        "strpos",
        "replace",
        "split_part",
        "~~",
        "string_to_array",
    } <= names
    draw = random.Random(48)  # noqa: S311 - which cases are tried is no secret
    statements = [
        sql
        for call in chosen
        for some in draw.sample(call.choices(), min(6, len(call.choices())))
        if (sql := longest(call, some)) is not None
    ]
    assert len(statements) > 150
    assert await too_long(admin, iter(statements)) == []


@pytest.mark.slow
@pytest.mark.timeout(1800)
async def test_everything_that_is_allowed_is_quick_or_refused(admin: Connection) -> None:
    draw = random.Random(48)  # noqa: S311 - which cases are tried is no secret
    for call in await calls(admin):
        if call.interrupted:
            continue
        choices = call.choices()
        chosen = draw.sample(choices, min(60, len(choices)))
        statements = [sql for some in chosen if (sql := longest(call, some)) is not None]
        assert await too_long(admin, iter(statements)) == [], call


async def test_many_calls_at_the_limit_are_refused_together(admin: Connection) -> None:
    one = "length(translate(lpad('', 3000, 'a'), lpad('', 3000, 'b'), ''))"
    assert isinstance(check(f"SELECT {one}"), Allowed)
    assert not isinstance(check(f"SELECT {one}, {one}"), Allowed)
    assert await too_long(admin, iter([f"SELECT {one}"])) == []
