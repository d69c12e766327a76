"""The decoder's steps while answering: `engine.models.network.Network`'s arithmetic in numpy, a database at a time.

Owns no weight: it reads a trained network's. Training takes the same steps in torch (`engine.models.sequences`), where
a step costs as much for one table as for thousands. A database's tables are a slice of the survey's arrays, so nothing
is copied or padded. Heavy: imports torch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from engine.models.network import FIRST, HIDDEN, NOWHERE, UNIT, Ground, Network, Survey
from engine.routing.graph import EdgeKind

Vectors = NDArray[np.float32]
Numbers = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class StepWeights:
    """The weights of a step; see `Network`. `inputs`, `hidden`: the cell's matrices, (HIDDEN, 3 · HIDDEN)."""

    inputs: Vectors
    input_bias: Vectors
    hidden: Vectors
    hidden_bias: Vectors
    link: Vectors
    stop: Vectors
    stop_bias: float
    table: dict[str, float]
    later: dict[str, float]
    end: dict[str, float]

    @staticmethod
    def of(network: Network) -> StepWeights:
        """Shares the network's memory."""
        cell = network.cell
        return StepWeights(
            inputs=_array(cell.weight_ih).T,
            input_bias=_array(cell.bias_ih),
            hidden=_array(cell.weight_hh).T,
            hidden_bias=_array(cell.bias_hh),
            link=_array(network.link),
            stop=_array(network.stop.weight)[0],
            stop_bias=network.stop.bias.item(),
            table={name: value.item() for name, value in network.table.items()},
            later={name: value.item() for name, value in network.later.items()},
            end={name: value.item() for name, value in network.end.items()},
        )

    def enter(self, state: Vectors, names: Vectors) -> Vectors:
        """See `Network.enter`: a step of a gated recurrent unit, (n, HIDDEN)."""
        given = (names * np.float32(UNIT)) @ self.inputs + self.input_bias
        held = state @ self.hidden + self.hidden_bias
        gates = 1 / (1 + np.exp(-(given + held)[:, : 2 * HIDDEN]))
        reset, update = gates[:, :HIDDEN], gates[:, HIDDEN:]
        fresh = np.tanh(given[:, 2 * HIDDEN :] + reset * held[:, 2 * HIDDEN :])
        following: Vectors = fresh + update * (state - fresh)
        return following


@dataclass(frozen=True, slots=True)
class Head:
    """One database of t tables for one question of m tokens.

    `first`: its first table. `links`: of each table, by number in the field. `names`: (t, HIDDEN). `opening`, `later`:
    (t,), the logits of a first and of a further table, without what depends on the tables chosen. `closest`: (m, t).
    `weights`, `best`: (m,), of the tokens, and their largest cosines.
    """

    step: StepWeights
    first: int
    links: tuple[dict[int, int], ...]
    names: Vectors
    opening: Vectors
    later: Vectors
    closest: Vectors
    weights: Vectors
    best: Vectors
    constrained: bool


@dataclass(frozen=True, slots=True)
class Beams:
    """`engine.routing.decoder.Sequences` of one head: n sets of tables under way, all as large.

    `state`: (n, HIDDEN). `covered`: (n, m), the largest cosine of each token among the chosen tables. `chosen`: (n, t).
    `kinds`: (n, t), the link of each table to the chosen ones, -1 for none; None before the first.
    """

    head: Head
    state: Vectors
    covered: Vectors
    chosen: NDArray[np.bool_]
    kinds: Numbers | None = None

    @property
    def firsts(self) -> Numbers:
        """(n,)."""
        return np.full(len(self.state), self.head.first, dtype=np.intp)

    def log_probabilities(self) -> Vectors:
        """(n, t + 1): of each table, and of the end."""
        logits = self._logits()
        logits -= logits.max(axis=1, keepdims=True)
        shares: Vectors = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        return shares

    def states(self) -> Vectors:
        """(n, HIDDEN)."""
        return self.state

    def follow(self, rows: Numbers, columns: Numbers) -> Beams:
        """The sets in `rows`, each with the table in its of `columns` added."""
        head = self.head
        chosen = self.chosen[rows]
        chosen[np.arange(len(rows)), columns] = True
        return replace(
            self,
            state=head.step.enter(self.state[rows], head.names[columns]),
            covered=np.maximum(self.covered[rows], head.closest[:, columns].T),
            chosen=chosen,
            kinds=self._kinds(rows, columns, chosen),
        )

    def _logits(self) -> Vectors:
        """See `Network.point`."""
        head, step = self.head, self.head.step
        count, tables = self.chosen.shape
        logits = np.full((count, tables + 1), NOWHERE, dtype=np.float32)
        bilinear = self.state @ head.names.T
        if self.kinds is None:
            logits[:, :-1] = head.opening + bilinear + step.link[FIRST]
            return logits
        allowed = self.kinds >= 0
        more = head.weights @ np.maximum(head.closest - self.covered[:, :, None], 0)
        further = head.later + step.later["gain"] * more + bilinear + step.link[self.kinds]
        logits[:, :-1] = np.where(allowed, further, NOWHERE)
        logits[:, -1] = (
            self.state @ step.stop
            + step.stop_bias
            + step.end["best_gain"] * (more * allowed).max(axis=1)
            + step.end["uncovered"] * ((head.best - self.covered) @ head.weights)
        )
        return logits

    def _kinds(self, rows: Numbers, columns: Numbers, chosen: NDArray[np.bool_]) -> Numbers:
        """DBCopilot's constraint (§4.4): a further table is linked to one chosen before."""
        head = self.head
        if self.kinds is None:
            kinds = np.full(chosen.shape, -1 if head.constrained else EdgeKind.IMPLIED, dtype=np.intp)
        else:
            kinds = self.kinds[rows]
        for row, column in enumerate(columns.tolist()):
            for table, kind in head.links[head.first + column].items():
                held = kinds[row, table - head.first]
                kinds[row, table - head.first] = kind if held < 0 else min(kind, held)
        kinds[chosen] = -1
        return kinds


def begin(
    step: StepWeights, ground: Ground, survey: Survey, row: int, database: int, *, constrained: bool
) -> Beams:
    """The empty set of tables of a database, for the question in `row`."""
    tables = ground.field.tables_of(database)
    held = slice(tables.start, tables.stop)
    late, text, words = (_array(each)[row, held] for each in (survey.late, survey.text, survey.words))
    closest = _array(survey.closest)[row, :, held]
    head = Head(
        step=step,
        first=tables.start,
        links=ground.field.links,
        names=_array(survey.names.tables)[held],
        opening=step.table["late"] * late + step.table["text"] * text + step.table["words"] * words,
        later=step.later["late"] * late + step.later["text"] * text + step.later["words"] * words,
        closest=closest,
        weights=_array(survey.weights)[row],
        best=closest.max(axis=1),
        constrained=constrained,
    )
    name = _array(survey.names.databases)[database][None]
    return Beams(
        head=head,
        state=step.enter(_array(survey.state)[row][None], name),
        covered=np.zeros((1, len(closest)), dtype=np.float32),
        chosen=np.zeros((1, len(tables)), dtype=bool),
    )


def _array(values: Tensor) -> Vectors:
    found: Vectors = values.detach().numpy()
    return found
