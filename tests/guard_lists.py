"""The guard's golden lists, read; and the rules of the server that their statements are about."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from engine.guard import Reason, Rules

GOLDEN = Path(__file__).parent / "golden" / "guard"

SHOP = Rules(
    database="shop",
    types=frozenset(
        {
            ("public", "mood"),
            ("public", "email"),
            ("public", "postal"),
            ("public", "priceband"),
            ("sales", "stage"),
        }
    ),
    relations=frozenset({("public", "pg_accounts"), ("web", "pg_visits")}),
    callable_fields=frozenset({"pg_read_file", "lo_get", "nextval"}),
)
"""What a server says of schema.sql; its list of callable fields is much longer."""

STILL_REFUSED = {
    "information_schema.tables": "the schema is the catalog's to tell: these views show what it hides",
    "information_schema.columns": "the same",
    "FROM pg_class c WHERE": "the same, and sizes of tables are those of others as well",
    "repeat('#', count(*)::int)": "how long a line becomes is not bounded: least(count(*), 100) would do",
    "repeat('  ', level - 1)": "the same",
    "lpad('', level * 2)": "the same",
    "crosstab": "runs a text as SQL",
    "levenshtein": "of an extension that no setting allows",
    "similarity": "of an extension that no setting allows",
}
"""What marks an honest statement that does not pass, and why it does not."""


def blocks(name: str) -> list[str]:
    """The statements of a list, with the comments that head them."""
    return [block.strip() for block in re.split(r"\n{2,}", (GOLDEN / name).read_text("utf-8"))[1:]]


@dataclass(frozen=True, slots=True)
class Attack:
    """A statement of refused.sql: why it must be refused, what the refusal names, on a server of which version."""

    reason: Reason
    named: str
    version: int
    sql: str


def attacks() -> list[Attack]:
    """refused.sql."""
    found = []
    for block in blocks("refused.sql"):
        header, sql = block.split("\n", 1)
        parts = re.fullmatch(r"-- ([a-z ]+):(.*?)(?: @(\d+))?", header)
        assert parts is not None, header
        found.append(Attack(Reason(parts[1]), parts[2].strip(), int(parts[3] or 18), sql))
    return found
