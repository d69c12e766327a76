"""The library of worked examples that comes with the program: questions and statements over small schemas of our own.

Owns the file `example_library.jsonl`, a schema a line. Which of them a prompt shows: `engine.prompting.example_choice`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources

import msgspec

from engine.conditions.types import Operator


@dataclass(frozen=True, slots=True)
class WorkedExample:
    """A question and its statement. `operators`: all that stand in the statement."""

    question: str
    sql: str
    operators: frozenset[Operator]


@dataclass(frozen=True, slots=True)
class ExampleSchema:
    """A schema with its examples. `tables`: a line each, as `engine.prompting.schema_text` writes them."""

    schema: str
    tables: tuple[str, ...]
    pairs: tuple[WorkedExample, ...]


def example_schemas() -> tuple[ExampleSchema, ...]:
    """The schemas of the library, in the file's order."""
    text = resources.files(__package__).joinpath("example_library.jsonl").read_text(encoding="utf-8")
    return tuple(msgspec.json.decode(line, type=ExampleSchema) for line in text.splitlines())
