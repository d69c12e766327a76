"""What a simulated user means by a question: the result of the known statement, and the columns that it reads.

Owns how that is found out for a question of the benchmark. The statement itself goes no further than this module, so
that neither the user nor the engine ever sees it.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from benchmarks.harness.drawing import Item
from benchmarks.harness.questions import Judge, QuestionSet
from benchmarks.harness.systems import READER, Place
from engine.statement.resolution import resolve
from engine.values.deadline import Deadline
from engine.values.elements import elements_read
from engine.values.messages import Asker
from engine.values.ports import Upstream
from schema_catalog.types import ColumnKey, Snapshot

ROWS, SECONDS = 20_000, 60.0
"""What running a known statement may give and take."""


@dataclass(frozen=True, slots=True)
class Intent:
    """What a user holds who knows the answer and no SQL.

    `headings`, `rows`: the result, values in text format. `ordered`: the rows' order is part of it. `elements`: the
    columns and tables (column `*`) that the answer comes from. `keys`: columns by which the schema's tables are joined.
    `rows_tell`: nothing else that the question may mean gives the same rows.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    ordered: bool
    elements: frozenset[ColumnKey]
    keys: frozenset[ColumnKey] = frozenset()
    rows_tell: bool = True


def reading_of(item: Item, of: QuestionSet, seed: int) -> int:
    """Which of two readings the user of an AmbiQT question means, 1 or 2, by a seeded hash; 1 for other sets."""
    if of.judge is not Judge.AMBIQT:
        return 1
    return 1 + hashlib.sha256(f"{seed}:reading:{item['id']}".encode()).digest()[0] % 2


async def intent(item: Item, reading: int, place: Place, upstream: Upstream) -> Intent:
    """What the user of a question means; raises `StatementError` where its known statement does not run."""
    sql = _known(item, reading)
    deadline = Deadline(time.monotonic() + SECONDS)
    result = await upstream.run(place.database, Asker(READER, ""), sql, ROWS, deadline)
    read = resolve(sql, place.snapshot)
    # Rows that tie under ORDER BY come in any order.
    ordered = bool(item.get("ordered")) and not item.get("tie")
    headings = tuple(name for name, _ in result.columns)
    elements = elements_read(read.columns, read.tables)
    # AmbiQT's two readings have the same data.
    rows_tell = "gold_1" not in item
    return Intent(headings, result.rows, ordered, elements, frozenset(_keys(place.snapshot)), rows_tell)


def _keys(snapshot: Snapshot) -> Iterator[ColumnKey]:
    for table in snapshot.tables:
        yield from ((*table.key, column) for column in table.primary_key)
        for key in table.foreign_keys:
            yield from ((*table.key, column) for column in key.columns)
            yield from ((key.ref_schema, key.ref_table, column) for column in key.ref_columns)


def _known(item: Mapping[str, str], reading: int) -> str:
    return item[f"gold_{reading}"] if "gold_1" in item else item["gold"]
