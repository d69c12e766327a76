"""The questions that systems are asked, and the databases that come with them.

Owns which files are read, which questions of them are taken, and that no gold leaves this module: what a system is
given has no field for it. The gold is read by the benchmark's scorer alone (`judging`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from engine.calibration.splits import Split, id_hash, split_of
from schema_catalog.types import Column, ForeignKey, Snapshot, Table, TableKind

Item = Mapping[str, Any]


class Judge(StrEnum):
    """The scorer's subcommand that judges a set."""

    EXECUTION = "ex"
    AMBIQT = "ambiqt"


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """A set by its name in the results. `given`: the asker names the database."""

    name: str
    file: str
    judge: Judge
    given: bool = True


SETS = (
    QuestionSet("spider", "spider/dev.jsonl", Judge.EXECUTION),
    QuestionSet("spider_unrouted", "spider/dev.jsonl", Judge.EXECUTION, given=False),
    QuestionSet("ambiqt_c", "ambiqt/C.jsonl", Judge.AMBIQT),
    QuestionSet("ambiqt_t", "ambiqt/T.jsonl", Judge.AMBIQT),
    QuestionSet("ambiqt_j", "ambiqt/J.jsonl", Judge.AMBIQT),
    QuestionSet("defog", "defog/questions.jsonl", Judge.EXECUTION),
)


@dataclass(frozen=True, slots=True)
class Question:
    """All that a system is told. `database`: the catalog's name for it; None: to be found."""

    id: str
    text: str
    database: str | None


@dataclass(frozen=True, slots=True)
class Views:
    """A database made for one question: a schema of views, and what they would declare were they tables.

    PostgreSQL keeps no keys for views, so that the snapshot comes from the benchmark's own description.
    """

    ddl: str
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the database it needs, where that is not in the catalog."""

    question: Question
    views: Views | None = None


@dataclass(frozen=True, slots=True)
class Selection:
    """Which questions of a set: `n` of them by a seeded hash (None: all), of one half by their text, of one split.

    `skip`: the first so many of them are left out, because choices were made with them in view.
    """

    n: int | None
    seed: int
    half: int | None = None
    split: Split | None = None
    skip: int = 0


def read_items(path: Path) -> list[Item]:
    """The objects of a JSONL file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def asked(bench: Path, of: QuestionSet, selection: Selection) -> tuple[Asked, ...]:
    """The selected questions in the file's order, which keeps the questions on one database together."""
    items = [item for item in read_items(bench / of.file) if _eligible(item, selection)]
    ranked = sorted(items, key=lambda item: _digest(f"{selection.seed}:{item['id']}"))
    last = None if selection.n is None else selection.skip + selection.n
    kept = {item["id"] for item in ranked[selection.skip : last]}
    return tuple(_asked(item, of) for item in items if item["id"] in kept)


def home(item: Item, of: QuestionSet) -> str:
    """The schema that a question's database is in: the catalog's name for it."""
    return _identifier(item["id"]) if of.judge is Judge.AMBIQT else str(item["db"])


def catalogued(bench: Path) -> tuple[str, ...]:
    """The databases that the catalog holds: Spider's, all of them, and Defog's."""
    files = ("spider/schemas.jsonl", "defog/schemas.jsonl")
    return tuple(sorted({item["db"] for name in files for item in read_items(bench / name)}))


def _eligible(item: Item, selection: Selection) -> bool:
    if selection.half is not None and _digest(item["question"]) % 2 != selection.half:
        return False
    return selection.split is None or split_of(id_hash(item["id"])) is selection.split


def _digest(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest(), 16)


def _asked(item: Item, of: QuestionSet) -> Asked:
    # Defog's instructions belong to the question: what "active" means, how names are compared.
    text = " ".join(part for part in (item["question"], item.get("instructions")) if part)
    place = home(item, of)
    question = Question(item["id"], text, place if of.given else None)
    if of.judge is not Judge.AMBIQT:
        return Asked(question)
    return Asked(question, Views(item["ddl_both"].replace("{schema}", place), _snapshot(place, item)))


def _identifier(identity: str) -> str:
    return identity.lower().replace("-", "_")


def _snapshot(schema: str, item: Item) -> Snapshot:
    tables = sorted((_table(schema, table) for table in item["schema_both"]), key=lambda table: table.name)
    return Snapshot(schema, (schema,), tuple(tables))


def _table(schema: str, item: Item) -> Table:
    """A view as what it comes nearest to: without keys for the server, the same rows for everyone."""
    return Table(
        schema,
        item["table"],
        TableKind.MATERIALIZED_VIEW,
        tuple(Column(column["name"], column["type"]) for column in item["columns"]),
        tuple(item["primary_key"]),
        tuple(_names(item.get("unique_keys", ()))),
        tuple(
            ForeignKey((key["column"],), schema, key["ref_table"], (key["ref_column"],))
            for key in item["foreign_keys"]
        ),
    )


def _names(keys: Sequence[str | Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """Keys as tuples of columns, whether the benchmark lists a column or several."""
    for key in keys:
        yield (key,) if isinstance(key, str) else tuple(key)


def by_name(
    names: str | None, known: Sequence[Any], what: str, name: Callable[[Any], str]
) -> tuple[Any, ...]:
    """The members of `known` that a comma-separated list names, in `known`'s order; raises `ValueError`."""
    if names is None:
        return tuple(known)
    wanted = set(names.split(","))
    if unknown := wanted - {name(each) for each in known}:
        raise ValueError(f"no {what} {', '.join(sorted(unknown))}: there are {', '.join(map(name, known))}")
    return tuple(each for each in known if name(each) in wanted)
