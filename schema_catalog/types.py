"""The schema of a database as frozen values.

Owns the vocabulary (column, table, key, snapshot, registered database, login) and its two derived facts: the
fingerprint of a snapshot and the part of it that a role may read. Does not touch a server or a file.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeVar, cast

import msgspec

from schema_catalog.naming import quote_ident

TableKey = tuple[str, str]
"""(schema, table)."""

ColumnKey = tuple[str, str, str]
"""(schema, table, column)."""


class TableKind(StrEnum):
    """The kind of a relation (`pg_class.relkind`)."""

    TABLE = "table"
    PARTITIONED = "partitioned table"
    VIEW = "view"
    MATERIALIZED_VIEW = "materialized view"
    FOREIGN = "foreign table"


class Status(StrEnum):
    """Whether a DBA would have questions answered by an element."""

    PREFERRED = "preferred"
    DEPRECATED = "deprecated"


class Sensitivity(StrEnum):
    """Whether values of an element may be kept and shown; `MASKED`: nor may a statement that we write read them."""

    SENSITIVE = "sensitive"
    MASKED = "masked"


class DeclaredKey(StrEnum):
    """What is said of a column's values beyond the constraints of the database."""

    UNIQUE = "unique"


@dataclass(frozen=True, slots=True)
class Attributes:
    """What is said of an element beside words; None: nothing. `unit` to `key` are a column's, `rules` a database's."""

    status: Status | None = None
    sensitivity: Sensitivity | None = None
    unit: str | None = None
    time_zone: str | None = None
    key: DeclaredKey | None = None
    rules: str | None = None

    def over(self, other: Attributes) -> Attributes:
        """These, and where nothing is said `other`'s."""
        return Attributes(
            self.status or other.status,
            self.sensitivity or other.sensitivity,
            self.unit or other.unit,
            self.time_zone or other.time_zone,
            self.key or other.key,
            self.rules or other.rules,
        )


@dataclass(frozen=True, slots=True)
class Column:
    """One column; `type` as `format_type` writes it. `synonyms`: other words for it. `attributes`: None for none.

    `proposed_synonyms`: words that the language model has for it, and nobody has adopted.
    `labels`: of an enum, or of a domain over one, in the enum's order; they are schema, no values that somebody stored.
    `fields`: of a composite type, each with its type. `domain`: what a domain is over, and its checks, in SQL.
    """

    name: str
    type: str
    nullable: bool = True
    description: str | None = None
    synonyms: tuple[str, ...] = ()
    attributes: Attributes | None = None
    labels: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    domain: str = ""
    proposed_synonyms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """`columns` of the table that holds it refer, in order, to `ref_columns` of the referenced table.

    `enforced`: at every moment; PostgreSQL checked the rows that were there before it, and does not defer the check.
    """

    columns: tuple[str, ...]
    ref_schema: str
    ref_table: str
    ref_columns: tuple[str, ...]
    enforced: bool = False


