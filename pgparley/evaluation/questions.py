"""A file of questions whose answer is known, for `eval`: a YAML list, or JSON lines."""

from __future__ import annotations

from pathlib import Path

import msgspec
import yaml

from engine.values.calibration import KnownQuestion
from pgparley.terminal import fail

_SHAPE = "A question is {question: …, sql: …, database: …}, in a YAML list or one a line as JSON."
_JSON_LINES = frozenset({".jsonl", ".ndjson"})


class _Question(msgspec.Struct, forbid_unknown_fields=True):
    question: str
    sql: str
    database: str = ""


def read_questions(path: Path, database: str | None = None) -> tuple[KnownQuestion, ...]:
    """The questions of the file; `database`: of those that name none, and no other's. Raises `typer.Exit`."""
    found = []
    for number, entry in enumerate(_entries(path), 1):
        try:
            each = msgspec.convert(entry, _Question)
        except msgspec.ValidationError as problem:
            fail(f"{path}, question {number}: {problem}", _SHAPE)
        name = each.database or database
        if not name:
            fail(f"{path}, question {number}: it names no database", "Add database:, or say --database.")
        # Questions that a model made wait for somebody to say what answers them.
        if database in {None, name} and each.sql.strip():
            found.append(KnownQuestion(each.question, name, each.sql))
    return tuple(found)


def _entries(path: Path) -> list[object]:
    try:
        text = path.read_text("utf-8")
        if path.suffix in _JSON_LINES:
            lines = enumerate(text.splitlines(), 1)
            return [_decoded(path, number, line) for number, line in lines if line.strip()]
        entries = yaml.safe_load(text)
    except (OSError, UnicodeDecodeError) as problem:
        fail(f"cannot read {path}: {problem}", _SHAPE)
    except yaml.YAMLError as problem:
        fail(f"{path}: {problem}", _SHAPE)
    if not isinstance(entries, list):
        fail(f"{path}: it is no list", _SHAPE)
    return entries


def _decoded(path: Path, number: int, line: str) -> object:
    try:
        return msgspec.json.decode(line)
    except msgspec.DecodeError as problem:
        fail(f"{path}, line {number}: {problem}", _SHAPE)
