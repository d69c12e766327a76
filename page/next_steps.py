"""What waits for a decision, over all databases, read through the views of `nl_catalog`.

Owns the order of the kinds and their words. What questions miss is `schema_catalog.gaps`'s.
"""

from __future__ import annotations

from dataclasses import dataclass

from schema_catalog.pg import Connection

MOST = 6
"""Steps that are shown."""


@dataclass(frozen=True, slots=True)
class Step:
    """So many of a kind wait in a database.

    `address`: where they are seen to; `place`: what stands there behind `#`.
    """

    database: str
    count: int
    words: str
    address: str
    place: str = ""


_KINDS = {
    "refused": ("definition that is refused", "definitions that are refused", "/health", "refused"),
    "rename": ("rename to decide on", "renames to decide on", "/drift", ""),
    "suggestion": ("suggestion of the model", "suggestions of the model", "/suggestions", ""),
    "learned": ("thing that a user taught", "things that users taught", "/learned", ""),
    "table": ("table without a description", "tables without a description", "/health", "lacking-1"),
}
"""Kind, as the query below says it, to: one of it, several, where they are seen to. The first costs most."""

_WAITING = """
    SELECT 'refused' AS kind, database, count(*) AS n
    FROM (SELECT database, state FROM nl_catalog.terms UNION ALL SELECT database, state FROM nl_catalog.verified_queries
          UNION ALL SELECT database, state FROM nl_catalog.joins) AS d
    WHERE state = 'refused' GROUP BY 2
    UNION ALL
    SELECT 'rename', database, count(*) FROM nl_catalog.drift WHERE state = 'proposed' GROUP BY 2
    UNION ALL
    SELECT 'suggestion', database, count(*) FROM nl_catalog.suggestions WHERE state = 'proposed' GROUP BY 2
    UNION ALL
    SELECT 'learned', database, count(*) FROM nl_catalog.learned
    WHERE approved_at IS NULL AND kind <> 'rejected' GROUP BY 2
    UNION ALL
    SELECT 'table', database, count(*) FROM nl_catalog.tables WHERE description IS NULL AND NOT hidden GROUP BY 2
"""


async def next_steps(connection: Connection) -> tuple[Step, ...]:
    """The first of what waits, in the order of the kinds."""
    order = list(_KINDS)
    rows = sorted(
        await connection.fetch(_WAITING),
        key=lambda row: (order.index(row["kind"]), -row["n"], row["database"]),
    )
    steps = []
    for kind, database, count in rows[:MOST]:
        one, several, address, place = _KINDS[kind]
        steps.append(Step(database, count, one if count == 1 else several, address, place))
    return tuple(steps)
