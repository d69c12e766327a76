"""Partial sequences of tables in training: what may come next (DBCopilot §4.4), and the inputs of the next step.

A search takes the same steps in numpy (`engine.models.beams`). Heavy: imports torch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.models.network import FIRST, Ground, Network, Step, Survey
from engine.routing.candidate_space import CandidateSpace


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
            state=network.enter(survey.state[asked], survey.names.databases[torch.from_numpy(databases)]),
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
            state=self.network.enter(step.state, step.names[picked]),
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
        return self.network.point(self.step)

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