@dataclass(frozen=True, slots=True)
class Check:
    """A CHECK constraint: what it says in SQL, and the columns of its table that it reads."""

    columns: tuple[str, ...]
    sql: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table or a view. `row_estimate` is the planner's (`pg_class.reltuples`), None where it has none.

    `synonyms`, `attributes`, `proposed_synonyms`: as of `Column`. `partial`: it has columns that are kept from
    questions, so that `*` would show more.
    """

    schema: str
    name: str
    kind: TableKind
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()
    unique_keys: tuple[tuple[str, ...], ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    description: str | None = None
    row_estimate: int | None = None
    synonyms: tuple[str, ...] = ()
    partial: bool = False
    attributes: Attributes | None = None
    checks: tuple[Check, ...] = ()
    proposed_synonyms: tuple[str, ...] = ()

    @property
    def key(self) -> TableKey:
        """(schema, name): how everything else refers to this table."""
        return (self.schema, self.name)


@dataclass(frozen=True, slots=True)
class Term:
    """What people call something: an SQL expression or predicate, `definition`, over the elements that it `reads`.

    An element is (schema, table) or (schema, table, column).
    """

    name: str
    definition: str
    description: str | None = None
    reads: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class MadeQuestion:
    """A question about `tables` that stands ready before anybody asks: the language model's, or a verified one.

    `reads`: the columns that it was made of; it is for who may read all of them.
    """

    question: str
    tables: tuple[TableKey, ...]
    reads: tuple[ColumnKey, ...] = ()


class _Keeping:
    """What was made of a snapshot, kept beside its fields: it is neither compared nor stored."""

    __slots__ = ("_made",)
    _made: dict[object, object]


@dataclass(frozen=True, slots=True)
class Snapshot(_Keeping):
    """The schema of one registered database at one moment, tables ordered by (schema, name).

    `shadowed`: tables whose bare name would find another table, even one that this snapshot hides. `said`: what a DBA
    says of the database as a whole, a description and synonyms. `terms`: of its business, over what it holds.
    `proposed`: (column, what it refers to) of joins that nobody declared; None where none were looked for.
    `rules`: what holds unless a question says otherwise, in free text. `made_questions`: verified ones first.
    """

    database: str
    search_path: tuple[str, ...]
    tables: tuple[Table, ...]
    shadowed: frozenset[TableKey] = frozenset()
    said: tuple[str, ...] = ()
    terms: tuple[Term, ...] = ()
    proposed: tuple[tuple[ColumnKey, ColumnKey], ...] | None = None
    rules: str = ""
    made_questions: tuple[MadeQuestion, ...] = ()

    def __post_init__(self) -> None:
        """Begins with nothing made of it."""
        object.__setattr__(self, "_made", {})

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) over all but row estimates: equal exactly where the schema, and what is said of it, is."""
        stable = [replace(table, row_estimate=None) for table in self.tables]
        encoded = msgspec.json.encode(
            [
                *(self.search_path, stable, *self.said),
                *filter(None, [self.terms, self.proposed, self.rules, self.made_questions]),
            ]
        )
        # A schema of which nothing is said keeps the fingerprint that stored points and routers know it by. Inside a
        # JSON string the quotes would be escaped, so that no text is cut.
        for nothing in (
            b',"synonyms":[]',
            b',"partial":false',
            b',"attributes":null',
            b',"labels":[]',
            b',"fields":[]',
            b',"domain":""',
            b',"checks":[]',
            b',"rules":null',
            b',"proposed_synonyms":[]',
        ):
            encoded = encoded.replace(nothing, b"")
        return hashlib.sha256(encoded).hexdigest()

    def display_name(self, table: Table) -> str:
        """The name to write in SQL, quoted where needed: bare where the search path finds it first."""
        bare = quote_ident(table.name)
        return bare if self._found_bare(table) else f"{quote_ident(table.schema)}.{bare}"

    def _found_bare(self, table: Table) -> bool:
        # pg_catalog is searched first although no search_path names it (PostgreSQL docs 5.10.5).
        if table.key in self.shadowed or table.name.startswith("pg_"):
            return False
        for schema in self.search_path:
            if schema == table.schema:
                return True
            if (schema, table.name) in table_keys(self):
                return False
        return False

    def columns(self) -> Iterator[tuple[Table, Column]]:
        """Every column with its table, in catalog order."""
        for table in self.tables:
            for column in table.columns:
                yield table, column

    def restricted_to(self, readable: ReadableColumns) -> Snapshot:
        """The part that `readable` allows: other columns, and tables left without one, are gone.

        Keys, terms, questions and a table's proposed words go with a hidden column that they tell of, or may tell of.
        """
        kept = {
            table.key: frozenset(c.name for c in table.columns if (*table.key, c.name) in readable)
            for table in self.tables
        }

        def whole(table_key: TableKey, names: tuple[str, ...]) -> bool:
            return kept.get(table_key, frozenset()).issuperset(names)

        def proposed_for(table: Table) -> tuple[str, ...]:
            gone = (c.attributes or Attributes() for c in table.columns if c.name not in kept[table.key])
            return table.proposed_synonyms if all(a.sensitivity is Sensitivity.MASKED for a in gone) else ()

        tables = tuple(
            replace(
                table,
                columns=tuple(c for c in table.columns if c.name in kept[table.key]),
                proposed_synonyms=proposed_for(table),
                primary_key=table.primary_key if whole(table.key, table.primary_key) else (),
                unique_keys=tuple(k for k in table.unique_keys if whole(table.key, k)),
                checks=tuple(check for check in table.checks if whole(table.key, check.columns)),
                foreign_keys=tuple(
                    f
                    for f in table.foreign_keys
                    if whole(table.key, f.columns) and whole((f.ref_schema, f.ref_table), f.ref_columns)
                ),
            )
            for table in self.tables
            if kept[table.key]
        )
        terms = tuple(
            term
            for term in self.terms
            if all(
                (there := kept.get((schema, name))) and there.issuperset(rest)
                for schema, name, *rest in term.reads
            )
        )
        # A bare name finds what the search path holds first, readable or not: remember whom that concerns.
        hidden = {table.name for table in self.tables if not kept[table.key]}
        shadowed = {table.key for table in tables if table.name in hidden and not self._found_bare(table)}
        proposed = self.proposed
        if proposed is not None:
            proposed = tuple(pair for pair in proposed if readable.issuperset(pair))
        return replace(
            self,
            tables=tables,
            shadowed=self.shadowed | shadowed,
            terms=terms,
            proposed=proposed,
            made_questions=whole_questions(self.made_questions, tables, readable),
        )


