"""Names of a schema's elements, and what a question's phrases and a statement's literals mean among them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from engine.question.dimensions import Dimension
from schema_catalog.personal import PersonalKind
from schema_catalog.types import ColumnKey, TableKey, Term

WHOLE_TABLE = "*"
"""The column of a `ColumnKey` that stands for its table: masked, nothing of the table may be named."""

WHOLE_NUMBERS = ("smallint", "integer", "bigint")
NUMBERS = (*WHOLE_NUMBERS, "numeric", "real", "double precision")
DATED = ("date", "timestamp")
"""How the names of types begin."""


def elements_read(columns: Iterable[ColumnKey], tables: Iterable[TableKey]) -> frozenset[ColumnKey]:
    """The elements that a statement over `columns` and `tables` reads."""
    return frozenset(columns).union((*table, WHOLE_TABLE) for table in tables)


def elements_of(term: Term) -> frozenset[ColumnKey]:
    """What a term reads, each column's table among it."""
    columns = ((schema, table, column) for schema, table, column in filter(lambda each: each[2:], term.reads))
    return elements_read(columns, ((each[0], each[1]) for each in term.reads))


def plain_name(element: ColumnKey) -> str:
    """`singer`, or `singer.country`: for people and models, not for SQL."""
    return element[1] if element[2] == WHOLE_TABLE else f"{element[1]}.{element[2]}"


def is_masked(element: ColumnKey, mask: Container[ColumnKey]) -> bool:
    """Whether `mask` holds the element itself or its whole table."""
    return element in mask or (*element[:2], WHOLE_TABLE) in mask


@dataclass(frozen=True, slots=True)
class Entity:
    """A phrase of the question with its cosine to each element of a schema, in [-1, 1].

    An element is a column, or with the column `*` a table as a whole.
    """

    text: str
    similarities: dict[ColumnKey, float]


@dataclass(frozen=True, slots=True)
class LinkedDimension:
    """A dimension with its cosine to each element of a schema."""

    asked: Dimension
    cosines: Mapping[ColumnKey, float]


def linked_dimensions(asked: Iterable[Dimension], entities: Iterable[Entity]) -> tuple[LinkedDimension, ...]:
    """Those that a question asks for; `entities`: its own, linked."""
    cosines = {each.text: each.similarities for each in entities}
    return tuple(LinkedDimension(each, cosines.get(each.text, {})) for each in asked)


class Relation(StrEnum):
    """How a column and the values of a link go together."""

    EQUALS = "="
    SUCH_AS = "such as"
    ONE_OF = "one of"


@dataclass(frozen=True, slots=True)
class ValueLink:
    """A span of the question linked to values of one column, as they are stored.

    `span`: as in the question; empty where the question is near to the column and `values` are all that it has.
    `similarity` in [0, 1]. `coded`: the values are codes, and the span is what the column's comment says of them.
    """

    span: str
    column: ColumnKey
    values: tuple[str, ...]
    similarity: float
    relation: Relation
    coded: bool = False


@dataclass(frozen=True, slots=True)
class ValueList:
    """All values of a column that the asker may read, as they are stored."""

    column: ColumnKey
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """What a prompt may say of a column's kept values. `personal`: they are of that kind, so that it says nothing.

    `values`: all where they are `whole`, else the commonest. `least`, `greatest`: of numbers and times.
    """

    column: ColumnKey
    values: tuple[str, ...] = ()
    whole: bool = False
    least: str | None = None
    greatest: str | None = None
    personal: PersonalKind | None = None


@dataclass(frozen=True, slots=True)
class ColumnContent:
    """Expressions that read what a column holds in JSON or as a text, with `{}` for the column.

    `date_form`: of the days that a column of text holds, as `to_date` takes it.
    """

    column: ColumnKey
    expressions: tuple[str, ...]
    date_form: str | None = None


@dataclass(frozen=True, slots=True)
class NearValues:
    """Stored values of a column that a text may mean which it does not hold, the nearest first.

    `sure`: they are the text in another spelling. `whole`: they were sought among all values that the column had.
    """

    values: tuple[str, ...] = ()
    sure: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True)
class BranchingPoint:
    """A decision of the linker that may be where it goes astray (RTS §3.1).

    `element`: what was decided about. `linked`: what was decided. `alternatives`: what may be meant in its place or
    beside it, likeliest first.
    """

    element: ColumnKey
    linked: bool
    alternatives: tuple[ColumnKey, ...] = ()


@dataclass(frozen=True, slots=True)
class SchemaLinks:
    """What a question is about in one schema. An element is a column, or with the column `*` a table as a whole.

    `probabilities`: in [0, 1], that a statement which answers reads the element. `linked`: those decided to be read.
    `branching`: decisions that may be wrong. `answerable` in [0, 1]: that the schema holds what is asked for.
    """

    probabilities: Mapping[ColumnKey, float]
    linked: frozenset[ColumnKey]
    branching: tuple[BranchingPoint, ...]
    answerable: float


@dataclass(frozen=True, slots=True)
class TableSet:
    """Tables that were decoded together, in that order.

    `probability`: given the database.
    """

    tables: tuple[TableKey, ...]
    probability: float


@dataclass(frozen=True, slots=True)
class UnknownPhrase:
    """A word of the question that nothing stands for. `nearest`: the closest element, and its `cosine` in [-1, 1].

    `looked`: the columns of text in whose rows it was looked for as well, in any case; `unlooked`: how many others the
    asker may read.
    """

    text: str
    nearest: ColumnKey | None
    cosine: float
    looked: tuple[ColumnKey, ...] = ()
    unlooked: int = 0


@dataclass(frozen=True, slots=True)
class Literal:
    """A text that a statement compares a column with. `pattern`: as LIKE (or ILIKE, `any_case`) does, else equal.

    `negated`: rows with the text are left out. `member`: it is looked for among the members of an array.
    """

    column: ColumnKey
    text: str
    pattern: bool = False
    any_case: bool = False
    negated: bool = False
    member: bool = False


@dataclass(frozen=True, slots=True)
class LiteralCheck:
    """Which of a statement's literals its columns hold. `unknown`: those that could not be looked for.

    `in_any_case`: of the missing ones those that are stored with other capital letters.
    """

    present: tuple[Literal, ...] = ()
    missing: tuple[Literal, ...] = ()
    unknown: tuple[Literal, ...] = ()
    in_any_case: tuple[Literal, ...] = ()

    @property
    def all_invented(self) -> bool:
        """Whether there are texts that rows are to have and none of them occurs."""
        wanted = [each for each in self.missing if not each.negated]
        return bool(wanted) and all(each.negated for each in self.present)
