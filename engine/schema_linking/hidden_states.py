"""What a model that links schemas shows of itself: the states of a schema's elements, and their log-odds.

Owns the values and the Protocol. Which model gives them, an encoder or a causal one, is the implementation's matter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from schema_catalog.types import ColumnKey, Snapshot


@dataclass(frozen=True, slots=True)
class NodeStates:
    """What the model makes of a question's schema. A node is a column, or with the column `*` a table as a whole.

    `nodes`: each table of the snapshot, in its order, followed by its columns. `states`: (layers, n, d), from the
    embeddings up. `log_odds`: (n,), that a statement which answers reads the node; of a column, given its table.
    `answerable` in [0, 1]: that the schema holds what is asked for.
    """

    nodes: tuple[ColumnKey, ...]
    states: NDArray[np.float32] = field(repr=False)
    log_odds: NDArray[np.float32] = field(repr=False)
    answerable: float


class HiddenStates(Protocol):
    """A model whose layers can be read. Blocks: call it in a thread."""

    @property
    def version(self) -> str:
        """The model's: states of different versions do not compare."""

    def read(self, question: str, snapshot: Snapshot) -> NodeStates | None:
        """The states of all of `snapshot`; None where it is too large for the model."""
