"""A schema is asked before anybody asks (DBCopilot §4.3): which tables belong together, and what people say of them.

The paper samples schemas by random walks over the schema graph and trains a model that questions them; here the
configured model is asked. Owns the walks, the prompt, and which lines of a reply are taken; no SQL is written or run.
When the model is asked, and who may see what it says, is decided elsewhere.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from random import Random
from zlib import crc32

from engine.link.standing import is_sensitive
from engine.llm.prompts import prompt
from engine.llm.replies import spoken
from engine.statement.masked import said_masked
from engine.statement.written import quoted
from engine.values.ports import Prompt
from engine.values.schema_graph import Graph
from engine.write.schema_text import CHARACTERS, schema_text, table_text
from schema_catalog.made_store import Made
from schema_catalog.naming import quote_literal
from schema_catalog.types import Column, ColumnKey, Snapshot, Table, TableKey

TABLES, SETS = 3, 8
"""Tables of a walk, and walks over a database, at most."""

QUESTIONS, WORDS, NAMES = 4, 5, 60
"""Of one prompt: questions, words for each name, and names that words are wanted for."""

QUESTION_LENGTH, WORD_LENGTH = 160, 40
VALUES = 5
"""Of a column, that the model is shown; the commonest."""

_TOKENS = 30, 16
"""Of a question, and of the words for a name."""

_FORM = """start: {lines}
question: "? " /[^\\s"`|?][^\\n"`|]{{8,120}}/ "\\n"
words: WORD (", " WORD)~0..4
WORD: /[^\\s,="`|][^\\n,="`|]{{1,24}}/
"""


@dataclass(frozen=True, slots=True)
class Topic:
    """Tables that are asked about together. `text`: their schema; `names`: what words are wanted for."""

    database: str
    tables: tuple[Table, ...]
    text: str
    names: Mapping[str, tuple[str, ...]]

    @property
    def keys(self) -> tuple[TableKey, ...]:
        """Of its tables."""
        return tuple(table.key for table in self.tables)

    @property
    def reads(self) -> tuple[ColumnKey, ...]:
        """The columns that the model sees."""
        return tuple((*table.key, column.name) for table in self.tables for column in table.columns)

    @property
    def fingerprint(self) -> str:
        """Another one where the model would see another schema."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def tokens(self) -> int:
        """Of an answer at most."""
        return _TOKENS[0] * QUESTIONS + _TOKENS[1] * len(self.names)

    def grammar(self) -> str:
        """The answer's form in Lark."""
        lines = " ".join(f'({json.dumps(f"{name} = ")} words "\\n")?' for name in self.names)
        return _FORM.format(lines=f"question~{QUESTIONS} {lines}")


def topics(snapshot: Snapshot) -> tuple[Topic, ...]:
    """Of a database, for `SETS` prompts at most: linked tables, without what is masked. Blocks: call it in a thread.

    Words are wanted for a table where it comes first.
    """
    if masked := said_masked(snapshot):
        columns = ((*table.key, column.name) for table, column in snapshot.columns())
        snapshot = snapshot.restricted_to(frozenset(key for key in columns if key not in masked))
    tables = {table.key: replace(table, synonyms=(), columns=_bare(table)) for table in snapshot.tables}
    found, before = dict[tuple[TableKey, ...], Topic](), set[TableKey]()
    for keys in walks(snapshot):
        shown = tuple(tables[key] for key in keys)
        text = "\n".join(table_text(snapshot, table) for table in shown)
        if len(text) > CHARACTERS:
            text, part = schema_text(replace(snapshot, tables=shown), keys)
            shown = part.tables
        names = _names((table for table in shown if table.key not in before), shown)
        topic = Topic(snapshot.database, shown, text, names)
        # What is left of a wide walk may be another one: what is made is kept by its tables.
        if shown and found.setdefault(topic.keys, topic) is topic:
            before.update(topic.keys)
    return tuple(found.values())


def _bare(table: Table) -> tuple[Column, ...]:
    return tuple(replace(column, synonyms=()) for column in table.columns)


def walks(snapshot: Snapshot) -> tuple[tuple[TableKey, ...], ...]:
    """Sets of linked tables, `SETS` at most: the same for the same tables and keys, and few others for a changed one.

    Each table is in one of the first sets as far as these reach, tables with more links first; then come walks from
    where chance wants (the paper's V₁ … Vₖ), none twice.
    """
    graph, tables = Graph.of(snapshot), snapshot.tables
    left = set(range(len(tables)))
    found: list[tuple[int, ...]] = []
    for start in sorted(left, key=lambda table: (-len(graph.neighbours(table)), table)):
        if start in left:
            found.append(_walk(graph, tables, start, left, TABLES))
            left.difference_update(found[-1])
        if len(found) == SETS:
            break
    every = set(range(len(tables)))
    # By the tables' names: a new table changes few of the walks.
    for start in sorted(every, key=lambda table: crc32(repr(tables[table].key).encode()))[:SETS]:
        most = Random(f"most {tables[start].key}").randint(1, TABLES)  # noqa: S311 - nothing is secret here
        found.append(_walk(graph, tables, start, every, most))
    sets = dict.fromkeys(tuple(sorted(each)) for each in found)
    return tuple(tuple(tables[number].key for number in each) for each in list(sets)[:SETS])


def _walk(graph: Graph, tables: Sequence[Table], start: int, allowed: set[int], most: int) -> tuple[int, ...]:
    chance, walk = Random(f"walk {tables[start].key}"), [start]  # noqa: S311 - as above
    while len(walk) < most:
        following = [each for each in graph.neighbours(walk[-1]) if each in allowed and each not in walk]
        if not following:
            break
        walk.append(chance.choice(following))
    return tuple(walk)


def _names(wanted: Iterable[Table], shown: Sequence[Table]) -> dict[str, tuple[str, ...]]:
    """Names of tables, and of columns that are no part of a key, each with its element."""
    bare = [table.name for table in shown]
    found: dict[str, tuple[str, ...]] = {}
    for table in wanted:
        keyed = {*table.primary_key, *(name for key in table.foreign_keys for name in key.columns)}
        name = table.name if bare.count(table.name) == 1 else ".".join(table.key)
        found[name] = table.key
        found |= {
            f"{name}.{each.name}": (*table.key, each.name) for each in table.columns if each.name not in keyed
        }
    printable = (each for each in found.items() if each[0].isprintable() and " = " not in each[0])
    return dict(list(printable)[:NAMES])


def asking(topic: Topic, values: Mapping[ColumnKey, Sequence[str]]) -> Prompt:
    """The prompt. `values`: of columns whose values may be shown; those of sensitive ones are left out all the same."""
    shown = [
        f"{table.name}.{column.name}: {', '.join(map(quote_literal, held[:VALUES]))}"
        for table in topic.tables
        for column in table.columns
        if (held := values.get((*table.key, column.name))) and not is_sensitive(column)
    ]
    return Prompt(
        prompt("made_system"),
        prompt(
            "made_user",
            database=quoted(topic.database),
            schema=topic.text,
            values="\n".join(shown) or "none",
            names="\n".join(topic.names) or "none",
        ),
    )


def made(reply: str, topic: Topic, hidden: Iterable[str] = ()) -> Made:
    """What a reply says of a topic, without lines that have another form, or a mark of `hidden`."""
    marks = tuple(hidden)
    questions: dict[str, None] = {}
    words: dict[tuple[str, ...], tuple[str, ...]] = dict.fromkeys(topic.names.values(), ())
    for line in spoken(reply).splitlines():
        name, equals, said = line.strip().partition(" = ")
        if any(mark in line for mark in marks):
            continue
        if line.startswith("?"):
            questions.update(dict.fromkeys(_taken([line[1:]], QUESTION_LENGTH)))
        elif equals and (element := topic.names.get(name)) is not None:
            found = {folded(word): word for word in _taken(said.split(","), WORD_LENGTH)}
            found.pop(folded(element[-1]), None)
            words[element] = tuple(found.values())[:WORDS]
    return Made(topic.keys, topic.reads, tuple(questions)[:QUESTIONS], words)


def _taken(texts: Iterable[str], most: int) -> Iterator[str]:
    return (text for text in map(plain_words, texts) if takes(text, most))


def plain_words(text: str) -> str:
    """On one line, without quotes around it and marks of a prompt's structure."""
    return quoted(text)[1:-1].strip("' .")


def takes(text: str, most: int) -> bool:
    """Whether `text` is some words, none of them again and again, without characters that are not shown."""
    shown = all(unicodedata.category(character) not in {"Cc", "Cf", "Cs"} for character in text)
    words = text.casefold().split()
    stammers = any(word == following for word, following in pairwise(words))
    return 1 < len(text) <= most and shown and any(map(str.isalpha, text)) and not stammers


def folded(text: str) -> str:
    """Its letters and digits, in small letters."""
    return "".join(filter(str.isalnum, text.casefold()))
