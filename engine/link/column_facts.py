"""What a prompt may say of a column's kept values: all of a few, the commonest of many, or a range.

Only values that repeat are told: what stands in one row each is no word that questions are asked with, and is more
often somebody's. Of personal data nothing is told unless a DBA allowed that for the column.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from engine.link.contents import JSON_TYPES
from engine.link.value_reader import RANGED
from engine.values.elements import WHOLE_NUMBERS, ColumnFacts
from schema_catalog.personal import personal_columns, personal_value
from schema_catalog.types import Column, ColumnKey, Snapshot, TableKey, once_per_snapshot
from schema_catalog.values import ColumnValues

LISTED, LONGEST = 16, 40
"""Values of a column that are all told, at most, and characters of each: a longer one is not."""

EXAMPLES = 3
"""Values of others that are told."""

AGAIN = 2
"""Rows that a value has on average, at least, where a column's values repeat."""


def beginning(kept: ColumnValues) -> ColumnValues:
    """As much of what is kept as is told of it, with what it takes to know whether it repeats."""
    often = sum(kept.counts) >= AGAIN * max(1, len(kept.counts))
    shown = kept.values[: LISTED + 1]
    return replace(
        kept,
        values=shown,
        counts=(AGAIN if often else 1,) * len(shown),
        more=kept.more or len(kept.values) > LISTED,
    )


def column_facts(
    kept: Iterable[ColumnValues], visible: Collection[ColumnKey], snapshot: Snapshot
) -> tuple[ColumnFacts, ...]:
    """Of each column of `kept`, as `beginning` has it, that is in `visible`. Reads the whole schema: in a thread."""
    columns = {(*table.key, column.name): column for table, column in snapshot.columns()}
    by_name, short = personal_columns(snapshot), _explaining(snapshot)
    found = []
    for each in kept:
        if each.key not in visible or each.key not in columns:
            continue
        personal = None if each.personal_allowed else by_name.get(each.key) or each.personal
        if personal is not None:
            found.append(ColumnFacts(each.key, personal=personal))
        else:
            found.append(_facts(each, columns[each.key], unique_too=each.key[:2] in short))
    return tuple(found)


def _facts(kept: ColumnValues, column: Column, *, unique_too: bool) -> ColumnFacts:
    ranged = column.type.startswith(RANGED)
    least, greatest = (kept.least, kept.greatest) if ranged else (None, None)
    repeats = bool(kept.counts) and kept.counts[0] >= AGAIN
    few = not kept.more and len(kept.values) <= LISTED
    told = [
        value
        for value in kept.values
        if len(value) <= LONGEST and (kept.personal_allowed or personal_value(value) is None)
    ]
    if column.type in JSON_TYPES or column.type == "boolean" or column.labels:
        return ColumnFacts(kept.key)
    if not (repeats or (unique_too and few)) or (
        ranged and not (few and column.type.startswith(WHOLE_NUMBERS))
    ):
        return ColumnFacts(kept.key, least=least, greatest=greatest)
    if few and len(told) == len(kept.values):
        return ColumnFacts(kept.key, tuple(told), whole=True)
    return ColumnFacts(kept.key, tuple(told[:EXAMPLES]), least=least, greatest=greatest)


@once_per_snapshot
def _explaining(snapshot: Snapshot) -> frozenset[TableKey]:
    """Small tables that others refer to: what stands in them once is said by many rows."""
    referred = {(key.ref_schema, key.ref_table) for table in snapshot.tables for key in table.foreign_keys}
    return frozenset(
        table.key
        for table in snapshot.tables
        if table.key in referred and table.row_estimate is not None and table.row_estimate <= LISTED
    )
