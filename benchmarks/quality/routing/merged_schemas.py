"""Schemas of the routing benchmark as index entries, and databases merged into a large schema of the pool's."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from pathlib import Path

from benchmarks.quality.routing.collection import read_views
from engine.models.encoder import MiniLMEncoder
from engine.routing.index import SchemaIndexEntry, build
from engine.routing.vectors import VectorCache
from engine.settings import EncoderSettings
from schema_catalog.types import Snapshot

LARGE = 40
"""Tables of a large schema, at least."""


class Schemas:
    """Spider's schemas and the pool's, each encoded when it is first needed; `cache`: the vectors' file."""

    def __init__(self, bench: Path, cache: Path) -> None:
        self._cache = VectorCache(MiniLMEncoder(EncoderSettings(threads=1)), model="folds", path=cache)
        self._spider = {view.database for view, _ in read_views(bench, pool=False)}
        self._all = {view.database: view for view, _ in read_views(bench, pool=True)}

    @cached_property
    def spider(self) -> dict[str, SchemaIndexEntry]:
        """By name."""
        return {name: build(self._all[name], self._cache.encode) for name in sorted(self._spider)}

    @cached_property
    def large(self) -> tuple[str, ...]:
        """Names of the pool's large schemas."""
        sizes = {name: len(view.tables) for name, view in self._all.items() if name not in self._spider}
        return tuple(sorted(name for name, size in sizes.items() if size >= LARGE))

    def merged(self, database: str, large: str) -> SchemaIndexEntry:
        """A database with the tables of another."""
        return build(merged(self._all[database], self._all[large]), self._cache.encode)


def merged(own: Snapshot, other: Snapshot) -> Snapshot:
    """`own` with the tables of `other`, which are put into a schema named as that database."""
    moved = tuple(
        replace(
            table,
            schema=other.database,
            foreign_keys=tuple(replace(key, ref_schema=other.database) for key in table.foreign_keys),
        )
        for table in other.tables
    )
    tables = sorted((*own.tables, *moved), key=lambda table: table.key)
    return Snapshot(own.database, ("public", other.database), tuple(tables))
