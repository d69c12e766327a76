"""The values of the registered databases for the link stage: indexed, cached, cut to the asker's privileges.

A value is used where the DBA allowed its column and does not call it sensitive, the asker may read the column, and its
table has no row-level security.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import asyncpg
import numpy as np
from numpy.typing import NDArray

from engine.link.column_facts import beginning, column_facts
from engine.link.contents import DATES, JSON_TYPES, PATHS, date_form
from engine.link.holders import Holders
from engine.link.match import View, match
from engine.link.mentions import short_description
from engine.link.near_values import near_values
from engine.link.standing import is_sensitive
from engine.link.value_index import ValueIndex
from engine.link.value_reader import text_columns
from engine.question import normalise as folding
from engine.question.question import Question
from engine.values.elements import (
    WHOLE_TABLE,
    ColumnContent,
    ColumnFacts,
    Entity,
    NearValues,
    ValueLink,
    ValueList,
)
from engine.values.ports import Encoder, Upstream
from engine.values.recent import Recent
from engine.values.state import Route
from schema_catalog.catalog import StoreUnavailableError
from schema_catalog.naming import quote_literal
from schema_catalog.types import ColumnKey, Database, Snapshot, TableKey, once_per_snapshot
from schema_catalog.values import TEXT_TYPES, ColumnValues, ValueStore, Version
from schema_catalog.words import identifier_words

KEPT = 1_000_000
"""Values in memory at most; the least recently used databases are dropped."""

OF_TABLE = 0.8
"""Least ratio of the cosines of a phrase to a column of codes and to its table: "official languages" may mean
`language.is_official`, "singers" does not mean `singer.sex`."""

LISTED = 100
"""Values of a column that may stand in the grammar, at most: of 50 such columns the model server reads a grammar in
about 20 ms more (`benchmarks/quality/literals`). Longer lists are compared after writing."""

FACTS = 64
"""Schemas, each as one role may read it, of which it is kept what prompts say of their values."""


class Kept:
    """The kept values of one database, and what is made of them once. `beginnings`: of each column, for prompts."""

    def __init__(self, columns: Sequence[ColumnValues]) -> None:
        self.index = ValueIndex(columns)
        self.beginnings = tuple(map(beginning, columns))
        self.forms = [date_form(column.values[:DATES]) for column in columns]
        self.lists = {
            place: ValueList(column.key, column.values)
            for place, column in enumerate(columns)
            if not column.more and 0 < len(column.values) <= LISTED
        }
        # The snapshot and the columns are kept beside what was made of them: their ids keep their meaning.
        self.facts = Recent[tuple[int, bytes], tuple[Snapshot, tuple[ColumnFacts, ...]]](FACTS)

    def told(self, snapshot: Snapshot, seen: NDArray[np.bool_]) -> tuple[ColumnFacts, ...]:
        """What a prompt may say of the columns marked in `seen`: the same value for the same schema."""
        key = (id(snapshot), seen.tobytes())
        if (held := self.facts.get(key)) is not None:
            return held[1]
        visible = frozenset(self.index.columns[place] for place in np.flatnonzero(seen).tolist())
        return self.facts.keep(key, (snapshot, column_facts(self.beginnings, visible, snapshot)))[1]


NOTHING = Kept(())

READ_ANEW = 8
"""Databases whose values are read for one question at most, where they are new; warming up reads them all."""


class StoredValues:
    """`engine.values.ports.Values` over the store. `limit`: values of one database at most."""

    def __init__(self, store: ValueStore, *, kept: int = KEPT, timeout: float = 5.0) -> None:
        self._store = store
        self._most = kept
        self._timeout = timeout
        self._kept_values: dict[str, tuple[Version, Kept]] = {}
        self._building = asyncio.Lock()
        self._holders = Holders()

    async def links(self, question: Question, route: Route, upstream: Upstream) -> tuple[ValueLink, ...]:
        """What `question` means in `route`'s database; raises `StoreUnavailableError` and the upstream's errors."""
        kept, seen = await self._seen(route, upstream)
        return await asyncio.to_thread(linked_values, question, route, kept.index, seen)

    async def lists(self, route: Route, upstream: Upstream) -> tuple[ValueList, ...]:
        """Columns of text of at most `LISTED` values with all of them, those of the likeliest tables first."""
        kept, seen = await self._seen(route, upstream)
        return await asyncio.to_thread(_lists, route, kept, seen)

    async def contents(self, route: Route, upstream: Upstream) -> tuple[ColumnContent, ...]:
        """Of columns of JSON and of dated texts, those of the likeliest tables first."""
        kept, seen = await self._seen(route, upstream, json=True)
        return await asyncio.to_thread(lambda: tuple(_contents(route, kept, seen)))

    async def told(self, route: Route, upstream: Upstream) -> tuple[ColumnFacts, ...]:
        """What a prompt may say of each kept column that the asker may see, by name."""
        kept, seen = await self._seen(route, upstream, json=True)
        return await asyncio.to_thread(kept.told, route.snapshot, seen)

    async def near(
        self, texts: Sequence[tuple[ColumnKey, str]], route: Route, upstream: Upstream, encoder: Encoder
    ) -> tuple[NearValues, ...]:
        """See `near_values`; none of a column whose values the asker may not see."""
        if not texts:
            return ()
        kept, seen = await self._seen(route, upstream)
        return await asyncio.to_thread(
            lambda: tuple(_near(*each, kept.index, seen, encoder) for each in texts)
        )

    async def holding(self, question: Question, databases: Sequence[str]) -> tuple[str, ...]:
        """Those of `databases` of which a kept value, perhaps hidden from the asker, has the key of a span."""
        async with self._answering():
            async with asyncio.timeout(self._timeout):
                versions = await self._store.versions(databases)
            for name in self._holders.keep(versions, frozenset(databases))[:READ_ANEW]:
                async with self._building:
                    await self._current(name, versions[name])
        found = await asyncio.to_thread(self._holders.of, question)
        return tuple(name for name in databases if name in found)

    async def _seen(
        self, route: Route, upstream: Upstream, *, json: bool = False
    ) -> tuple[Kept, NDArray[np.bool_]]:
        """The kept values of the route's database, and for each of its columns whether the asker may see values of it.

        `json`: also of JSON, of which expressions are kept and no values.
        """
        kept = await self._kept(route.database.name)
        hidden = await upstream.row_secured(route.database) if kept.beginnings else frozenset[TableKey]()
        return kept, await asyncio.to_thread(_visible, route, kept.index, hidden, json=json)

    async def prepare(self, databases: Sequence[Database]) -> None:
        """Reads and indexes ahead of the first question; raises `StoreUnavailableError`."""
        for database in databases:
            await self.index(database.name)

    async def index(self, database: str) -> ValueIndex:
        """The stored values of a database; empty where none are allowed. Raises `StoreUnavailableError`."""
        return (await self._kept(database)).index

    async def _kept(self, database: str) -> Kept:
        async with self._answering():
            async with asyncio.timeout(self._timeout):
                version = (await self._store.versions([database])).get(database)
            if version is None:
                self._kept_values.pop(database, None)
                return NOTHING
            async with self._building:
                return await self._current(database, version)

    @asynccontextmanager
    async def _answering(self) -> AsyncIterator[None]:
        try:
            yield
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            raise StoreUnavailableError("the store of values does not answer") from error

    async def _current(self, database: str, version: Version) -> Kept:
        known = self._kept_values.pop(database, None)
        if known is None or known[0] != version:
            columns = await self._store.values(database, self._most)
            known = (version, await asyncio.to_thread(Kept, columns))
            self._holders.put(database, version, known[1].index.hashes)
        # The newest stands last, so that the first are those asked least recently.
        self._kept_values[database] = known
        while sum(len(kept.index) for _, kept in self._kept_values.values()) > self._most:
            del self._kept_values[next(iter(self._kept_values))]
        return known[1]


def _visible(
    route: Route, index: ValueIndex, hidden: frozenset[TableKey], *, json: bool
) -> NDArray[np.bool_]:
    """The columns of the route's schema, without tables in `hidden` and what is sensitive.

    Reads all of it: not for the event loop.
    """
    allowed = _readable(route.snapshot)[json]
    return index.visible({key for key in allowed if key[:2] not in hidden} if hidden else allowed)


@once_per_snapshot
def _readable(snapshot: Snapshot) -> tuple[frozenset[ColumnKey], frozenset[ColumnKey]]:
    """The columns of a schema that are not sensitive: without those of JSON, and with them."""
    kept = {
        (*table.key, column.name): column.type
        for table, column in snapshot.columns()
        if not is_sensitive(column)
    }
    return frozenset(key for key, type_ in kept.items() if type_ not in JSON_TYPES), frozenset(kept)


def _contents(route: Route, kept: Kept, seen: NDArray[np.bool_]) -> Iterator[ColumnContent]:
    types = {(*table.key, column.name): column.type for table, column in route.snapshot.columns()}
    order = {table: place for place, table in enumerate(route.tables)}
    index = kept.index
    places: list[int] = np.flatnonzero(seen).tolist()
    for place in sorted(places, key=lambda place: order.get(index.columns[place][:2], len(order))):
        column = index.columns[place]
        if types[column] in JSON_TYPES:
            yield ColumnContent(column, tuple(index.values(place, PATHS)))
        elif (form := kept.forms[place]) is not None and types[column].split("(")[0] in TEXT_TYPES:
            yield ColumnContent(column, (f"to_date({{}}, {quote_literal(form)})",), form)


def _lists(route: Route, kept: Kept, seen: NDArray[np.bool_]) -> tuple[ValueList, ...]:
    texts = frozenset(text_columns(route.snapshot))
    order = {table: place for place, table in enumerate(route.tables)}
    places = [place for place, each in kept.lists.items() if seen[place] and each.column in texts]
    places.sort(key=lambda place: order.get(kept.lists[place].column[:2], len(order)))
    return tuple(kept.lists[place] for place in places)


def _near(
    column: ColumnKey, text: str, index: ValueIndex, seen: NDArray[np.bool_], encoder: Encoder
) -> NearValues:
    place = index.columns.index(column) if column in index.columns else None
    if place is None or not seen[place]:
        return NearValues()
    found = near_values(text, index.values(place, index.count(place)), encoder)
    return replace(found, whole=index.complete[place])


def linked_values(
    question: Question, route: Route, index: ValueIndex, seen: NDArray[np.bool_]
) -> tuple[ValueLink, ...]:
    """The links of `question` into columns marked in `seen`. Reads the whole schema: not for the event loop."""
    if not seen.any():
        return ()
    names, told = _names(route.snapshot), _described(route.snapshot)
    return match(question, View(index, seen, names, told, relevance(route.entities), coded(route)))


@once_per_snapshot
def _names(snapshot: Snapshot) -> frozenset[str]:
    names = {table.name for table in snapshot.tables} | {column.name for _, column in snapshot.columns()}
    words = {word for name in names for word in identifier_words(name)}
    return frozenset(map(folding.key, names | words))


@once_per_snapshot
def _described(snapshot: Snapshot) -> dict[str, frozenset[ColumnKey]]:
    """The columns that are shortly described by a word, by its key."""
    told: defaultdict[str, set[ColumnKey]] = defaultdict(set)
    for table, column in snapshot.columns():
        for word in short_description(column):
            told[word].add((*table.key, column.name))
    found: defaultdict[str, frozenset[ColumnKey]] = defaultdict(frozenset)
    for word, columns in told.items():
        found[folding.key(word)] |= columns
    return found


def relevance(entities: Sequence[Entity]) -> dict[ColumnKey, float]:
    """The best cosine of each element to a phrase."""
    best: dict[ColumnKey, float] = {}
    for entity in entities:
        for column, cosine in entity.similarities.items():
            best[column] = max(cosine, best.get(column, -1.0))
    return best


@once_per_snapshot
def _in_keys(snapshot: Snapshot) -> frozenset[ColumnKey]:
    """The columns of primary and foreign keys."""
    return frozenset(
        (*table.key, name)
        for table in snapshot.tables
        for names in (table.primary_key, *(key.columns for key in table.foreign_keys))
        for name in names
    )


def coded(route: Route) -> dict[ColumnKey, float]:
    """The best cosine of each column, keys apart, to a phrase that is not much nearer to its table (`OF_TABLE`)."""
    keys = _in_keys(route.snapshot)
    best: dict[ColumnKey, float] = {}
    for entity in route.entities:
        for column, cosine in entity.similarities.items():
            table = entity.similarities.get((*column[:2], WHOLE_TABLE), -1.0)
            if column[2] != WHOLE_TABLE and column not in keys and cosine >= OF_TABLE * table:
                best[column] = max(cosine, best.get(column, -1.0))
    return best
