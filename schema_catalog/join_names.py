"""Joins that no foreign key declares, as names and types imply them: `customer_id` beside `customers.id`.

Owns which names imply one, and how surely. Whether values bear it out is `schema_catalog.join_values`'s.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from schema_catalog.types import Column, ColumnKey, Snapshot, Table, TableKey, once_per_snapshot
from schema_catalog.words import CLEAR, identifier_words, shortness

WEAK = 0.45
"""Least strength of a candidate."""

SURE = 0.75
"""Least strength at which names alone imply a join."""

DOUBTED = 0.5
"""Strength where either column may be the key, or a letter is all that tells."""

GENERIC = frozenset(
    "id code no nr num number key uuid guid ref name type title date time year status value".split()  # noqa: SIM905
)
"""Names of one of these words alone link no tables."""

_ENDINGS = frozenset("id code no nr num number key uuid guid ref isbn ssn".split())  # noqa: SIM905  readable so
_OF_TEXTS = frozenset(("name", "type", "title"))
_GLUED = ("uuid", "code", "name", "num", "key", "id", "nr", "no")
_NUMBERS = frozenset(
    ("smallint", "integer", "bigint", "numeric", "int", "int4", "int8", "double precision", "real")
)
_TEXTS = frozenset(("text", "character varying", "character", "varchar", "char", "citext", "bpchar"))

_LONG = 4
"""Letters, at least, of the end of a word that counts as a name."""

_MANY = 2_000
"""Tables above which abbreviations are not looked for."""

_HOLDERS = 48
"""Tables of one name, or columns, at most: more tell nothing."""

_LOOKED_AT = 12
"""Keys that a column may refer to, at most, the surest first."""

_SAME, _END, _FIRST = 1.0, 0.9, 0.6
"""How surely a column is its table's key: it has the table's name, the end of it, or its first word."""


@dataclass(frozen=True, slots=True)
class ImpliedJoin:
    """`column` seems to refer to `referred`; `strength`: how surely by names and types alone, in (0, 1]."""

    column: ColumnKey
    referred: ColumnKey
    strength: float


@dataclass(frozen=True, slots=True)
class _Name:
    """A column's name: `subject` is what it is a key of, `ending` the kind of key."""

    words: tuple[str, ...]
    subject: tuple[str, ...]
    ending: str

    @staticmethod
    def of(words: tuple[str, ...]) -> _Name:
        last = words[-1] if words else ""
        if last in _ENDINGS or last in _OF_TEXTS:
            return _Name(words, words[:-1], last)
        if words and words[0] == "id":
            return _Name(words, words[1:], "id")
        for ending in _GLUED:
            if last.endswith(ending) and last != ending:
                return _Name(words, (*words[:-1], last.removesuffix(ending)), ending)
        return _Name(words, words, "")

    @property
    def links(self) -> bool:
        """Whether it tells more than that something is a key."""
        return bool(self.words) and not (len(self.words) == 1 and self.words[0] in GENERIC)


def family(type_name: str) -> str:
    """The kind of a type: comparable types have one, as `varchar(20)` and `text`."""
    bare = type_name.split("(", 1)[0].strip().casefold()
    if bare in _NUMBERS:
        return "number"
    return "text" if bare in _TEXTS else bare


def named_as_key(name: str) -> bool:
    """Whether a column of this name is named as keys are."""
    return not _ENDINGS.isdisjoint(identifier_words(name)[-1:]) or name.endswith("id")


@dataclass(frozen=True, slots=True)
class _Key:
    """A column that others may refer to. `own`: how surely its name says that it is its table's key, in [0, 1]."""

    table: Table
    column: Column
    name: _Name
    declared: bool
    own: float


T = TypeVar("T")


