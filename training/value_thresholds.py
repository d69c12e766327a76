"""Stored values linked to training questions, with the shipped thresholds and with others. Writes no weights.

    python -m training.value_thresholds --bench FOLDER --work FOLDER [--n N]

A link is right where the known statement compares with one of its values and reads its column. To be found is each text
that the known statement compares with and that a column which it reads holds, in any case. By folds of databases: the
shipped thresholds, and the best of the others by the F1 of the other folds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

import asyncpg
import numpy as np
import sqlglot
from sqlglot import exp

from benchmarks.quality.ablations.drawing import in_turns
from benchmarks.quality.candidates.questions import Item, read_items
from benchmarks.quality.routing.folds import FOLDS, fold_of
from engine.core.elements import ValueLink
from engine.core.state import Route
from engine.linking import match
from engine.linking.element_text import linked
from engine.linking.index import ValueIndex
from engine.linking.source import linked_values
from engine.linking.spans import entities
from engine.linking.value_reader import LENGTH, VALUES, text_columns
from engine.models.encoder import MiniLMEncoder
from engine.settings import EncoderSettings
from schema_catalog.naming import quote_ident
from schema_catalog.types import ColumnKey, Database, Snapshot
from schema_catalog.values import ColumnValues
from training.ambiguous import loaded
from training.conditions import QUESTIONS, snapshots

REMEMBERED = 40_000


@dataclass(frozen=True, slots=True)
class Setting:
    """`more`: added to every least similarity (`match.LEAST`). `asked_for`: as `match.ASKED_FOR`."""

    more: float = 0.0
    asked_for: float = match.ASKED_FOR


SETTINGS = (
    Setting(),
    *(Setting(more=more) for more in (-0.1, -0.05, 0.05, 1.0)),
    *(Setting(asked_for=least) for least in (0.4, 0.6, 2.0)),
)
"""The shipped one first; with the largest of each nothing that is spelt otherwise is linked, or no column of codes."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A training question, its database with its phrases linked, and the values that are stored there."""

    item: Item
    route: Route
    index: ValueIndex

    def links(self, setting: Setting) -> tuple[ValueLink, ...]:
        """As the link stage has them, with other thresholds."""
        least = {kind: min(1.0, value + setting.more) for kind, value in match.LEAST.items()}
        codes = patch.object(match, "ASKED_FOR", setting.asked_for)
        with patch.dict(match.LEAST, least), codes:
            seen = self.index.visible(self.index.columns)
            return linked_values(self.item["question"], self.route, self.index, seen)


@dataclass(frozen=True, slots=True)
class Counted:
    """Of one question: links, those that are right, values to be found, and those found."""

    links: int
    right: int
    wanted: int
    found: int


async def ready(dsn: str, items: Iterable[Item], schemas: Mapping[str, Snapshot]) -> list[Ready]:
    """The questions; reads the values of each database once."""
    encoder = MiniLMEncoder(EncoderSettings(remembered=REMEMBERED))
    indexes: dict[str, ValueIndex] = {}
    connection = await asyncpg.connect(dsn)
    made = []
    for item in items:
        name, snapshot = item["db"], schemas[item["db"]]
        if name not in indexes:
            indexes[name] = ValueIndex([await _values(connection, key) for key in text_columns(snapshot)])
        phrases = linked(entities(item["question"]), snapshot, encoder)
        route = Route(Database(name, "", name, (name,)), snapshot, 1.0, (), phrases)
        made.append(Ready(item, route, indexes[name]))
    await connection.close()
    return [replace(each, route=replace(each.route, values=each.links(Setting()))) for each in made]


async def _values(connection: asyncpg.Connection, key: ColumnKey) -> ColumnValues:
    table, column = ".".join(map(quote_ident, key[:2])), quote_ident(key[2])
    rows = await connection.fetch(
        f"SELECT {column}::text AS v FROM {table} WHERE length({column}::text) BETWEEN 1 AND {LENGTH}"  # noqa: S608 - quoted names
        f" GROUP BY v ORDER BY count(*) DESC, v LIMIT {VALUES + 1}"
    )
    found = tuple(row["v"] for row in rows)
    return ColumnValues(key, found[:VALUES], more=len(found) > VALUES)


