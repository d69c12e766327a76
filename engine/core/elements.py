"""Names of a schema's elements, and what a question's phrases mean among them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from schema_catalog.types import ColumnKey

WHOLE_TABLE = "*"
"""The column of a `ColumnKey` that stands for its table: masked, nothing of the table may be named."""


@dataclass(frozen=True, slots=True)
class Entity:
    """A phrase of the question and its similarity to each element of a schema, a cosine in [-1, 1].

    An element is a column, or with the column `*` a table as a whole.
    """

    text: str
    similarities: dict[ColumnKey, float]


class Relation(StrEnum):
    """How a column and the values of a link go together."""

    EQUALS = "="
    SUCH_AS = "such as"
    ONE_OF = "one of"


@dataclass(frozen=True, slots=True)
class ValueLink:
    """A part of the question and what it means in the database: values of one column, as stored there.

    `span`: as the question has it; empty where the column is asked for and these are all its values.
    `similarity` in [0, 1].
    """

    span: str
    column: ColumnKey
    values: tuple[str, ...]
    similarity: float
    relation: Relation
