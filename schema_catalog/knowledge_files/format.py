"""The YAML file of what a DBA says of databases (`catalog.schema.json`), and where in it something stands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from schema_catalog.knowledge_files.yaml_text import YAMLTextError, dump, line_of, parse
from schema_catalog.store import CatalogError
from schema_catalog.types import DeclaredKey, Sensitivity, Status

MOST_BYTES = 20_000_000
_AT = re.compile(r"(.*) - at `(?:key in )?(\$.*)`\Z", re.DOTALL)
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`\Z", re.DOTALL)

# As the functions of nl_catalog take them.
Description: TypeAlias = Annotated[str, Meta(min_length=1, max_length=2000)] | None
Word = Annotated[str, Meta(min_length=1, max_length=60)]
Words: TypeAlias = Annotated[tuple[Word, ...], Meta(max_length=30)]
Name = Annotated[str, Meta(min_length=1)]


class Cardinality(StrEnum):
    """What the rows of a join's first column are to those of the second."""

    MANY_TO_ONE = "many-to-one"
    ONE_TO_MANY = "one-to-many"
    ONE_TO_ONE = "one-to-one"


class _Block(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    pass


class ColumnBlock(_Block, frozen=True):
    """What is said of a column. `hidden`: not for questions."""

    name: Name
    description: Description = None
    synonyms: Words = ()
    hidden: bool = False
    status: Status | None = None
    sensitivity: Sensitivity | None = None
    unit: Annotated[str, Meta(min_length=1, max_length=40)] | None = None
    time_zone: Name | None = None
    key: DeclaredKey | None = None


class TableBlock(_Block, frozen=True):
    """What is said of a table or view, and of its columns."""

    schema: Name
    name: Name
    description: Description = None
    synonyms: Words = ()
    hidden: bool = False
    status: Status | None = None
    sensitivity: Sensitivity | None = None
    columns: tuple[ColumnBlock, ...] = ()


class JoinBlock(_Block, frozen=True, rename={"column": "from", "referred": "to"}):
    """A declared join of two columns, each [schema, table, column]."""

    column: tuple[Name, Name, Name]
    referred: tuple[Name, Name, Name]
    cardinality: Cardinality = Cardinality.MANY_TO_ONE


class TermBlock(_Block, frozen=True):
    """A term of the business. `definition`: an SQL expression over columns named with their tables."""

    name: Word
    definition: Annotated[str, Meta(min_length=1, max_length=400)]
    description: Description = None


class QueryBlock(_Block, frozen=True):
    """A question with the statement that answers it."""

    question: Annotated[str, Meta(min_length=1, max_length=500)]
    sql: Annotated[str, Meta(min_length=1, max_length=10000)]
    tags: Annotated[tuple[Word, ...], Meta(max_length=20)] = ()


class DatabaseBlock(_Block, frozen=True):
    """All that is said of one registered database; what is not in here is not said."""

    name: Name
    description: Description = None
    synonyms: Words = ()
    hidden: bool = False
    rules: Description = None
    tables: tuple[TableBlock, ...] = ()
    joins: tuple[JoinBlock, ...] = ()
    terms: tuple[TermBlock, ...] = ()
    verified_queries: tuple[QueryBlock, ...] = ()


class KnowledgeFile(_Block, frozen=True, omit_defaults=False):
    """What a DBA says of databases, for `pgparley catalog export`, `diff` and `import`. `version`: of this format."""

    version: Literal[1]
    databases: tuple[DatabaseBlock, ...]

    def elements(self) -> Iterator[tuple[str, tuple[str, ...], str]]:
        """(database, element, path in the file) of every table and column that is named."""
        for n, database in enumerate(self.databases):
            for t, table in enumerate(database.tables):
                path = f"$.databases[{n}].tables[{t}]"
                yield database.name, (table.schema, table.name), f"{path}.name"
                for c, column in enumerate(table.columns):
                    yield database.name, (table.schema, table.name, column.name), f"{path}.columns[{c}].name"
            for j, join in enumerate(database.joins):
                path = f"$.databases[{n}].joins[{j}]"
                yield database.name, join.column, f"{path}.from"
                yield database.name, join.referred, f"{path}.to"


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands. `text`: the YAML in which `path` has a line; None of JSON, which is often one line."""

    name: str
    path: str
    text: str | None = field(default=None, repr=False)

    def __str__(self) -> str:
        if self.text is None:
            return f"{self.name}, {self.path}"
        return f"{self.name}, line {line_of(self.text, self.path)}"

    def below(self, rest: str) -> Place:
        """What stands inside of it."""
        return Place(self.name, self.path + rest, self.text)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that is not taken over, and why."""

    what: str
    reason: str
    place: Place


@dataclass(frozen=True, slots=True)
class Source:
    """A file of knowledge, or one made of a file in another tool's form; `name` for messages.

    `at`: where what stands at a path of `content` came from. `origin`: the tool under which it is imported; None: it
    says what people say.
    """

    name: str
    content: KnowledgeFile
    at: Callable[[str], str] = field(repr=False)
    origin: str | None = None
    left_out: tuple[LeftOut, ...] = ()


def read_file(path: Path) -> Source:
    """The file at `path`; raises `CatalogError`, which says where in the file something is wrong, or `OSError`."""
    with path.open("rb") as file:
        raw = file.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        raise CatalogError(f"{path.name} is too large: {MOST_BYTES // 1_000_000} MB are allowed")
    return read_text(path.name, utf8(path.name, raw))


def utf8(name: str, raw: bytes) -> str:
    """The text of the file called `name`; raises `CatalogError`."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise CatalogError(f"{name}, line {line}: this is not UTF-8") from None


def read_text(name: str, text: str) -> Source:
    """The file called `name` that holds `text`; raises `CatalogError`."""
    try:
        # Not strict: to YAML as it is parsed `true` and `1` are texts, so that a column may be called no.
        content = msgspec.convert(parse(text), KnowledgeFile, strict=False)
    except YAMLTextError as error:
        raise CatalogError(f"{name}, line {error.line}: {error}") from None
    except msgspec.ValidationError as error:
        message, path = located(error)
        if unknown := _UNKNOWN.match(message):
            path += f".{unknown[1]}"
        raise CatalogError(f"{name}, line {line_of(text, path)}: {message} ({path})") from None
    return Source(name, content, lambda path: str(Place(name, path, text)))


def located(error: msgspec.ValidationError) -> tuple[str, str]:
    """What is wrong, and the path of where."""
    match = _AT.match(str(error))
    return (match[1], match[2]) if match else (str(error), "$")


def write_text(content: KnowledgeFile) -> str:
    """`content` as YAML."""
    return dump(msgspec.to_builtins(content))


def json_schema() -> str:
    """The JSON Schema of the format, as it is published."""
    return (
        msgspec.json.format(msgspec.json.encode(msgspec.json.schema(KnowledgeFile)), indent=2).decode() + "\n"
    )
