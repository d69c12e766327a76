"""What of a schema a question names, in full and in short.

What names of a schema are short for in a question: `spcs` for species, `lsh` described as leisure and hospitality.

The tables, terms and values that a question names, and those of them that a statement does not read.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from engine.question.names import name_words
from engine.question.question import Question
from engine.question.tokens import PLAIN, STOP_WORDS
from engine.values.elements import Relation, ValueLink
from engine.values.recent import Recent
from schema_catalog.types import Column, ColumnKey, Snapshot, Table, TableKey, Term, once_per_snapshot
from schema_catalog.words import LONG, identifier_words, surest

T = TypeVar("T")

LATEST = 16
"""Questions about a schema whose names in it are kept."""

MOST = 2
"""Parts that are equally sure to be short for a word, at most: more say nothing."""

DESCRIBED = range(2, 6)
"""Words of a description that may stand in a question: one says little, and of many some are about something else."""

_CLAUSE = re.compile(r"[,;:(]|\s[\u2013\u2014-]\s")

_ENDINGS = frozenset("d ed er ers est ing ings ion ly r ry s ses st".split())  # noqa: SIM905  easier to read
"""What a word may have more than a part of a name that says it in full."""

_LEFT_OUT = PLAIN | {"during", "since", "until"}


@dataclass(frozen=True, slots=True)
class ShortName:
    """A name, or a part of names, that stands for words of a question: as the schema and as people write them."""

    part: str
    words: str


def once_per_question(make: Callable[[Question, Snapshot], T]) -> Callable[[Question, Snapshot], T]:
    """`make`, which reads every name of a schema, once for each of the last questions about it."""

    @once_per_snapshot
    def known(_: Snapshot) -> Recent[Question, T]:
        return Recent(LATEST)

    @functools.wraps(make)
    def made(question: Question, snapshot: Snapshot) -> T:
        kept = known(snapshot)
        found = kept.get(question)
        return kept.keep(question, make(question, snapshot)) if found is None else found

    return made


@once_per_question
def short_names(question: Question, snapshot: Snapshot) -> tuple[ShortName, ...]:
    """The parts surest to be short for words of `question` that nothing says in full, and names that it describes."""
    return (*_abbreviated(question, snapshot), *_described(question, snapshot))


def _abbreviated(question: Question, snapshot: Snapshot) -> Iterator[ShortName]:
    parts, told = _parts(snapshot), told_words(snapshot)
    asked = _spelt(question.text)
    words = (each for each in asked if len(each) >= LONG and each.isalpha() and each not in _LEFT_OUT)
    for word in words:
        if word in told or any(_says_in_full(part, word) for part in parts):
            continue
        best = surest(word, parts)
        if len(best) <= MOST:
            yield from (ShortName(parts[part], asked[word]) for part in best)


@once_per_snapshot
def _parts(snapshot: Snapshot) -> dict[str, str]:
    """The parts of all names, as `_spelt`."""
    names = [table.name for table in snapshot.tables] + [column.name for _, column in snapshot.columns()]
    return _spelt(" ".join(names))


@once_per_snapshot
def told_words(snapshot: Snapshot) -> frozenset[str]:
    """The folded words of descriptions and synonyms: what they say in full, no name says in short."""
    elements: list[Table | Column] = [*snapshot.tables, *(column for _, column in snapshot.columns())]
    texts = (text for each in elements for text in (each.description or "", *each.synonyms))
    return frozenset(word for text in texts for word in identifier_words(text))


def _described(question: Question, snapshot: Snapshot) -> Iterator[ShortName]:
    """Columns whose whole description, of a few words, stands in the question: `lsh`, "leisure and hospitality"."""
    asked = frozenset(question.words)
    found: dict[frozenset[str], dict[str, str]] = {}
    for told, name, words in _short_descriptions(snapshot):
        if told <= asked:
            found.setdefault(told, {})[name] = words
    for same in found.values():
        if len(same) <= MOST:
            yield from (ShortName(name, words) for name, words in same.items())


@once_per_snapshot
def _short_descriptions(snapshot: Snapshot) -> list[tuple[frozenset[str], str, str]]:
    """The words of columns' short descriptions that their names do not say, with the name and how they are written."""
    return [
        (told, column.name, " ".join(_first_said(column).split()))
        for _, column in snapshot.columns()
        if (told := short_description(column)) and not told <= set(identifier_words(column.name))
    ]


