"""The decoder's steps while answering, in numpy, by the weights of `engine.models.network.Network`.

Owns no weight. Training takes the same steps in torch (`training.sequences`), where a step costs as much for one
table as for thousands. Heavy: imports torch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from engine.models.network import FIRST, HIDDEN, NOWHERE, UNIT, Ground, Network, Survey
from engine.values.schema_graph import Edge

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
        """The state after the nodes with these names were chosen, a gated recurrent unit's: (n, HIDDEN)."""
        given = (names * np.float32(UNIT)) @ self.inputs + self.input_bias
        held = state @ self.hidden + self.hidden_bias
        one = np.float32(1)
        gates: Vectors = one / (one + np.exp(-(given + held)[:, : 2 * HIDDEN]))
        reset, update = gates[:, :HIDDEN], gates[:, HIDDEN:]
        fresh = np.tanh(given[:, 2 * HIDDEN :] + reset * held[:, 2 * HIDDEN :])
        following: Vectors = fresh + update * (state - fresh)
        return following


@dataclass(frozen=True, slots=True)
class Heads:
    """h databases of at most t tables, each for a question of at most m tokens.

    `firsts`: (h,), the first table of each. `inside`: (h, t), where there is a table. `links`: see `CandidateSpace`.
    `names`: (h, t, HIDDEN). `opening`, `later`: (h, t), the logits of a first and of a further table, without what
    depends on the tables chosen. `closest`: (h, m, t). `weights`, `best`: (h, m), of the tokens, and their largest
    cosines.
    """

    step: StepWeights
    firsts: Numbers
    inside: NDArray[np.bool_]
    links: tuple[tuple[Edge, ...], ...]
    names: Vectors
    opening: Vectors
    later: Vectors
    closest: Vectors
    weights: Vectors
    best: Vectors


@dataclass(frozen=True, slots=True)
class Beams:
    """`engine.route.decoder.Sequences`: n sets of tables under way, all as large.

    `numbers`: (n,), the head of each. `state`: (n, HIDDEN). `covered`: (n, m), the largest cosine of each token among
    the chosen tables. `chosen`: (n, t). `kinds`: (n, t), the link of each table to the chosen ones, -1 for none; None
    before the first.
    """

    heads: Heads
    numbers: Numbers
    state: Vectors
    covered: Vectors
    chosen: NDArray[np.bool_]
    kinds: Numbers | None = None

    @property
    def firsts(self) -> Numbers:
        """(n,)."""
        return self.heads.firsts[self.numbers]

    def log_probabilities(self) -> Vectors:
        """(n, t + 1): of each table, and of the end."""
        logits = self._logits()
        logits -= logits.max(axis=1, keepdims=True)
        shares: Vectors = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        return shares

    def follow(self, rows: Numbers, columns: Numbers) -> Beams:
        """The sets in `rows`, each with the table in its of `columns` added."""
        heads, numbers = self.heads, self.numbers[rows]
        chosen = self.chosen[rows]
        chosen[np.arange(len(rows)), columns] = True
        return Beams(
            heads=heads,
            numbers=numbers,
            state=heads.step.enter(self.state[rows], heads.names[numbers, columns]),
            covered=np.maximum(self.covered[rows], heads.closest[numbers, :, columns]),
            chosen=chosen,
            kinds=self._kinds(rows, columns, chosen),
        )

    def _logits(self) -> Vectors:
        """See `Network.point`."""
        heads, step, numbers = self.heads, self.heads.step, self.numbers
        count, tables = self.chosen.shape
        logits = np.full((count, tables + 1), NOWHERE, dtype=np.float32)
        bilinear = np.matmul(heads.names[numbers], self.state[:, :, None])[:, :, 0]
        if self.kinds is None:
            first = heads.opening[numbers] + bilinear + step.link[FIRST]
            logits[:, :-1] = np.where(heads.inside[numbers], first, NOWHERE)
            return logits
        allowed = self.kinds >= 0
        weights = heads.weights[numbers][:, None, :]
        gains = np.maximum(heads.closest[numbers] - self.covered[:, :, None], 0)
        more = np.matmul(weights, gains)[:, 0]
        further = heads.later[numbers] + step.later["gain"] * more + bilinear + step.link[self.kinds]
        logits[:, :-1] = np.where(allowed, further, NOWHERE)
        left = np.matmul(weights, (heads.best[numbers] - self.covered)[:, :, None])[:, 0, 0]
        logits[:, -1] = (
            self.state @ step.stop
            + step.stop_bias
            + step.end["best_gain"] * (more * allowed).max(axis=1)
            + step.end["uncovered"] * left
        )
        return logits

    def _kinds(self, rows: Numbers, columns: Numbers, chosen: NDArray[np.bool_]) -> Numbers:
        """DBCopilot's constraint (§4.4): a further table is linked to one chosen before."""
        heads = self.heads
        kinds = np.full(chosen.shape, -1, dtype=np.intp) if self.kinds is None else self.kinds[rows]
        firsts = self.firsts[rows].tolist()
        for row, (first, column) in enumerate(zip(firsts, columns.tolist(), strict=True)):
            for edge in heads.links[first + column]:
                held = kinds[row, edge.table]
                kinds[row, edge.table] = edge.kind if held < 0 else min(edge.kind, held)
        kinds[chosen] = -1
        return kinds


def begin(step: StepWeights, ground: Ground, survey: Survey, rows: Numbers, databases: Numbers) -> Beams:
    """The empty set of tables for each of `rows` (questions) in one of `databases`."""
    field = ground.field
    firsts = field.table_starts[databases]
    sizes = np.append(field.table_starts[1:], len(field.tables))[databases] - firsts
    inside = np.arange(sizes.max()) < sizes[:, None]
    tables = np.where(inside, firsts[:, None] + np.arange(sizes.max()), firsts[:, None])
    late, text, words = (
        _array(each)[rows[:, None], tables] for each in (survey.late, survey.text, survey.words)
    )
    tokens = np.arange(survey.closest.shape[1])
    closest = _array(survey.closest)[rows[:, None, None], tokens[:, None], tables[:, None, :]]
    heads = Heads(
        step=step,
        firsts=firsts,
        inside=inside,
        links=field.links,
        names=_array(survey.names.tables)[tables],
        opening=step.table["late"] * late + step.table["text"] * text + step.table["words"] * words,
        later=step.later["late"] * late + step.later["text"] * text + step.later["words"] * words,
        closest=closest,
        weights=_array(survey.weights)[rows],
        # A table that is not there stands for the first, which changes no maximum.
        best=closest.max(axis=2),
    )
    return Beams(
        heads=heads,
        numbers=np.arange(len(rows)),
        state=step.enter(_array(survey.state)[rows], _array(survey.names.databases)[databases]),
        covered=np.zeros(closest.shape[:2], dtype=np.float32),
        chosen=np.zeros(inside.shape, dtype=bool),
    )


def _array(values: Tensor) -> Vectors:
    found: Vectors = values.detach().numpy()
    return found