class _Index(Generic[T]):
    """What has a name: that of the same schema where there is any, else that of others."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], list[T]] = defaultdict(list)

    def add(self, name: str, schema: str, item: T) -> None:
        for place in (schema, ""):
            self._found[name, place].append(item)

    def of(self, name: str, schema: str) -> Collection[T]:
        found = self._found.get((name, schema)) or self._found.get((name, ""), [])
        return found if len(found) <= _HOLDERS else ()


class _Names:
    """The tables and keys of a snapshot by what they are called: whole, by the end of the name, by a key's name."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.tables, self.ends = _Index[Table](), _Index[Table]()
        self.called = _Index[_Key]()
        self._letters: dict[str, list[tuple[str, Table]]] = defaultdict(list)
        self._short: dict[str, list[tuple[Table, float]]] = {}
        self.known: dict[object, list[tuple[_Key, float]]] = {}
        for table in snapshot.tables:
            self._add(table, short=len(snapshot.tables) <= _MANY)
        self.keys = {table.key: self._keys(table) for table in snapshot.tables}
        linking = [key for keys in self.keys.values() for key in keys if key.name.links]
        weak = Counter(key.name.words for key in linking if not (key.declared or key.own))
        for key in linking:
            if key.declared or key.own or weak[key.name.words] <= _HOLDERS:
                self.called.add("".join(key.name.words), key.table.schema, key)

    def _add(self, table: Table, *, short: bool) -> None:
        words = identifier_words(table.name)
        whole, last = "".join(words), "".join(words[-1:])
        self.tables.add(whole, table.schema, table)
        ends = {"".join(words[start:]) for start in range(1, len(words))}
        ends.update(last[start:] for start in range(1, len(last) - _LONG + 1))
        for end in ends:
            self.ends.add(end, table.schema, table)
        for name in {whole, last} if short else ():
            self._letters[name[:1]].append((name, table))

    def _keys(self, table: Table) -> list[_Key]:
        """What may be referred to: what is declared first, then what is named as the table's; the first column too."""
        declared = {names[0] for names in (table.primary_key, *table.unique_keys) if len(names) == 1}
        found = []
        for place, column in enumerate(table.columns):
            name = _Name.of(identifier_words(column.name))
            if name.words and (column.name in declared or name.ending or not (place or declared)):
                found.append(_Key(table, column, name, column.name in declared, self._own(name, table)))
        return sorted(
            found, key=lambda key: (not key.declared, (key.column.name,) != table.primary_key, -key.own)
        )

    def _own(self, name: _Name, table: Table) -> float:  # noqa: PLR0911 - a grade each
        words = identifier_words(table.name)
        if not name.ending or not words:
            return 0.0
        if not name.subject:
            return _SAME if name.ending == "id" else 0.7 if name.ending in GENERIC - _OF_TEXTS else 0.0
        subject, whole = "".join(name.subject), "".join(words)
        if whole in (subject, "".join(name.words)):
            return _SAME
        if words[-len(name.subject) :] == name.subject:
            return _END
        # What is a table's name is short for no other's.
        if not self.tables.of(subject, table.schema):
            if _short(subject, words[-1]) >= CLEAR:
                return 0.8
            if subject == "".join(word[0] for word in words):
                return 0.7
        return _FIRST if shortness(subject, words[0]) >= CLEAR else 0.0

    def abbreviated(self, word: str) -> list[tuple[Table, float]]:
        """The tables that `word` is short for, or whose names are short for it, the surest alone."""
        if word not in self._short:
            sure: dict[TableKey, tuple[Table, float]] = {}
            for name, table in self._letters.get(word[:1], ()):
                chance = 0.6 if len(word) == 1 else _short(word, name) * (_short(word, name) >= CLEAR)
                if chance > sure.get(table.key, (table, 0.0))[1]:
                    sure[table.key] = (table, chance)
            best = max((chance for _, chance in sure.values()), default=0.0)
            self._short[word] = [each for each in sure.values() if each[1] == best]
        return self._short[word]


def _short(word: str, name: str) -> float:
    """How surely the one is short for the other; what begins a longer name is a word of its own: `vote`, `votetype`."""
    return max(shortness(word, name), 0.0 if word.startswith(name) else shortness(name, word))


@once_per_snapshot
def candidates(snapshot: Snapshot) -> tuple[ImpliedJoin, ...]:
    """What names and types imply, also weakly, column by column in catalog order, the surest first."""
    names = _Names(snapshot)
    found: list[ImpliedJoin] = []
    for table, column in snapshot.columns():
        best: dict[ColumnKey, float] = {}
        for key, strength in _referred(table, column, names):
            referred = (*key.table.key, key.column.name)
            best[referred] = max(strength, best.get(referred, 0.0))
        for referred, strength in sorted(best.items(), key=lambda item: -item[1]):
            found.append(ImpliedJoin((*table.key, column.name), referred, strength))
    return tuple(found)


