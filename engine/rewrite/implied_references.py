"""References that no foreign key declares and that names imply: `review.business_id` beside `business.business_id`.

Read by the rules for joins alone; nothing takes them for enforced. Owns which names imply one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from engine.routing.graph import GENERIC, family, named_as_key
from engine.text.tokens import identifier_words
from schema_catalog.foreign_keys import foreign_key_graph
from schema_catalog.types import Column, ForeignKey, Snapshot, Table, TableKey, once_per_snapshot

Holder = tuple[Table, Column]


@once_per_snapshot
def with_implied_references(snapshot: Snapshot) -> Snapshot:
    """`snapshot` with a foreign key, not enforced, for each implied reference; the same one at every call."""
    free = (
        (holder, home)
        for holder, home in _implied(snapshot)
        if not _related(holder[0], home[0])
        and not any(holder[1].name in each.columns for each in holder[0].foreign_keys)
    )
    return _added(snapshot, free)


@once_per_snapshot
def with_shared_columns(snapshot: Snapshot) -> Snapshot:
    """The same, and key-like columns that only two tables share and no references join: for a refused statement."""
    implied = with_implied_references(snapshot)
    return _added(implied, _shared(implied))


def _added(snapshot: Snapshot, references: Iterable[tuple[Holder, Holder]]) -> Snapshot:
    found: dict[tuple[str, str], dict[str, ForeignKey]] = defaultdict(dict)
    for (table, column), (home, key) in references:
        reference = ForeignKey((column.name,), home.schema, home.name, (key.name,))
        found[table.key].setdefault(column.name, reference)
    if not found:
        return snapshot
    tables = tuple(
        replace(table, foreign_keys=(*table.foreign_keys, *found[table.key].values()))
        if table.key in found
        else table
        for table in snapshot.tables
    )
    return replace(snapshot, tables=tables)


def _related(one: Table, other: Table) -> bool:
    return any(
        (key.ref_schema, key.ref_table) == there.key
        for here, there in ((one, other), (other, one))
        for key in here.foreign_keys
    )


def _implied(snapshot: Snapshot) -> Iterator[tuple[Holder, Holder]]:
    """(column, the column that it refers to), the surest first."""
    by_id: dict[tuple[tuple[str, ...], str], list[Holder]] = defaultdict(list)
    for table in snapshot.tables:
        for column in table.columns:
            if column.name.casefold() == "id":
                by_id[identifier_words(table.name), family(column.type)].append((table, column))
    for name, words, kind, holders in _called_alike(snapshot):
        home = _home(name, words, holders)
        if home is None and words[-1] == "id":
            found = by_id.get((words[:-1], kind), [])
            home = found[0] if len(found) == 1 else None
        if home is not None:
            yield from ((holder, home) for holder in holders if holder[0].key != home[0].key)


def _called_alike(snapshot: Snapshot) -> Iterator[tuple[str, tuple[str, ...], str, list[Holder]]]:
    """Names of columns that link tables, their words, the kind of their types, and what has them."""
    groups: dict[tuple[str, str], list[Holder]] = defaultdict(list)
    for table in snapshot.tables:
        for column in table.columns:
            groups[column.name.casefold(), family(column.type)].append((table, column))
    for (name, kind), holders in groups.items():
        words = identifier_words(name)
        if words and not (len(words) == 1 and words[0] in GENERIC):
            yield name, words, kind, holders


def _shared(snapshot: Snapshot) -> Iterator[tuple[Holder, Holder]]:
    """The columns by which `with_shared_columns` joins."""
    islands = foreign_key_graph(snapshot).islands()
    found: dict[frozenset[TableKey], list[tuple[Holder, Holder]]] = defaultdict(list)
    for name, words, _, holders in _called_alike(snapshot):
        ends = frozenset(islands[table.key] for table, _ in holders)
        if len(holders) != len(ends) or len(ends) != 2:  # noqa: PLR2004 - a column on each island
            continue
        called = any(set(words) <= set(identifier_words(table.name)) for table, _ in holders)
        if called or named_as_key(name):
            found[ends].append((holders[0], holders[1]))
    yield from (pairs[0] for pairs in found.values() if len(pairs) == 1)


def _home(name: str, words: tuple[str, ...], holders: list[Holder]) -> Holder | None:
    """Of the columns of one name the one that the others refer to: a key, or in the table that the name names."""
    if len(holders) == 1:
        return None
    keyed = [each for each in holders if (each[1].name,) in (each[0].primary_key, *each[0].unique_keys)]
    if len(keyed) == 1:
        return keyed[0]
    if not named_as_key(name) and words[-1] != "name":
        return None
    among = keyed or holders
    if len(words) > 1:
        named = [each for each in among if identifier_words(each[0].name) == words[:-1]]
    else:
        # `aid` of author
        stem = words[0].removesuffix("id")
        tables = [(each, identifier_words(each[0].name)) for each in among]
        named = [each for each, of in tables if stem and len(of) == 1 and of[0].startswith(stem)]
    return named[0] if len(named) == 1 else None