def short_description(column: Column) -> frozenset[str]:
    """The folded words of what is first said of a column, without stop words; none where not few (`DESCRIBED`).

    What follows is its unit, or its values: "oil pressure, bar", "income verification: V verified".
    """
    told = frozenset(identifier_words(_first_said(column))) - STOP_WORDS
    return told if len(told) in DESCRIBED else frozenset()


def _first_said(column: Column) -> str:
    return _CLAUSE.split(column.description or "", maxsplit=1)[0]


def _spelt(text: str) -> dict[str, str]:
    """The folded words of a text, in order, and how each is first written there, in lower case."""
    found: dict[str, str] = {}
    for piece in name_words(text).split():
        for word in identifier_words(piece):
            found.setdefault(word, piece)
    return found


def _says_in_full(part: str, word: str) -> bool:
    """Whether they are one word with two endings: `order` and "ordered", `rate` and "rating"."""
    stem = part.removesuffix("e")
    ending = word.removeprefix(part if word.startswith(part) else stem)
    return part == word or (len(part) >= LONG and word.startswith(stem) and ending in _ENDINGS)


def short_names_not_used(short: Sequence[ShortName], names: Iterable[str]) -> tuple[ShortName, ...]:
    """Those of `short` that stand for words of which a statement of these `names` reads nothing."""
    read = [frozenset(identifier_words(name)) for name in names] if short else []
    said = {each.words for each in short if any(parts >= set(identifier_words(each.part)) for parts in read)}
    return tuple(each for each in short if each.words not in said)


Words = tuple[str, ...]
"""The folded words of a name."""

CERTAIN = 0.97
"""Least similarity of a link for a named value: equal except for spelling."""


def called_columns(question: Question, snapshot: Snapshot) -> list[ColumnKey]:
    """The columns whose name or synonym of several words stands in the question: "net sales" for `net_sales`."""
    asked = f" {' '.join(question.words)} "
    names = (
        ((*table.key, column.name), identifier_words(name))
        for table, column in snapshot.columns()
        for name in (column.name, *column.synonyms)
    )
    return [key for key, words in names if len(words) > 1 and f" {' '.join(words)} " in asked]


@once_per_question
def mentioned_tables(question: Question, snapshot: Snapshot) -> tuple[Table, ...]:
    """The tables whose names stand in `question`, in singular or plural, in full or in short. Reads every name.

    Not where the name is part of a longer name in the question, or the last word of a column's: "country" may be a
    column of cities. The tables of a term that stands there are named by it.
    """
    columns = {identifier_words(column.name) for _, column in snapshot.columns()}
    tables = [(table, identifier_words(table.name)) for table in snapshot.tables]
    endings = {column[-1] for column in columns if column}
    synonyms = {identifier_words(each) for table in snapshot.tables for each in table.synonyms} - {()}
    names = columns | synonyms
    names.update(name for _, name in tables)
    names.update(identifier_words(each.name) for each in snapshot.terms)
    asked = question.words
    alone = standing_alone(asked, names)
    short = _named_in_short(asked, tables, {word for name in names for word in name})
    terms = (each for each in snapshot.terms if identifier_words(each.name) in alone)
    of_terms = {element[:2] for each in terms for element in each.reads}
    called = synonyms & alone
    found = [
        table
        for table, name in tables
        if table.key in of_terms
        or table.key in short
        or (name in alone and name[-1] not in endings)
        or not called.isdisjoint(map(identifier_words, table.synonyms))
    ]
    named = named_schemas(question, snapshot)
    there = {table.name for table in found if table.schema in named}
    return tuple(table for table in found if table.schema in named or table.name not in there)


