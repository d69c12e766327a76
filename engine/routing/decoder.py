"""Diverse beam search over sets of tables, along the schema graph.

Owns which sequences are followed and what they add up to. Each group of beams is bound to a database of its own,
which is the diversity penalty of DBCopilot's search (§4.4) driven to its end at the first step: beams of one
database would push all others out. The network, and the constraint that a table must be linked to one chosen
before, stand behind `Sequences`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.intp]
Vectors = NDArray[np.float32]

HOPELESS = -9.0
"""Log-probability below which a step is not taken: one in eight thousand."""


class Sequences(Protocol):
    """n sequences under way, each in one database; `firsts`: (n,), its first table's number."""

    @property
    def firsts(self) -> Numbers:
        """(n,)."""

    def log_probabilities(self) -> Vectors:
        """(n, t + 1): of each table of the database as the next, and, last, of the end."""

    def states(self) -> Vectors:
        """(n, h): the network's hidden state."""

    def follow(self, rows: Numbers, columns: Numbers) -> Sequences:
        """The sequences in `rows`, each with a table added: the one in its column."""


@dataclass(frozen=True, slots=True)
class BeamSettings:
    """`groups`: databases searched. `width`: sequences kept in each. `longest`: tables of a sequence."""

    groups: int = 5
    width: int = 4
    longest: int = 5


@dataclass(frozen=True, slots=True)
class Found:
    """A set of tables. `head`: which of the starts it belongs to. `tables`: in the order first decoded.

    `log_probability`: given the database, over all orders that were followed. `state`: the network's hidden state
    when the set was complete, (h,).
    """

    head: int
    tables: tuple[int, ...]
    log_probability: float
    state: Vectors

    def moved(self, by: int) -> Found:
        """The same with its head's number changed."""
        return replace(self, head=self.head + by)


def search(start: Sequences, settings: BeamSettings) -> tuple[Found, ...]:
    """The sets found from each head (a row of `start`), likeliest first; every set once a head."""
    ended: dict[tuple[int, frozenset[int]], Found] = {}
    sequences = start
    states = start.states()
    live = [Found(head, (), 0.0, states[head]) for head in range(len(states))]
    for length in range(settings.longest + 1):
        shares = sequences.log_probabilities()
        for row, one in enumerate(live):
            if shares[row, -1] > HOPELESS:
                _add(ended, replace(one, log_probability=one.log_probability + float(shares[row, -1])))
        grown = {} if length == settings.longest else _grown(live, shares, sequences.firsts, settings.width)
        if not grown:
            break
        rows = np.array([row for row, _, _ in grown.values()], dtype=np.intp)
        columns = np.array([column for _, column, _ in grown.values()], dtype=np.intp)
        sequences = sequences.follow(rows, columns)
        states = sequences.states()
        live = [replace(one, state=states[n]) for n, (_, _, one) in enumerate(grown.values())]
    return tuple(sorted(ended.values(), key=lambda one: (one.head, -one.log_probability)))


def table_shares(found: Sequence[Found]) -> dict[int, float]:
    """Each table's share of the probability of the sets found from one head."""
    total = sum(np.exp(one.log_probability) for one in found)
    shares: dict[int, float] = {}
    for one in found:
        for table in one.tables:
            shares[table] = shares.get(table, 0.0) + float(np.exp(one.log_probability) / total)
    return shares


_Grown = dict[tuple[int, frozenset[int]], tuple[int, int, Found]]


def _grown(live: Sequence[Found], shares: Vectors, firsts: Numbers, width: int) -> _Grown:
    """The best `width` continuations of each head, as (row, column, sequence) by what they hold."""
    grown: _Grown = {}
    for row, one in enumerate(live):
        best = np.argsort(-shares[row, :-1], kind="stable")[:width]
        for column in best[shares[row, best] > HOPELESS].tolist():
            table = int(firsts[row]) + column
            longer = replace(
                one,
                tables=(*one.tables, table),
                log_probability=one.log_probability + float(shares[row, column]),
            )
            key = (one.head, frozenset(longer.tables))
            held = grown.get(key)
            if held is None:
                grown[key] = (row, column, longer)
            else:
                grown[key] = _likelier(held, (row, column, longer))
    kept: _Grown = {}
    taken: dict[int, int] = {}
    for key, step in sorted(grown.items(), key=lambda item: -item[1][2].log_probability):
        taken[key[0]] = taken.get(key[0], 0) + 1
        if taken[key[0]] <= width:
            kept[key] = step
    return kept


def _likelier(one: tuple[int, int, Found], other: tuple[int, int, Found]) -> tuple[int, int, Found]:
    """The likelier order of the same tables, with the probability of both."""
    row, column, best = max(one, other, key=lambda each: each[2].log_probability)
    both = float(np.logaddexp(one[2].log_probability, other[2].log_probability))
    return row, column, replace(best, log_probability=both)


def _add(ended: dict[tuple[int, frozenset[int]], Found], one: Found) -> None:
    key = (one.head, frozenset(one.tables))
    held = ended.get(key)
    if held is not None:
        both = float(np.logaddexp(held.log_probability, one.log_probability))
        one = replace(max(held, one, key=lambda each: each.log_probability), log_probability=both)
    ended[key] = one
