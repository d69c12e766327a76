"""What a DBA and what imports say of a database, its tables, columns, joins and terms, put into its snapshot.

Owns the precedence (a DBA, `COMMENT ON`, an import) and what hiding takes away. Stored and changed by the functions of
the schema `nl_catalog` (`sql/0003_knowledge.sql`, `sql/0004_saying.sql`); `schema_catalog.store` reads it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from schema_catalog.definitions import Join
from schema_catalog.types import (
    Attributes,
    Column,
    ColumnKey,
    ForeignKey,
    MadeQuestion,
    Sensitivity,
    Snapshot,
    Table,
    TableKey,
    Term,
    once_per_snapshot,
    whole_questions,
)


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Of one element: () the database, (schema, table), (schema, table, column). `hidden`: not for questions."""

    element: tuple[str, ...]
    description: str | None
    synonyms: tuple[str, ...]
    hidden: bool
    attributes: Attributes = field(default_factory=Attributes)


@dataclass(frozen=True, slots=True)
class Said:
    """All that counts of what is said of one database. `imported`: each element once, below all else.

    `proposed`: joins that nobody declared or declined; None where none were looked for. `questions`, `words`: what the
    language model says, which stands behind all else.
    """

    elements: tuple[Knowledge, ...] = ()
    joins: tuple[Join, ...] = ()
    terms: tuple[Term, ...] = ()
    imported: tuple[Knowledge, ...] = ()
    proposed: tuple[Join, ...] | None = None
    questions: tuple[MadeQuestion, ...] = ()
    words: Mapping[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Known:
    """What a DBA says of elements, what imports say, and the words that a language model has."""

    own: Mapping[tuple[str, ...], Knowledge]
    imported: Mapping[tuple[str, ...], Knowledge]
    words: Mapping[tuple[str, ...], tuple[str, ...]]

    def description(self, element: tuple[str, ...], comment: str | None) -> str | None:
        """The DBA's, else the comment, else an import's."""
        own, imported = self.own.get(element), self.imported.get(element)
        return (own and own.description) or comment or (imported and imported.description) or None

    def synonyms(self, element: tuple[str, ...]) -> tuple[str, ...]:
        """The DBA's, and behind them what else imports have."""
        own, imported = self.own.get(element), self.imported.get(element)
        words = () if own is None else own.synonyms
        folded = {word.lower() for word in words}
        others = () if imported is None else imported.synonyms
        return (*words, *(word for word in others if word.lower() not in folded))

    def proposed(self, element: tuple[str, ...]) -> tuple[str, ...]:
        """The language model's words, but for those that somebody says."""
        said = {word.lower() for word in self.synonyms(element)}
        return tuple(word for word in self.words.get(element, ()) if word.lower() not in said)

    def attributes(self, element: tuple[str, ...]) -> Attributes | None:
        """The DBA's over an import's. A column of a sensitive table is sensitive, of a masked one masked."""
        found = Attributes()
        for each in (self.own.get(element), self.imported.get(element)):
            found = found if each is None else found.over(each.attributes)
        if element[2:]:
            table = self.attributes(element[:2]) or Attributes()
            if table.sensitivity is Sensitivity.MASKED:
                found = replace(found, sensitivity=Sensitivity.MASKED)
            found = found.over(Attributes(sensitivity=table.sensitivity))
        return None if found == Attributes() else found


def described(snapshot: Snapshot, said: Said) -> Snapshot | None:
    """`snapshot` with what is said: descriptions in place of comments, what is defined, and without what is hidden.

    None where nothing is left for questions. What is said of an element that the snapshot lacks does not count.
    """
    known = _Known(
        {each.element: each for each in said.elements},
        {each.element: each for each in said.imported},
        said.words,
    )
    hidden = {each.element for each in said.elements if each.hidden}
    if () in hidden:
        return None
    readable = frozenset(
        (*table.key, column.name)
        for table, column in snapshot.columns()
        if hidden.isdisjoint((table.key, (*table.key, column.name)))
    )
    whole = {table.key: len(table.columns) for table in snapshot.tables}
    visible = _defined(snapshot, said)
    visible = visible.restricted_to(readable) if hidden else visible
    tables = tuple(_table(table, known, whole[table.key]) for table in visible.tables)
    texts = (*filter(None, [known.description((), None)]), *known.synonyms(()))
    rules = (known.attributes(()) or Attributes()).rules or ""
    made = whole_questions(said.questions, tables, _unmasked(tables))
    return replace(visible, tables=tables, said=texts, rules=rules, made_questions=made) if tables else None


def _unmasked(tables: Iterable[Table]) -> frozenset[ColumnKey]:
    return frozenset(
        (*table.key, column.name)
        for table in tables
        for column in table.columns
        if column.attributes is None or column.attributes.sensitivity is not Sensitivity.MASKED
    )


def _defined(snapshot: Snapshot, said: Said) -> Snapshot:
    """Terms, proposed joins, and declared ones behind the foreign keys, which they never replace."""
    columns = {(*table.key, column.name) for table, column in snapshot.columns()}
    elements = columns.union(table.key for table in snapshot.tables)
    terms = tuple(term for term in said.terms if elements.issuperset(term.reads))
    declared: dict[TableKey, list[ForeignKey]] = defaultdict(list)
    for join in said.joins:
        if columns.issuperset((join.column, join.referred)):
            key = ForeignKey((join.column[2],), *join.referred[:2], (join.referred[2],))
            declared[join.column[:2]].append(key)
    tables = (
        replace(table, foreign_keys=(*table.foreign_keys, *_missing(table, declared[table.key])))
        for table in snapshot.tables
    )
    proposed = None
    if said.proposed is not None:
        pairs = ((join.column, join.referred) for join in said.proposed)
        proposed = tuple(pair for pair in pairs if columns.issuperset(pair))
    return replace(snapshot, tables=tuple(tables), terms=terms, proposed=proposed)


def _missing(table: Table, declared: Iterable[ForeignKey]) -> Iterable[ForeignKey]:
    there = {replace(key, enforced=False) for key in table.foreign_keys}
    return (key for key in declared if key not in there)


def _table(table: Table, known: _Known, columns: int) -> Table:
    return replace(
        table,
        columns=tuple(_column(column, (*table.key, column.name), known) for column in table.columns),
        description=known.description(table.key, table.description),
        synonyms=known.synonyms(table.key),
        attributes=known.attributes(table.key),
        proposed_synonyms=known.proposed(table.key),
        partial=len(table.columns) < columns,
    )


def _column(column: Column, key: tuple[str, ...], known: _Known) -> Column:
    return replace(
        column,
        description=known.description(key, column.description),
        synonyms=known.synonyms(key),
        attributes=known.attributes(key),
        proposed_synonyms=known.proposed(key),
    )


@once_per_snapshot
def unmade(snapshot: Snapshot) -> Snapshot:
    """It without what a language model says of it beforehand, which comes and goes while people talk."""

    def bare(table: Table) -> Table:
        columns = tuple(replace(each, proposed_synonyms=()) for each in table.columns)
        return replace(table, proposed_synonyms=(), columns=columns)

    return replace(snapshot, made_questions=(), tables=tuple(map(bare, snapshot.tables)))
