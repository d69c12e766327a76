"""A file of knowledge as the single things that it says, with the calls that say each and take it back.

White space around texts, the order of synonyms and tags, and a join's direction mean nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields

from schema_catalog.knowledge_files.format import (
    Cardinality,
    ColumnBlock,
    DatabaseBlock,
    JoinBlock,
    KnowledgeFile,
    QueryBlock,
    TableBlock,
    TermBlock,
)
from schema_catalog.naming import dotted
from schema_catalog.types import Attributes

ATTRIBUTES = tuple(each.name for each in fields(Attributes))


@dataclass(frozen=True, slots=True)
class Call:
    """A function of `nl_catalog` with its arguments."""

    function: str
    arguments: tuple[object, ...]

    @property
    def sql(self) -> str:
        """The statement that calls it with parameters."""
        places = ", ".join(f"${n}" for n in range(1, len(self.arguments) + 1))
        return f"SELECT nl_catalog.{self.function}({places})"


@dataclass(frozen=True, slots=True)
class Fact:
    """A thing that is said. `key`: which, its database first; `shown` and `value`: for people; `path`: in the file."""

    key: tuple[str, ...]
    shown: str = field(compare=False)
    value: str = field(compare=False)
    say: Call
    take_back: Call = field(compare=False)
    path: str = field(compare=False)


def facts_of(content: KnowledgeFile) -> Iterator[Fact]:
    """All that `content` says, in its order."""
    for n, database in enumerate(content.databases):
        path = f"$.databases[{n}]"
        yield from _element_facts((database.name,), database, path)
        for t, table in enumerate(database.tables):
            of_table = (database.name, table.schema, table.name)
            yield from _element_facts(of_table, table, f"{path}.tables[{t}]")
            for c, column in enumerate(table.columns):
                yield from _element_facts(
                    (*of_table, column.name), column, f"{path}.tables[{t}].columns[{c}]"
                )
        for j, join in enumerate(database.joins):
            yield _join_fact(database.name, join, f"{path}.joins[{j}]")
        for t, term in enumerate(database.terms):
            yield _term_fact(database.name, term, f"{path}.terms[{t}]")
        for q, query in enumerate(database.verified_queries):
            yield _query_fact(database.name, query, f"{path}.verified_queries[{q}]")


def _element_facts(
    names: tuple[str, ...], block: DatabaseBlock | TableBlock | ColumnBlock, path: str
) -> Iterator[Fact]:
    element = dotted(names)
    if text := (block.description or "").strip():
        yield Fact(
            (names[0], "element", *names[1:], "", "description"),
            f"{element} description",
            text,
            Call("describe", (element, text)),
            Call("describe", (element, None)),
            f"{path}.description",
        )
    if block.hidden:
        yield Fact(
            (names[0], "element", *names[1:], "", "hidden"),
            f"{element} hidden",
            "",
            Call("hide", (element,)),
            Call("show", (element,)),
            f"{path}.hidden",
        )
    for name in ATTRIBUTES:
        if value := str(getattr(block, name, None) or "").strip():
            yield Fact(
                (names[0], "element", *names[1:], "", "attribute", name),
                f"{element} {name}",
                value,
                Call("set_attribute", (element, name, value)),
                Call("set_attribute", (element, name, None)),
                f"{path}.{name}",
            )
    for s, synonym in enumerate(block.synonyms):
        word = _one_line(synonym)
        yield Fact(
            (names[0], "element", *names[1:], "", "synonym", word),
            f"{element} synonym",
            word,
            Call("add_synonym", (element, word)),
            Call("drop_synonym", (element, word)),
            f"{path}.synonyms[{s}]",
        )


def _join_fact(database: str, join: JoinBlock, path: str) -> Fact:
    one, other, cardinality = join.column, join.referred, join.cardinality
    if cardinality is Cardinality.ONE_TO_MANY:
        one, other, cardinality = other, one, Cardinality.MANY_TO_ONE
    ends = (dotted((database, *one)), dotted((database, *other)))
    return Fact(
        (database, "join", *one, *other),
        f"{database} join {dotted(one)} = {dotted(other)}",
        cardinality.value,
        Call("declare_join", (*ends, cardinality.value)),
        Call("drop_join", ends),
        path,
    )


def _term_fact(database: str, term: TermBlock, path: str) -> Fact:
    name, definition = _one_line(term.name), term.definition.strip()
    description = (term.description or "").strip() or None
    return Fact(
        (database, "term", name.lower()),
        f"{database} term {name}",
        "; ".join(filter(None, [definition, description])),
        Call("define_term", (database, name, definition, description)),
        Call("drop_term", (database, name)),
        path,
    )


def _query_fact(database: str, query: QueryBlock, path: str) -> Fact:
    question, sql = _one_line(query.question), query.sql.strip()
    tags = sorted(set(map(_one_line, query.tags)))
    return Fact(
        # As pgparley.question_key.
        (database, "verified query", question.lower().rstrip(" .?!;")),
        f"{database} verified query {question}",
        " ".join([sql, *(f"#{tag}" for tag in tags)]),
        Call("verify", (database, question, sql, tags)),
        Call("revoke", (database, question)),
        path,
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())
