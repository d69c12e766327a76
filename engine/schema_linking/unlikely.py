"""What a question surely does not mean, by the schema linker: names that no statement needs to be offered."""

from __future__ import annotations

from collections.abc import Iterable

from engine.core.elements import WHOLE_TABLE, SchemaLinks
from schema_catalog.types import ColumnKey, Snapshot

LEAST = 0.001
"""Names that are less probable go. Of questions on databases that the packaged linker was not trained on, 99 % (400 of
`Part.PROBES`, by which it was chosen) and 98 % (400 of `Part.CALIBRATION`) keep all that their statements read; a
fourth and a third of the names go."""

DOUBTFUL = 0.1
"""Names that are less probable go from one more statement, where the first reads one and leaves a linked one. It does
so in 28 of 420 questions of Spider's training part and open development half, among them 8 of the 32 whose set held
nothing right."""


def unlikely(
    links: SchemaLinks | None, snapshot: Snapshot, wanted: Iterable[ColumnKey], least: float = LEAST
) -> frozenset[ColumnKey]:
    """Elements of `snapshot` that are less probable than `least`; none where the linker was not asked.

    Kept are those `wanted` with their tables, and the keys of tables that are kept, since joins need them.
    """
    if links is None:
        return frozenset()
    kept = {element for element, chance in links.probabilities.items() if chance >= least} | set(wanted)
    tables = {element[:2] for element in kept}
    gone: set[ColumnKey] = set()
    for table in snapshot.tables:
        if table.key not in tables:
            gone.add((*table.key, WHOLE_TABLE))
            continue
        keys = {*table.primary_key, *(name for key in table.foreign_keys for name in key.columns)}
        names = {column.name for column in table.columns} - keys
        gone.update((*table.key, name) for name in names if (*table.key, name) not in kept)
    return frozenset(gone) if tables else frozenset()