@once_per_snapshot
def implied_joins(snapshot: Snapshot) -> tuple[ImpliedJoin, ...]:
    """What names and types imply surely: for each column the surest, none where two are."""
    surest: dict[ColumnKey, list[ImpliedJoin]] = defaultdict(list)
    for each in candidates(snapshot):
        held = surest[each.column]
        if each.strength >= SURE and (not held or held[0].strength == each.strength):
            held.append(each)
    return tuple(found[0] for found in surest.values() if len(found) == 1)


def _referred(table: Table, column: Column, names: _Names) -> Iterator[tuple[_Key, float]]:
    """Keys that a column may refer to; one that is named as its own table's key refers to none that is less so."""
    words = identifier_words(column.name)
    kind = family(column.type)
    own = next((key.own for key in names.keys[table.key] if key.column.name == column.name), 0.0)
    # `club_id_2` is a second club's, `t2_id` that of t2.
    for each in dict.fromkeys((words, tuple(word for word in words if not word.isdigit()))):
        if not (name := _Name.of(each)).links:
            continue
        # All that they look at of the table.
        alike = (each, kind, table.schema, identifier_words(table.name)[:1])
        if (found := names.known.get(alike)) is None:
            keys = (*_by_key(name, table, names), *_by_table(name, table, kind, names))
            likely = (item for item in keys if item[1] >= WEAK and family(item[0].column.type) == kind)
            names.known[alike] = found = sorted(likely, key=lambda item: -item[1])[:_LOOKED_AT]
        for key, strength in found:
            if key.own >= own and key.table.key != table.key:
                yield key, min(strength, DOUBTED) if own and key.own == own else strength


def _by_key(name: _Name, table: Table, names: _Names) -> Iterator[tuple[_Key, float]]:
    """Keys that are called as the column is, or as the end of its name: `src_apid` beside `apid`."""
    whole = "".join(name.words)
    parts = {whole[start:]: 0.15 for start in range(1, len(whole) - _LONG)} if name.ending else {}
    parts |= {"".join(name.words[start:]): 0.1 * bool(start) for start in range(len(name.words))}
    for part, less in parts.items():
        holders = names.called.of(part, table.schema)
        declared = sum(key.declared for key in holders)
        for key in holders:
            if key.own > _FIRST and (key.declared or not declared):
                yield key, 0.8 + key.own / 5 - less
            elif key.declared:
                yield key, (0.85 if declared == 1 else 0.6) - less
            else:
                yield key, DOUBTED - less


def _by_table(name: _Name, table: Table, kind: str, names: _Names) -> Iterator[tuple[_Key, float]]:
    """Keys of the tables that the column is named after."""
    for other, strength in _tables(name, table, names):
        for first, key in enumerate(names.keys[other.key]):
            if not name.ending:
                if first == 0:
                    yield key, strength - (0.1 if kind == "number" else 0.3)
            elif key.name.ending == name.ending and (not key.name.subject or key.own or key.declared):
                yield key, strength - (0.4 if name.ending in _OF_TEXTS else 0.0 if key.own else 0.05)
            elif first == 0 and key.declared and key.name.ending not in _OF_TEXTS:
                yield key, strength - 0.2


def _tables(name: _Name, table: Table, names: _Names) -> Iterator[tuple[Table, float]]:
    """`start_station` is named after station, `pool` after lbaas_pools, `cust` after customers; and how surely."""
    subject, first = name.subject, identifier_words(table.name)[:1]
    found = False
    for start in range(len(subject)):
        part, less = "".join(subject[start:]), (0.1 if name.ending else 0.2) * bool(start)
        whole, ends = names.tables.of(part, table.schema), names.ends.of(part, table.schema)
        found = found or bool(whole or ends)
        yield from ((other, 0.95 - less) for other in whole)
        near = (identifier_words(other.name)[:1] == first for other in ends)
        yield from ((other, (0.9 if close else 0.7) - less) for other, close in zip(ends, near, strict=True))
    if found or not subject or name.ending in _OF_TEXTS:
        return
    for start in range(1, len(subject[-1]) - _LONG + 1):
        yield from ((other, 0.75) for other in names.tables.of(subject[-1][start:], table.schema))
    yield from ((other, 0.8 * chance) for other, chance in names.abbreviated("".join(subject)))
