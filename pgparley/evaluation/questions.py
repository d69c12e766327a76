"""A file of questions whose answer is known: a YAML list, or JSON lines, of question, sql and database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import yaml

from engine.evaluation.types import VerifiedQuery
from pgparley.terminal import fail

_SHAPE = "A question is {question: …, sql: …, database: …}, in a YAML list or one a line as JSON."
_JSON_LINES = frozenset({".jsonl", ".ndjson"})


class _Question(msgspec.Struct, forbid_unknown_fields=True):
    question: str
    sql: str
    database: str | None = None


def read_questions(path: Path, database: str | None) -> tuple[VerifiedQuery, ...]:
    """The questions of the file; raises `typer.Exit` where it cannot be read or holds anything else.

    `database`: of those that name none; the others' have to be the same, or they are left out.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        fail(f"cannot read {path}: {problem}", _SHAPE)
    try:
        entries = list(_json_lines(text) if path.suffix in _JSON_LINES else _yaml(text))
    except (msgspec.MsgspecError, yaml.YAMLError) as problem:
        fail(f"{path}: {problem}", _SHAPE)
    found = []
    for number, entry in enumerate(entries, 1):
        try:
            read = msgspec.convert(entry, _Question)
        except msgspec.ValidationError as problem:
            fail(f"{path}, question {number}: {problem}", _SHAPE)
        name = read.database or database
        if name is None:
            fail(f"{path}, question {number}: it names no database", "Add database:, or say --database.")
        if database in {None, name}:
            found.append(VerifiedQuery(read.question, name, read.sql))
    return tuple(found)


def _json_lines(text: str) -> Iterator[object]:
    return (msgspec.json.decode(line) for line in text.splitlines() if line.strip())


def _yaml(text: str) -> list[object]:
    found = yaml.safe_load(text)
    if not isinstance(found, list):
        raise yaml.YAMLError("it is no list")
    return found
