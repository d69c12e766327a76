"""How often a distorted literal of a right statement comes back as the stored value.

Owns the literals of the training questions, and the counts. Without a language model: what it would have written is
played by `distortions`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import asyncpg

from benchmarks.quality.literals.distortions import Distortion, Synonyms, distorted
from benchmarks.quality.routing.collection import read_items, read_views
from engine.core.elements import NearValues
from engine.core.ports import Encoder
from engine.linking.near_values import near_values
from engine.linking.value_reader import LENGTH, VALUES
from engine.understanding.missing_values import compared_literals
from schema_catalog.naming import quote_ident
from schema_catalog.types import ColumnKey

TRAINING = ("spider/train.jsonl", "spider/train_others.jsonl")
SIZES = (10, 100, 1_000, VALUES)


@dataclass(frozen=True, slots=True)
class StoredLiteral:
    """A text that a right statement compares a column with, and all values of the column."""

    database: str
    column: ColumnKey
    text: str
    values: tuple[str, ...]

    @property
    def size(self) -> int:
        """The least of `SIZES` that the column has no more values than."""
        return next(size for size in SIZES if len(self.values) <= size)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came back for one distorted literal: one of `OUTCOMES`.

    Right or wrong, written in the statement's place (sure, and one value) or offered as another statement; unknown;
    and of what was not distorted: unchanged, changed (sure), or offered.
    """

    size: int
    how: Distortion
    outcome: str
    written: str
    stored: str
    found: tuple[str, ...]


async def stored_literals(bench: Path, dsn: str) -> tuple[list[StoredLiteral], int]:
    """The literals that occur in a column of which all values are known, each once; and how many others there are."""
    views = {view.database: view for view, _ in read_views(bench, pool=False)}
    wanted = {
        (item["db"], literal.column, literal.text)
        for name in TRAINING
        for item in read_items(bench / name)
        for literal in compared_literals(item["gold"], views[item["db"]])
        if not literal.pattern
    }
    connection = await asyncpg.connect(dsn, statement_cache_size=0)
    try:
        columns = {key: await _values(connection, *key) for key in sorted({each[:2] for each in wanted})}
    finally:
        await connection.close()
    known = [
        StoredLiteral(database, column, text, values)
        for database, column, text in sorted(wanted)
        if len(values := columns[database, column]) <= VALUES and text in values
    ]
    return known, len(wanted) - len(known)


async def _values(connection: asyncpg.Connection, database: str, column: ColumnKey) -> tuple[str, ...]:
    table, name = f"{quote_ident(database)}.{quote_ident(column[1])}", quote_ident(column[2])
    sql = f"SELECT DISTINCT {name}::text AS v FROM {table} WHERE length({name}::text) BETWEEN 1 AND {LENGTH}"  # noqa: S608  quoted names
    return tuple(row["v"] for row in await connection.fetch(f"{sql} ORDER BY v LIMIT {VALUES + 1}"))


def verdicts(
    literals: Sequence[StoredLiteral], words: Synonyms, encoder: Encoder, seed: int
) -> Iterator[Verdict]:
    """One of each literal and each way to distort it that changes it and gives no other stored value."""
    for literal in literals:
        for how in Distortion:
            written = distorted(literal.text, how, str(seed), words)
            if written is None or (how not in _SAME and written in literal.values):
                continue
            values = literal.values
            if how is Distortion.ABSENT:
                values = tuple(value for value in values if value != literal.text)
            found = near_values(written, values, encoder)
            outcome = _outcome(how, literal.text, found)
            yield Verdict(literal.size, how, outcome, written, literal.text, found.values)


_SAME = (Distortion.NONE, Distortion.ABSENT)


def _outcome(how: Distortion, stored: str, near: NearValues) -> str:
    if not near.values:
        return "unchanged" if how in _SAME else "unknown"
    if how in _SAME:
        return "changed" if near.sure else "offered"
    place = "written" if near.sure and len(near.values) == 1 else "offered"
    return f"right, {place}" if stored in near.values else f"wrong, {place}"


OUTCOMES = (
    "right, written",
    "right, offered",
    "wrong, written",
    "wrong, offered",
    "unknown",
    "unchanged",
    "changed",
    "offered",
)


def table(found: Sequence[Verdict]) -> str:
    """Counts in Markdown, a row for each way to distort and each size of a column."""
    counts: Mapping[tuple[str, int], Counter[str]] = defaultdict(Counter)
    for each in found:
        counts[each.how.value, each.size][each.outcome] += 1
        counts["all distorted" if each.how not in _SAME else each.how.value, 0][each.outcome] += 1
        if each.how not in _SAME:
            counts["all distorted", each.size][each.outcome] += 1
    lines = ["| distortion | values at most | n | " + " | ".join(OUTCOMES) + " |"]
    lines.append("|---" * (len(OUTCOMES) + 3) + "|")
    for (how, size), count in sorted(counts.items()):
        shares = (f"{100 * count[each] / count.total():.1f} %" if count[each] else "" for each in OUTCOMES)
        lines.append(f"| {how} | {size or 'any'} | {count.total()} | " + " | ".join(shares) + " |")
    return "\n".join(lines)
