"""Answers to questions about the data itself: a statement, and what it says in words.

A statement counts or lists stored rows, or gives what the catalog says as rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from engine.link.standing import is_sensitive
from engine.question.data_questions import DataQuestion, Subject, bag_of_words, data_question
from engine.question.names import name_words
from engine.values.elements import WHOLE_TABLE
from engine.values.refusal import spoken
from schema_catalog.naming import quote_ident, quote_literal
from schema_catalog.types import Column, ColumnKey, Snapshot, Table, TableKind, Term, once_per_snapshot
from schema_catalog.words import folded_name, plural

MOST = 50
"""Tables that one statement counts, or lists, at most: those of the most rows."""

ASKABLE = 5
"""Questions that are proposed, at most."""

_UNSAID = "the catalog says no more than its name"
_STORED = (TableKind.TABLE, TableKind.PARTITIONED, TableKind.MATERIALIZED_VIEW)

_OF_TABLES = (Subject.PLACE, Subject.TABLES, Subject.SIZES)

Element = tuple[Table, Column | None]
"""A column, or a table as a whole."""


@dataclass(frozen=True, slots=True)
class DataAnswer:
    """`words`: one sentence without its full stop."""

    sql: str
    words: str


def answers(asked: DataQuestion, snapshot: Snapshot) -> tuple[DataAnswer, ...]:
    """The answers of one database; none if it has nothing of that name."""
    if asked.subject in _OF_TABLES and named_elements("tables", snapshot):
        # There are tables of wood, of which the data knows.
        return ()
    elements = _elements(asked.named, snapshot)
    found: tuple[DataAnswer, ...]
    match asked.subject:
        case Subject.MEANING:
            found = _meaning(asked, elements, snapshot)
        case Subject.VALUES:
            found = tuple(_values(table, each, snapshot) for table, each in elements if each is not None)
        case Subject.COLUMNS:
            found = tuple(_columns(table) for table, column in elements if column is None)
        case Subject.PLACE:
            found = _place(asked.named, snapshot)
        case Subject.SIZES:
            found = _sizes(snapshot)
        case Subject.TABLES | Subject.SCOPE:
            found = _tables(snapshot)
    return found


def askable(snapshot: Snapshot) -> tuple[str, ...]:
    """Questions that this database answers: what is in it, then what its words mean."""
    tables = [table for table in _largest(snapshot) if table.kind in _STORED] or list(snapshot.tables)
    if not tables:
        return ()
    first = name_words(tables[0].name).split()
    said = [f"How many {' '.join((*first[:-1], _plural(first[-1])))} are there?"]
    listed = next(filter(_is_listed, _parts(tables)), None)
    described = next(((table, column) for table, column in _parts(tables) if column.description), None)
    about = [f"Which values does {_in_words(*listed)} have?"] if listed else []
    about += [f"What does {_in_words(*described)} mean?"] if described else []
    about += [f"Which tables have {folded_name(tables[-1].name)} data?", "How many rows has each table?"]
    about += [f"Which columns does {name_words(tables[0].name)} have?"]
    for text in about:
        question = data_question(text)
        if question is not None and answers(question, snapshot):
            said.append(text)
    return tuple(said[:ASKABLE])


def made(snapshot: Snapshot) -> tuple[str, ...]:
    """Questions that stand ready, verified ones first; none that could not be pasted."""
    return tuple(each.question for each in snapshot.made_questions if "$$" not in each.question)[:ASKABLE]


def _plural(word: str) -> str:
    return word if word.endswith("s") else plural(word)


def _parts(tables: Iterable[Table]) -> Iterator[tuple[Table, Column]]:
    return ((table, column) for table in tables for column in table.columns)


def _is_listed(part: tuple[Table, Column]) -> bool:
    """Whether a column has few values, as far as the schema says so: labels, or no more than yes and no."""
    _, column = part
    return not is_sensitive(column) and (bool(column.labels) or column.type == "boolean")


def _in_words(table: Table, column: Column) -> str:
    return f"{name_words(column.name)} of {name_words(table.name)}"


def _elements(named: str, snapshot: Snapshot) -> list[Element]:
    tables = {table.key: table for table in snapshot.tables}
    found = ((tables[key[:2]], key[2]) for key in (named_elements(named, snapshot) if named else ()))
    return [
        (table, None if name == WHOLE_TABLE else next(each for each in table.columns if each.name == name))
        for table, name in found
    ]


def _meaning(
    asked: DataQuestion, elements: Sequence[Element], snapshot: Snapshot, why: str = ""
) -> tuple[DataAnswer, ...]:
    rows = [
        (term.name, "term", "; ".join(filter(None, [term.description, f"computed as {term.definition}"])))
        for term in named_terms(asked.named, snapshot)
    ]
    rows += [(_name(*each), _kind(*each), _said(*each)) for each in elements]
    if not rows:
        return ()
    # What is said of something comes before what nothing is said of.
    rows.sort(key=lambda row: row[2] == _UNSAID)
    words = "; ".join(f"{name} ({kind}): {said.rstrip('.')}" for name, kind, said in rows[:2])
    more = f"; and {len(rows) - 2} more" if len(rows) > 2 else ""  # noqa: PLR2004 - those that are told
    return (DataAnswer(_listing(("element", "kind", "meaning"), rows), f"{why}{words}{more}"),)


def _values(table: Table, column: Column, snapshot: Snapshot) -> DataAnswer:
    if is_sensitive(column) or is_sensitive(table):
        asked = DataQuestion(Subject.MEANING, "")
        why = "its values are sensitive and are not listed; "
        return _meaning(asked, [(table, column)], snapshot, why)[0]
    name = quote_ident(column.name)
    labels = f"; possible are {', '.join(column.labels)}" if column.labels else ""
    return DataAnswer(
        f"SELECT DISTINCT {name} FROM {snapshot.display_name(table)} ORDER BY {name}",  # noqa: S608 - quoted
        f"each value of {_in_words(table, column)} once{labels}",
    )


def _columns(table: Table) -> DataAnswer:
    rows = [(column.name, _kind(table, column), _said(table, column)) for column in table.columns]
    names = ", ".join(column.name for column in table.columns)
    return DataAnswer(_listing(("column", "kind", "meaning"), rows), f"{table.name} has the columns {names}")


def _place(named: str, snapshot: Snapshot) -> tuple[DataAnswer, ...]:
    found = holding(named, snapshot)[:MOST]
    if not found:
        return ()
    rows = [
        (snapshot.display_name(table), ", ".join(each.name for each in columns), _said(table, None))
        for table, columns in found
    ]
    words = f"{named}: in {spoken([row[0] for row in rows], 'and')}"
    return (DataAnswer(_listing(("table", "columns", "meaning"), rows), words),)


def _tables(snapshot: Snapshot) -> tuple[DataAnswer, ...]:
    shown = sorted(_largest(snapshot)[:MOST], key=lambda table: table.key)
    rows = [
        (snapshot.display_name(each), _said(each, None), ", ".join(column.name for column in each.columns))
        for each in shown
    ]
    words = (
        f"{len(rows)} of {len(snapshot.tables)} tables" if len(rows) < len(snapshot.tables) else "the tables"
    )
    examples = " ".join((*askable(snapshot)[:2], *made(snapshot)[:2]))
    told = f"{words} with what is said of them and their columns; for example: {examples}"
    return (DataAnswer(_listing(("table", "meaning", "columns"), rows), told),) if rows else ()


def _sizes(snapshot: Snapshot) -> tuple[DataAnswer, ...]:
    tables = [table for table in _largest(snapshot) if table.kind in _STORED]
    parts = [
        f'SELECT {quote_literal(name)} AS "table", count(*) AS rows FROM {name}'  # noqa: S608 - a quoted name
        for name in map(snapshot.display_name, tables[:MOST])
    ]
    some = f" (the largest {MOST} of {len(tables)})" if len(tables) > MOST else ""
    sql = f"{' UNION ALL '.join(parts)} ORDER BY 2 DESC, 1"
    return (DataAnswer(sql, f"the number of rows of each table{some}"),) if parts else ()


def _largest(snapshot: Snapshot) -> list[Table]:
    return sorted(snapshot.tables, key=lambda table: -(table.row_estimate or 0))


def _name(table: Table, column: Column | None) -> str:
    return table.name if column is None else f"{table.name}.{column.name}"


def _kind(table: Table, column: Column | None) -> str:
    if column is None:
        return table.kind
    unit = (
        "" if column.attributes is None or column.attributes.unit is None else f" in {column.attributes.unit}"
    )
    return f"{column.type}{unit}"


def _said(table: Table, column: Column | None) -> str:
    """What the catalog says of an element: its comment, other names, where it refers to."""
    element = table if column is None else column
    parts = [" ".join((element.description or "").split()).rstrip(".")]
    parts += [f"also called {', '.join(element.synonyms)}"] if element.synonyms else []
    if column is not None:
        parts += [f"one of {', '.join(column.labels)}"] if column.labels else []
        keys = [key for key in table.foreign_keys if key.columns == (column.name,)]
        parts += [f"refers to {key.ref_table}.{key.ref_columns[0]}" for key in keys]
        parts += ["the key"] if table.primary_key == (column.name,) else []
    return "; ".join(filter(None, parts)) or _UNSAID


def _listing(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A statement whose rows are these texts."""
    lines = ", ".join(f"({', '.join(map(quote_literal, row))})" for row in rows)
    return f"SELECT * FROM (VALUES {lines}) AS answer ({', '.join(map(quote_ident, names))})"  # noqa: S608 - quoted


