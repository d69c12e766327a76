"""The world's airports, from the data package airportsdata, and the countries of tzdata's ISO 3166 list."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from pgparley.demo.loading import Copy, data_file, open_file, rows_csv

_COUNTRY_NAMES = {"GB": "United Kingdom", "KP": "North Korea", "KR": "South Korea", "XK": "Kosovo"}
"""Where the list abbreviates or has no entry."""


def copies() -> Iterator[Copy]:
    """Countries first: the airports refer to them."""
    yield Copy("countries", rows_csv(_countries()), header=False)
    yield Copy(
        "airports",
        partial(open_file, "airportsdata", "airportsdata/airports.csv"),
        force_null=("iata", "city", "subdivision", "faa_lid"),
    )
    yield Copy("metro_airports", partial(open_file, "airportsdata", "airportsdata/iata_macs.csv"))


def _countries() -> list[tuple[str, str]]:
    lines = data_file("tzdata", "tzdata/zoneinfo/iso3166.tab").read_text("utf-8").splitlines()
    listed = dict(line.split("\t", 1) for line in lines if not line.startswith("#"))
    return sorted((listed | _COUNTRY_NAMES).items())
