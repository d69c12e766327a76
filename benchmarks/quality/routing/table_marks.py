"""Marks of decoded tables and sets against the right ones, and figures of marks with paired intervals over databases.

Owns recall, average precision and the place of the right set; which searches are marked is `decoding`'s matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.resampling import Estimate, estimate

Element = TypeVar("Element")

MEASURES = ("table_r5", "table_r15", "table_map", "set_found", "set_first", "set_map", "milliseconds")
"""Figures of a system; all but the last are shares."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What one system made of one question.

    `given`: the right database was given. `table_r5`, `table_r15`: recall of the right tables. `table_map`: average
    precision of the ranked tables. `set_rank`: of the right set among the decoded ones, None where it is not there.
    `milliseconds` of processor time, of the search alone.
    """

    system: str
    given: bool
    table_r5: float
    table_r15: float
    table_map: float
    set_rank: int | None
    milliseconds: float

    def values(self) -> tuple[float, ...]:
        """In the order of `MEASURES`; a set's average precision is one over its rank."""
        rank = self.set_rank
        sets = (0.0, 0.0, 0.0) if rank is None else (1.0, float(rank == 1), 1 / rank)
        return (self.table_r5, self.table_r15, self.table_map, *sets, self.milliseconds)


@dataclass(frozen=True, slots=True)
class Marked:
    """A question with its marks. `tables`: how many are right. `linked`: whether the graph connects these.

    `database_rank`: of the right database among all. `milliseconds` of processor time before any search.
    """

    id: str
    wording: str
    database: str
    tables: int
    linked: bool
    database_rank: int
    milliseconds: float
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A system over n questions about so many databases.

    `means`: in the order of `MEASURES`; `differences`: from the system it is compared with, question by question.
    """

    system: str
    given: bool
    tables: str
    n: int
    databases: int
    means: tuple[float, ...]
    differences: tuple[Estimate, ...]


def average_precision(ranked: Sequence[Element], right: frozenset[Element]) -> float:
    """The mean over the right elements of the precision at each one's place; 0 for one that is not ranked."""
    found, total = 0, 0.0
    for place, one in enumerate(ranked, start=1):
        if one in right:
            found += 1
            total += found / place
    return total / len(right)


def recall(ranked: Sequence[Element], right: frozenset[Element], first: int) -> float:
    """The share of the right elements among the first ones."""
    return len(right.intersection(ranked[:first])) / len(right)


def marked(
    system: str,
    ranked: Sequence[Element],
    sets: Sequence[frozenset[Element]],
    right: frozenset[Element],
    *,
    given: bool,
    milliseconds: float,
) -> Mark:
    """`ranked`: tables, best first. `sets`: likeliest first."""
    return Mark(
        system=system,
        given=given,
        table_r5=recall(ranked, right, 5),
        table_r15=recall(ranked, right, 15),
        table_map=average_precision(ranked, right),
        set_rank=sets.index(right) + 1 if right in sets else None,
        milliseconds=milliseconds,
    )


def write(file: Path, some: Iterable[Marked]) -> None:
    """Writes a journal, whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    made = file.with_suffix(".new")
    made.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in some))
    made.replace(file)


def read(file: Path) -> list[Marked]:
    """A journal."""
    return [msgspec.json.decode(line, type=Marked) for line in file.read_bytes().splitlines()]


def lines(some: Sequence[Marked], *, against: str) -> Iterator[Line]:
    """Every system with and without the database given, over all questions and by the number of right tables."""
    classes = {"all": (1, 99), "1": (1, 1), "2": (2, 2), "3+": (3, 99)}
    keys = dict.fromkeys((mark.system, mark.given) for each in some for mark in each.marks)
    for name, (least, most) in classes.items():
        chosen = [each for each in some if least <= each.tables <= most]
        if chosen:
            table = {key: _values(chosen, key) for key in keys}
            owners = [each.database for each in chosen]
            for (system, given), values in table.items():
                yield _line(system, name, owners, values, table[against, given], given=given)


def _values(some: Sequence[Marked], key: tuple[str, bool]) -> NDArray[np.float64]:
    """(n, measures)."""
    return np.array(
        [next(mark.values() for mark in each.marks if (mark.system, mark.given) == key) for each in some]
    )


def _line(
    system: str,
    tables: str,
    owners: Sequence[str],
    values: NDArray[np.float64],
    other: NDArray[np.float64],
    *,
    given: bool,
) -> Line:
    return Line(
        system=system,
        given=given,
        tables=tables,
        n=len(values),
        databases=len(set(owners)),
        means=tuple(values.mean(0).tolist()),
        differences=tuple(estimate(column, owners) for column in (values - other).T),
    )
