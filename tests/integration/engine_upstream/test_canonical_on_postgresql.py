"""Golden pairs of the normal form, each also run: what is held to be equal gives equal rows."""

from __future__ import annotations

import re
from pathlib import Path

from engine.statement.canonical import canonical
from schema_catalog.introspect import introspect
from schema_catalog.pg import Connection
from schema_catalog.types import Database

GOLDEN = Path(__file__).parents[2] / "golden" / "canonical"


def pairs(name: str, sign: str) -> list[tuple[str, str]]:
    blocks = re.split(r"\n{2,}", (GOLDEN / name).read_text("utf-8"))[1:]
    return [(first, second) for first, second in (block.strip().split(f"\n{sign}\n") for block in blocks)]


async def rows(admin: Connection, sql: str) -> list[tuple[object, ...]]:
    found = [tuple(map(repr, row.values())) for row in await admin.fetch(sql)]
    return found if re.search(r"ORDER BY (?!.*\))", sql) else sorted(found)


async def test_pairs_that_mean_the_same_are_equal_and_give_the_same(
    admin: Connection, shop: Database
) -> None:
    snapshot = await introspect(admin, shop)
    equal = pairs("equal.sql", "==")
    assert len(equal) >= 15
    for first, second in equal:
        assert canonical(first, snapshot) == canonical(second, snapshot), f"{first}\n{second}"
        assert await rows(admin, first) == await rows(admin, second), first


async def test_pairs_that_differ_are_told_apart(admin: Connection, shop: Database) -> None:
    snapshot = await introspect(admin, shop)
    different = pairs("different.sql", "<>")
    assert len(different) >= 30
    for first, second in different:
        assert canonical(first, snapshot) != canonical(second, snapshot), f"{first}\n{second}"
        one, other = await rows(admin, first), await rows(admin, second)
        if "-- seen" in first:
            assert one != other, first


async def test_whatever_is_equal_gives_the_same_rows(admin: Connection, shop: Database) -> None:
    """Across all golden statements: those whose forms meet are few, and all give the same rows."""
    snapshot = await introspect(admin, shop)
    met: dict[str, list[str]] = {}
    statements = [sql for pair in (*pairs("equal.sql", "=="), *pairs("different.sql", "<>")) for sql in pair]
    for name in ("guard/allowed.sql", "names/resolved.sql"):
        statements += re.split(r"\n{2,}", (GOLDEN.parent / name).read_text("utf-8"))[1:]
    for sql in dict.fromkeys(statements):
        met.setdefault(canonical(sql, snapshot), []).append(sql.strip().strip(";"))
    several = [group for group in met.values() if len(group) > 1]
    assert len(pairs("equal.sql", "==")) <= len(several) <= len(pairs("equal.sql", "==")) + 10
    for group in several:
        results = [await rows(admin, sql) for sql in group]
        assert all(result == results[0] for result in results), group
