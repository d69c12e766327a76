"""A schema is asked before anybody asks (DBCopilot §4.3): which tables belong together, and what people say of them.

The paper samples schemas by random walks over the schema graph and trains a model that questions them; here the
configured model is asked, and the walks see to it that every table is in one. Owns the walks, the prompt, and which
lines of a reply are taken. Who may see what was made, and when it is made, is the caller's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from engine.llm.prompts import prompt
from engine.statement.written import quoted
from engine.values.elements import WHOLE_TABLE
from engine.values.ports import Prompt
from engine.values.schema_graph import Graph
from engine.write.schema_text import table_text
from schema_catalog.naming import quote_literal
from schema_catalog.types import ColumnKey, Snapshot, Table, TableKey

TABLES, SETS = 3, 8
"""Tables of a walk, and walks over a database, at most."""

QUESTIONS, WORDS = 4, 5
"""Taken of a reply: questions, and words for each name."""

QUESTION_LENGTH, WORD_LENGTH = 160, 40
VALUES = 5
"""Of a column, that the model is shown; the commonest."""


@dataclass(frozen=True, slots=True)
class Made:
    """What a model says of `tables`: `questions` about them, and `words` that people say for their elements."""

    tables: tuple[TableKey, ...]
    questions: tuple[str, ...]
    words: Mapping[ColumnKey, tuple[str, ...]]


def walks(snapshot: Snapshot) -> tuple[tuple[TableKey, ...], ...]:
    """Sets of `TABLES` tables at most that are linked, `SETS` at most: the same for the same schema.

    Each table is in one of the first sets as far as these reach, tables with more links first; then come walks from
    where chance wants (the paper's V₁ … Vₖ), none twice.
    """
    graph, tables = Graph.of(snapshot), snapshot.tables
    chance = Random(snapshot.fingerprint)  # noqa: S311 - nothing is secret here
    left = set(range(len(tables)))
    found: list[tuple[int, ...]] = []
    for start in sorted(left, key=lambda table: (-len(graph.neighbours(table)), table)):
        if start in left:
            found.append(_walk(graph, start, left, chance, TABLES))
            left.difference_update(found[-1])
    for _ in range(SETS):
        start, most = chance.randrange(len(tables)), chance.randint(1, TABLES)
        found.append(_walk(graph, start, set(range(len(tables))), chance, most))
    sets = dict.fromkeys(tuple(sorted(each)) for each in found)
    return tuple(tuple(tables[number].key for number in each) for each in list(sets)[:SETS])


def _walk(graph: Graph, start: int, allowed: set[int], chance: Random, most: int) -> tuple[int, ...]:
    walk = [start]
    while len(walk) < most:
        following = [each for each in graph.neighbours(walk[-1]) if each in allowed and each not in walk]
        if not following:
            break
        walk.append(chance.choice(following))
    return tuple(walk)


def asking(
    snapshot: Snapshot,
    tables: Sequence[Table],
    named: Sequence[Table],
    values: Mapping[ColumnKey, Sequence[str]],
) -> Prompt:
    """The prompt about some tables. `named`: those that words are wanted for; `values`: that may be shown."""
    shown = [
        f"{table.name}.{column.name}: {', '.join(map(quote_literal, held[:VALUES]))}"
        for table in tables
        for column in table.columns
        if (held := values.get((*table.key, column.name)))
    ]
    return Prompt(
        prompt("made_system"),
        prompt(
            "made_user",
            database=quoted(snapshot.database),
            schema="\n".join(table_text(snapshot, table) for table in tables),
            values="\n".join(shown) or "none",
            names="\n".join(_names(named)) or "none",
        ),
    )


def _names(tables: Sequence[Table]) -> dict[str, ColumnKey]:
    """The names that words are wanted for: of tables, and of columns that are no part of a key."""
    found: dict[str, ColumnKey] = {}
    for table in tables:
        keys = {
            name for key in (table.primary_key, *(one.columns for one in table.foreign_keys)) for name in key
        }
        found[table.name] = (*table.key, WHOLE_TABLE)
        found |= {
            f"{table.name}.{column.name}": (*table.key, column.name)
            for column in table.columns
            if column.name not in keys
        }
    return found


def made(reply: str, tables: Sequence[Table]) -> Made:
    """What a reply says of the tables; lines of no form that was asked for are dropped."""
    names = _names(tables)
    questions: dict[str, None] = {}
    words: dict[ColumnKey, tuple[str, ...]] = {}
    for line in reply.splitlines():
        name, equals, said = line.strip().partition(" = ")
        if line.startswith("?"):
            questions.update(dict.fromkeys(_plain([line[1:]], QUESTION_LENGTH)))
        elif equals and (element := names.get(name)) is not None:
            words[element] = tuple(dict.fromkeys(_plain(said.split(","), WORD_LENGTH)))[:WORDS]
    kept = {element: some for element, some in words.items() if some}
    return Made(tuple(table.key for table in tables), tuple(questions)[:QUESTIONS], kept)


def _plain(texts: Sequence[str], most: int) -> Iterator[str]:
    """Those that are short and on one line, without marks of a prompt's structure."""
    for text in texts:
        bare = quoted(text)[1:-1].strip(" '\".")
        if 1 < len(bare) <= most and any(map(str.isalpha, bare)):
            yield bare
