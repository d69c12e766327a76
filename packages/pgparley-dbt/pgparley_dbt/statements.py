"""What a file of another tool says, and where in it: the vocabulary that the readers of all formats share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from schema_catalog.knowledge_files.format import LeftOut, Place
from schema_catalog.types import TableKey

VENDOR = "pgparley"
"""Under which an exported file has what the form of another tool cannot hold."""


@dataclass(frozen=True, slots=True)
class TableName:
    """A table as the file knows it. `schema`: None where the file does not say."""

    name: str
    schema: str | None = None

    def __str__(self) -> str:
        return self.name if self.schema is None else f"{self.schema}.{self.name}"


@dataclass(frozen=True, slots=True)
class SaidText:
    """What is said of one element. `attributes`: by their names, as the file has them; `rest`: what we put beside."""

    description: str | None
    synonyms: tuple[str, ...]
    place: Place
    attributes: Mapping[str, object] = field(default_factory=dict)
    rest: object = None


@dataclass(frozen=True, slots=True)
class SaidColumn:
    """Of a column. `unique`: no two rows have the same value, and each has one."""

    name: str
    text: SaidText
    unique: bool = False


@dataclass(frozen=True, slots=True)
class SaidTable:
    """Of a table or view, and of its columns."""

    table: TableName
    text: SaidText
    columns: tuple[SaidColumn, ...] = ()


@dataclass(frozen=True, slots=True)
class SaidJoin:
    """Each row of `table` has at most one of `referred`, whose column has an equal value."""

    table: TableName
    column: str
    referred: TableName
    referred_column: str
    place: Place
    unique: bool = False


@dataclass(frozen=True, slots=True)
class SaidMetric:
    """A term of the business. `expression`: SQL, of columns of `tables`, by the names before them, or of `table`.

    `written`: name and expression as they stand in the file.
    """

    names: tuple[str, ...]
    description: str | None
    expression: str
    place: Place
    table: TableName | None = None
    tables: tuple[tuple[str, TableName], ...] = ()
    written: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class Statements:
    """All that files say, in their order, and what of them cannot be said here."""

    tables: tuple[SaidTable, ...] = ()
    joins: tuple[SaidJoin, ...] = ()
    metrics: tuple[SaidMetric, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    about: SaidText | None = None
    """Of the database itself; of several the first."""

    def __add__(self, other: Statements) -> Statements:
        return Statements(
            self.tables + other.tables,
            self.joins + other.joins,
            self.metrics + other.metrics,
            self.left_out + other.left_out,
            self.about or other.about,
        )


@dataclass(frozen=True, slots=True)
class Target:
    """A registered database: its tables, and who defines what: `terms` in lower case, `joins` both ways round."""

    database: str
    tables: Mapping[TableKey, frozenset[str]]
    terms: Mapping[str, str]
    joins: Mapping[tuple[str, str], str]


def stands_at(name: str, places: Mapping[str, Place]) -> Callable[[str], str]:
    """`Source.at` of the file called `name`, of which `places` are known."""

    def at(path: str) -> str:
        while path not in places:
            path = path[: max(path.rfind("."), path.rfind("["))]
            if not path:
                return name
        return str(places[path])

    return at
