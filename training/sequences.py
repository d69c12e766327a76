"""Partial sequences of tables in training: what may come next (DBCopilot §4.4), and the inputs of the next step.

A search takes the same steps in numpy (`engine.models.beams`). Heavy: imports torch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.models.network import FIRST, NOWHERE, UNIT, Ground, Network, Survey
from engine.route.candidate_space import CandidateSpace


@dataclass(frozen=True, slots=True)
class Step:
    """n decodings at one step, each in a database of at most t tables.

    `state`: (n, HIDDEN). `begun`: (n,), whether a table was chosen before. `kinds`: (n, t), the link of
    each table to the chosen ones: an edge's kind, `FIRST` before the first, -1 for none. `names`: (n, t, HIDDEN).
    `late`, `text`, `words`: (n, t). `weights`: (n, m). `closest`: (n, m, t). `covered`, `best`: (n, m), the largest
    cosine of each token among the chosen tables, and in the database.
    """

    state: Tensor
    begun: Tensor
    kinds: Tensor
    names: Tensor
    late: Tensor
    text: Tensor
    words: Tensor
    weights: Tensor
    closest: Tensor
    covered: Tensor
    best: Tensor


def enter(network: Network, state: Tensor, names: Tensor) -> Tensor:
    """The state after the nodes with these names, (n, HIDDEN), were chosen: (n, HIDDEN)."""
    following: Tensor = network.cell(names * UNIT, state)
    return following


def point(network: Network, step: Step) -> Tensor:
    """Logits of the tables and of the end, (n, t + 1); forbidden ones are -1e9."""
    bilinear = torch.einsum("nh,nth->nt", step.state, step.names)
    first = network.first_logits(step.late, step.text, step.words)
    more = torch.einsum("nm,nmt->nt", step.weights, (step.closest - step.covered[..., None]).clamp_min(0))
    later = (
        network.later["late"] * step.late
        + network.later["text"] * step.text
        + network.later["words"] * step.words
        + network.later["gain"] * more
    )
    begun = step.begun[:, None]
    logits = torch.where(begun, later, first) + bilinear + network.link[step.kinds]
    allowed = step.kinds >= 0
    logits = logits.masked_fill(~allowed, NOWHERE)
    best_gain = (more * allowed).amax(1) if more.shape[1] else more.sum(1)
    left = torch.einsum("nm,nm->n", step.weights, step.best - step.covered)
    end = (
        network.stop(step.state)[:, 0]
        + network.end["best_gain"] * best_gain
        + network.end["uncovered"] * left
    )
    end = torch.where(step.begun, end, torch.full_like(end, NOWHERE))
    return torch.cat([logits, end[:, None]], dim=1)


@dataclass(frozen=True, slots=True)
class Sequences:
    """n partial sequences. `firsts`: (n,), each database's first table. `chosen`: (n, t), the tables it holds."""

    network: Network
    field: CandidateSpace
    firsts: NDArray[np.intp]
    chosen: NDArray[np.bool_]
    step: Step

    @staticmethod
    def begin(
        network: Network, ground: Ground, survey: Survey, rows: NDArray[np.intp], databases: NDArray[np.intp]
    ) -> Sequences:
        """One sequence for each of `rows` (questions) in one of `databases`, at its first table."""
        field = ground.field
        ends = np.append(field.table_starts[1:], len(field.tables))
        firsts, sizes = field.table_starts[databases], (ends - field.table_starts)[databases]
        width = int(sizes.max())
        inside = np.arange(width) < sizes[:, None]
        tables = torch.from_numpy(np.where(inside, firsts[:, None] + np.arange(width), firsts[:, None]))
        asked = torch.from_numpy(rows)
        mask = torch.from_numpy(inside)
        index = tables[:, None, :].expand(-1, survey.closest.shape[1], -1)
        closest = survey.closest[asked].gather(2, index)
        step = Step(
            state=enter(network, survey.state[asked], survey.names.databases[torch.from_numpy(databases)]),
            begun=torch.zeros(len(rows), dtype=torch.bool),
            kinds=torch.where(mask, FIRST, -1),
            names=survey.names.tables[tables],
            late=survey.late[asked].gather(1, tables),
            text=survey.text[asked].gather(1, tables),
            words=survey.words[asked].gather(1, tables),
            weights=survey.weights[asked],
            closest=closest,
            covered=torch.zeros(closest.shape[:2]),
            best=closest.masked_fill(~mask[:, None], 0).amax(2),
        )
        return Sequences(network, field, firsts, np.zeros(inside.shape, dtype=bool), step)

    def after(self, columns: NDArray[np.intp]) -> Sequences:
        """The sequences with the table in `columns` (n,) added to each."""
        rows = np.arange(len(columns))
        chosen = self.chosen.copy()
        chosen[rows, columns] = True
        picked = torch.from_numpy(rows), torch.from_numpy(columns)
        step = self.step
        kinds = torch.from_numpy(self._kinds(chosen))
        following = Step(
            state=enter(self.network, step.state, step.names[picked]),
            begun=torch.ones_like(step.begun),
            kinds=kinds,
            names=step.names,
            late=step.late,
            text=step.text,
            words=step.words,
            weights=step.weights,
            closest=step.closest,
            covered=torch.maximum(step.covered, step.closest[picked[0], :, picked[1]]),
            best=step.best,
        )
        return Sequences(self.network, self.field, self.firsts, chosen, following)

    def logits(self) -> Tensor:
        """(n, t + 1): of each table, and of the end."""
        return point(self.network, self.step)

    def _kinds(self, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The link of each table to the chosen ones, -1 for none: DBCopilot's constraint (§4.4)."""
        kinds = np.full(chosen.shape, -1, dtype=np.int64)
        for row, first in enumerate(self.firsts.tolist()):
            for column in np.flatnonzero(chosen[row]).tolist():
                for edge in self.field.links[first + column]:
                    held = kinds[row, edge.table]
                    kinds[row, edge.table] = edge.kind if held < 0 else min(edge.kind, held)
            kinds[row, chosen[row]] = -1
        return kinds