def named_elements(named: str, snapshot: Snapshot) -> tuple[ColumnKey, ...]:
    """The tables and columns that `named` is the name or a synonym of, columns with their tables' names or without.

    Word for word, in any order: "status of the orders" is `orders.status`, and "status" that of every table.
    """
    return tuple(_names(snapshot).get(bag_of_words(named), ()))


def named_terms(named: str, snapshot: Snapshot) -> tuple[Term, ...]:
    """The terms of that name."""
    return tuple(term for term in snapshot.terms if bag_of_words(term.name) == bag_of_words(named))


def holding(named: str, snapshot: Snapshot) -> tuple[tuple[Table, tuple[Column, ...]], ...]:
    """The tables of which a name or a column's has every word of `named`, with those columns; the table's name first.

    A column's counts with its table's: "customer names" are in `customer`, which has a column `name`.
    """
    wanted = set(bag_of_words(named)) or {""}
    found = []
    for table in snapshot.tables:
        own = set[str]().union(*map(bag_of_words, _called(table)))
        columns = tuple(
            column
            for column in table.columns
            if any(
                wanted <= own | bag and wanted & bag for bag in map(set, map(bag_of_words, _called(column)))
            )
        )
        if wanted <= own or columns:
            found.append((not wanted <= own, table, columns))
    return tuple((table, columns) for _, table, columns in sorted(found, key=lambda each: each[0]))


def _called(element: Table | Column) -> tuple[str, ...]:
    return (element.name, *element.synonyms)


@once_per_snapshot
def _names(snapshot: Snapshot) -> dict[tuple[str, ...], dict[ColumnKey, None]]:
    """Elements by the words of their names."""
    known: dict[tuple[str, ...], dict[ColumnKey, None]] = {}
    for table in snapshot.tables:
        tables = _called(table)
        for name in tables:
            known.setdefault(bag_of_words(name), {})[*table.key, WHOLE_TABLE] = None
        for column in table.columns:
            for name in _called(column):
                for bag in (bag_of_words(name), *(bag_of_words(f"{each} {name}") for each in tables)):
                    known.setdefault(bag, {})[*table.key, column.name] = None
    return known