@once_per_question
def named_schemas(question: Question, snapshot: Snapshot) -> frozenset[str]:
    """The schemas whose names stand in `question`, of several; `public` is a word of its own."""
    schemas = {table.schema for table in snapshot.tables}
    if len(schemas) == 1:
        return frozenset()
    words = {schema: identifier_words(schema) for schema in schemas - {"public"}}
    alone = standing_alone(question.words, {each for each in words.values() if each})
    return frozenset(schema for schema, name in words.items() if name in alone)


def in_named_schema(table: Table, named: Collection[str], snapshot: Snapshot) -> Table | None:
    """The table of the same name in a schema that is `named`, where `table`'s own is not; None without one."""
    if table.schema in named:
        return None
    found = [each for each in snapshot.tables if each.schema in named and each.name == table.name]
    return found[0] if len(found) == 1 else None


def _named_in_short(
    asked: Words, tables: Sequence[tuple[Table, Words]], known: Collection[str]
) -> frozenset[TableKey]:
    """The tables whose one-word name is the surest to be short for a word that is not `known`, and the only one."""
    found = set()
    short = [(name[0], table.key) for table, name in tables if len(name) == 1]
    for word in dict.fromkeys(asked):
        if len(word) < LONG or word in known:
            continue
        best = surest(word, (name for name, _ in short))
        nearest = [key for name, key in short if name in best]
        if len(nearest) == 1:
            found.add(nearest[0])
    return frozenset(found)


@once_per_question
def named_terms(question: Question, snapshot: Snapshot) -> tuple[Term, ...]:
    """The terms that stand in `question`, in singular or plural, and are no part of a longer one there."""
    names = {identifier_words(each.name) for each in snapshot.terms} - {()}
    alone = standing_alone(question.words, names)
    return tuple(each for each in snapshot.terms if identifier_words(each.name) in alone)


def terms_used(
    terms: Iterable[Term], tables: Collection[TableKey], columns: Collection[ColumnKey]
) -> tuple[Term, ...]:
    """Those of `terms` all of whose elements a statement over `tables` and `columns` reads."""
    read: set[tuple[str, ...]] = {*tables, *columns}
    return tuple(each for each in terms if read.issuperset(each.reads))


def tables_not_read(asked: Iterable[Table], tables: Iterable[TableKey], snapshot: Snapshot) -> list[Table]:
    """Those of `asked` that are not among `tables` and that no foreign key of `tables` refers to."""
    read = frozenset(tables)
    known = [table for table in snapshot.tables if table.key in read]
    covered = read | {(key.ref_schema, key.ref_table) for table in known for key in table.foreign_keys}
    return [table for table in asked if table.key not in covered]


def standing_alone(asked: Words, names: Collection[Words]) -> frozenset[Words]:
    """The `names` that stand in `asked` at a place where no longer one does."""
    longest = max(map(len, names), default=0)
    spans = [
        (start, end)
        for start in range(len(asked))
        for end in range(start + 1, min(start + longest, len(asked)) + 1)
        if asked[start:end] in names
    ]
    return frozenset(
        asked[start:end]
        for start, end in spans
        if not any(s <= start and end <= e and e - s > end - start for s, e in spans)
    )


def values_not_used(question: Question, sql: str, links: Iterable[ValueLink]) -> list[str]:
    """The spans of `question` that name a value which `sql` does not contain.

    A name has a capital letter that it would have anywhere, not only as the question's first word, and a link of
    similarity `CERTAIN`; what a code means counts as one.
    """
    spelt: dict[str, set[str]] = {}
    for link in links:
        named = (link.coded or _is_name(link.span, question)) and link.relation is Relation.EQUALS
        if named and link.similarity >= CERTAIN:
            values = map(re.escape, map(str.casefold, link.values))
            spelt.setdefault(link.span, {re.escape(link.span.casefold())}).update(
                (rf"\b{value}\b" for value in values) if link.coded else values
            )
    said = sql.casefold()
    return [span for span, values in spelt.items() if not any(re.search(value, said) for value in values)]


def _is_name(span: str, question: Question) -> bool:
    code = len(span) > 1 and span.isupper()
    return span[:1].isupper() and (code or question.text.find(span) > 0)