def counted(each: Ready, links: Sequence[ValueLink]) -> Counted:
    """The links of a question compared with its known statement."""
    said = {text.casefold() for text in texts(each.item["gold"])}
    read = set(each.item["columns"])
    right = [
        link
        for link in links
        if f"{link.column[1]}.{link.column[2]}" in read
        and not said.isdisjoint(value.casefold() for value in link.values)
    ]
    stored = {value for value in _held(each, read) if value in said}
    linked_to = {value.casefold() for link in right for value in link.values}
    return Counted(len(links), len(right), len(stored), len(stored & linked_to))


def texts(sql: str) -> Iterator[str]:
    """The text literals of a statement, without the signs of a pattern at their ends."""
    tree = sqlglot.parse_one(sql, dialect="postgres")
    yield from (node.this.strip("%") for node in tree.find_all(exp.Literal) if node.is_string)


def _held(each: Ready, read: set[str]) -> Iterator[str]:
    for place, key in enumerate(each.index.columns):
        if f"{key[1]}.{key[2]}" in read:
            yield from (value.casefold() for value in each.index.values(place, VALUES))


def figures(some: Sequence[Counted]) -> dict[str, float]:
    """Precision, recall and F1 of the links of these questions."""
    links, right, wanted, found = (
        np.array([(each.links, each.right, each.wanted, each.found) for each in some], dtype=float)
        .reshape(-1, 4)
        .sum(axis=0)
        .tolist()
    )
    precision, recall = right / max(1.0, links), found / max(1.0, wanted)
    both = 2 * precision * recall / max(1e-9, precision + recall)
    return {"links": links, "wanted": wanted, "precision": precision, "recall": recall, "f1": both}


def report(asked: Sequence[Ready]) -> Iterator[dict[str, object]]:
    """Each setting over all questions; then each fold with the shipped one and with the others' best."""
    folds = [fold_of(each.item["db"]) for each in asked]
    measured = [[counted(each, each.links(setting)) for each in asked] for setting in SETTINGS]
    for setting, some in zip(SETTINGS, measured, strict=True):
        yield {"more": setting.more, "asked_for": setting.asked_for} | _rounded(some)
    crossed: list[Counted] = []
    for fold in range(FOLDS):
        others = [[one for one, at in zip(some, folds, strict=True) if at != fold] for some in measured]
        best = max(range(len(SETTINGS)), key=lambda place: figures(others[place])["f1"])
        here = [[one for one, at in zip(some, folds, strict=True) if at == fold] for some in measured]
        crossed += here[best]
        yield {"fold": fold, "n": len(here[0])} | _rounded(here[0])
        chosen = {"more": SETTINGS[best].more, "asked_for": SETTINGS[best].asked_for}
        yield {"fold": fold, "chosen": chosen} | _rounded(here[best])
    yield {"chosen on the other folds": len(crossed)} | _rounded(crossed)


def _rounded(some: Sequence[Counted]) -> dict[str, object]:
    return {name: round(value, 4) for name, value in figures(some).items()}


def drawn(bench: Path, options: argparse.Namespace) -> list[Item]:
    """The first `n` questions, in turns over the first `databases` databases: both by a seeded hash."""
    items = [item for item in read_items(bench / QUESTIONS) if item["gold_rows"] and item["columns"]]
    turns = in_turns(items, options.seed)
    kept = list(dict.fromkeys(item["db"] for item in turns))[: options.databases]
    return [item for item in turns if item["db"] in kept][: options.n]


async def _run(options: argparse.Namespace, dsn: str) -> None:
    items = drawn(options.bench, options)
    for line in report(await ready(dsn, items, snapshots(options.bench))):
        sys.stdout.write(json.dumps(line) + "\n")


def main() -> int:
    """Prints the figures, a line each in JSON; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bench", type=Path, required=True, help="the data's folder")
    parser.add_argument("--work", type=Path, required=True, help="for PostgreSQL's data")
    parser.add_argument(
        "--n", type=int, default=2_000, help="questions, as many from each database as there are"
    )
    parser.add_argument("--databases", type=int, help="this many of them (default: all)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with loaded(options.bench, options.work / "postgres") as dsn:
        asyncio.run(_run(options, dsn))
    return 0


if __name__ == "__main__":
    sys.exit(main())