def whole_questions(
    questions: Iterable[MadeQuestion], tables: Iterable[Table], readable: ReadableColumns
) -> tuple[MadeQuestion, ...]:
    """The questions of which all tables are there, and all columns readable."""
    there = {table.key for table in tables}
    return tuple(
        each for each in questions if there.issuperset(each.tables) and readable.issuperset(each.reads)
    )


class SuggestionKind(StrEnum):
    """What an element would get by a suggestion."""

    DESCRIPTION = "description"
    SYNONYM = "synonym"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What the language model proposes to say: `text` for an element, (schema, table) or (schema, table, column)."""

    element: tuple[str, ...]
    kind: SuggestionKind
    text: str


ReadableColumns = frozenset[ColumnKey]
"""The columns that a role may SELECT."""


EVERYONE = "*"
"""The asker of a login that serves every asker who has none of their own."""


@dataclass(frozen=True, slots=True)
class Login:
    """How statements of `asker`, a role of the gateway's, log in to one registered database.

    `dsn` is a libpq URI. Of `EVERYONE` it names neither a user nor a password: each logs in under their own
    name. `schema_catalog.logins` makes and chooses them.
    """

    asker: str
    dsn: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Database:
    """A database as the DBA registered it.

    `name` is what users see and what `NL (db name)` takes. `dbname` is what the server calls it: two entries
    may share a `dbname` and differ in `search_path`. `dsn` is a libpq URI of the role with which the catalog
    introspects; it may hold a password. `schemas`: only these belong to the entry; none means every schema of
    the user's. `logins`, ordered by asker: who may be logged in there, and how. `identity`: which database of
    which cluster this is, as `IDENTITY_QUERY` reads it; None where the server does not say.
    """

    name: str
    dsn: str = field(repr=False)
    dbname: str
    search_path: tuple[str, ...]
    schemas: tuple[str, ...] = ()
    logins: tuple[Login, ...] = ()
    identity: str | None = None
    local: bool = False


T = TypeVar("T")


def once_per_snapshot(make: Callable[[Snapshot], T]) -> Callable[[Snapshot], T]:
    """`make`, which gives the same at every call with one snapshot: it is kept with that, and gone with it."""

    @functools.wraps(make)
    def made(snapshot: Snapshot) -> T:
        kept = snapshot._made  # noqa: SLF001 - what this function alone fills
        if make not in kept:
            kept.setdefault(make, make(snapshot))
        return cast("T", kept[make])

    return made


@once_per_snapshot
def table_keys(snapshot: Snapshot) -> frozenset[TableKey]:
    """Of its tables."""
    return frozenset(table.key for table in snapshot.tables)
