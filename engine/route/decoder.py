"""Diverse beam search over sets of tables, along the schema graph (DBCopilot §4.4), each group in one database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.intp]
Vectors = NDArray[np.float32]

FIRST_SHARE = 0.3
"""Score of a table = 0.3 · P(first table) + 0.7 · P(in a decoded set); measured in `docs/routing.md`."""

HOPELESS = 5.0
"""Sequences this far below the likeliest of their head, in log-probability, are dropped: 1 in 150."""


class Sequences(Protocol):
    """n sequences under way, each in one database; `firsts`: (n,), its first table's number."""

    @property
    def firsts(self) -> Numbers:
        """(n,)."""

    def log_probabilities(self) -> Vectors:
        """(n, t + 1): of each table of the database as the next, and, last, of the end."""

    def follow(self, rows: Numbers, columns: Numbers) -> Sequences:
        """The sequences in `rows`, each with a table added: the one in its column."""


@dataclass(frozen=True, slots=True)
class BeamSettings:
    """`groups`: databases searched. `width`: sequences kept in each. `longest`: tables of a sequence."""

    groups: int = 5
    width: int = 4
    longest: int = 4


@dataclass(frozen=True, slots=True)
class Found:
    """A set of tables, of the start `head`, in the order decoded; `log_probability`: over all orders followed."""

    head: int
    tables: tuple[int, ...]
    log_probability: float


def search(start: Sequences, settings: BeamSettings) -> tuple[Found, ...]:
    """The sets found from each head (a row of `start`), likeliest first; every set once a head."""
    ended: dict[_Key, Found] = {}
    sequences = start
    live: list[_Live] = [(head, (), 0.0) for head in range(len(start.firsts))]
    for length in range(settings.longest + 1):
        shares = sequences.log_probabilities()
        for row, (head, tables, so_far) in enumerate(live):
            if tables and shares[row, -1] > -HOPELESS:
                _add(ended, Found(head, tables, so_far + float(shares[row, -1])))
        grown = [] if length == settings.longest else _grown(live, shares, sequences.firsts, settings.width)
        if not grown:
            break
        rows = np.array([row for row, _, _ in grown], dtype=np.intp)
        columns = np.array([column for _, column, _ in grown], dtype=np.intp)
        sequences = sequences.follow(rows, columns)
        live = [one for _, _, one in grown]
    return tuple(sorted(ended.values(), key=lambda one: (one.head, -one.log_probability)))


def table_shares(found: Sequence[Found]) -> dict[int, float]:
    """Each table's share of the probability of the sets found from one head."""
    total = sum(np.exp(one.log_probability) for one in found)
    shares: dict[int, float] = {}
    for one in found:
        for table in one.tables:
            shares[table] = shares.get(table, 0.0) + float(np.exp(one.log_probability) / total)
    return shares


def table_scores(tables: range, firsts: Vectors, found: Sequence[Found]) -> NDArray[np.float64]:
    """(t,): the scores of one database's `tables`, by the sets `found`, else by `firsts`, (t,): log-probabilities."""
    scores: NDArray[np.float64] = np.exp(firsts.astype(np.float64))
    if found:
        scores *= FIRST_SHARE
        for table, share in table_shares(found).items():
            scores[table - tables.start] += (1 - FIRST_SHARE) * share
    return scores


_Key = tuple[int, frozenset[int]]
_Live = tuple[int, tuple[int, ...], float]
"""A sequence under way: its head, its tables, its log-probability."""

_Step = tuple[int, int, _Live]
"""(row it grew from, column added, the longer sequence)."""


def _grown(live: Sequence[_Live], shares: Vectors, firsts: Numbers, width: int) -> list[_Step]:
    """The best `width` continuations of each head; orders of one set merge into the likelier, probabilities summed."""
    grown: dict[_Key, _Step] = {}
    order = np.argsort(-shares[:, :-1], axis=1, kind="stable")[:, :width].tolist()
    start_of, share_of = firsts.tolist(), shares.tolist()
    for row, (head, tables, so_far) in enumerate(live):
        for column in order[row]:
            share = share_of[row][column]
            if share < -HOPELESS:
                break
            longer = (*tables, start_of[row] + column)
            key, total = (head, frozenset(longer)), so_far + share
            held = grown.get(key)
            if held is not None:
                both = float(np.logaddexp(held[2][2], total))
                row_, column_, tables_ = (
                    (held[0], held[1], held[2][1]) if held[2][2] >= total else (row, column, longer)
                )
                grown[key] = (row_, column_, (head, tables_, both))
            else:
                grown[key] = (row, column, (head, longer, total))
    taken: dict[int, list[_Step]] = {}
    for step in sorted(grown.values(), key=lambda step: -step[2][2]):
        kept = taken.setdefault(step[2][0], [])
        if len(kept) < width and (not kept or step[2][2] > kept[0][2][2] - HOPELESS):
            kept.append(step)
    return [step for kept in taken.values() for step in kept]


def _add(ended: dict[_Key, Found], one: Found) -> None:
    key = (one.head, frozenset(one.tables))
    held = ended.get(key)
    if held is not None:
        both = float(np.logaddexp(held.log_probability, one.log_probability))
        one = replace(max(held, one, key=lambda each: each.log_probability), log_probability=both)
    ended[key] = one
