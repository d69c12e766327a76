"""Best-first search over masked schemas (Odin §5, algorithms 1 and 2), without I/O.

Owns which schema to try next. A mask is the set of schema elements that a statement may not name; an element
is a column, or a whole table where a statement reads a table but none of its columns (`count(*)`), which the
paper's columns-only masks would repeat for ever.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from engine.generation.grammar import WHOLE_TABLE
from engine.state import ColumnKey, Entity

Mask = frozenset[ColumnKey]


@dataclass(frozen=True, slots=True)
class Node:
    """A masked schema and its score: how well its weakest entity is represented, in [-1, 1] (1 at the root)."""

    mask: Mask
    score: float


@dataclass(slots=True)
class MaskSearch:
    """The priority queue, what was seen, and what is left of the budget.

    `floor`: a child whose score falls below this share of the unmasked schema's score is not explored; no
    column is left that could stand for one of the entities, and a model would answer another question.
    """

    entities: Sequence[Entity]
    elements: frozenset[ColumnKey]
    budget: int
    floor: float = 0.6
    _queue: list[tuple[float, float, int, Mask]] = field(default_factory=list)
    _seen: set[Mask] = field(default_factory=set)
    _order: int = 0

    def __post_init__(self) -> None:
        self._push(frozenset(), 1.0, 0.0)

    def take(self, count: int) -> list[Node]:
        """The best `count` nodes that the budget still pays for, best first."""
        nodes: list[Node] = []
        while self._queue and len(nodes) < count and self.budget > 0:
            score, _, _, mask = heapq.heappop(self._queue)
            nodes.append(Node(mask, -score))
            self.budget -= 1
        return nodes

    def expand(self, node: Node, used: Iterable[ColumnKey]) -> None:
        """Queues the children of `node`: its mask and, each in turn, one element that its statement used."""
        least = self.floor * self.score(frozenset())
        for element in sorted(used):
            mask = node.mask | {element}
            if mask in self._seen or not self._unmasked(mask):
                continue
            score = self.score(mask)
            if score >= least:
                self._push(mask, score, self._relevance(element))

    def score(self, mask: Mask) -> float:
        """The weakest entity's best similarity among the elements that `mask` leaves; 1 without entities."""
        left = self._unmasked(mask)
        return min((_best(entity, left) for entity in self.entities), default=1.0)

    def _unmasked(self, mask: Mask) -> frozenset[ColumnKey]:
        tables = {key[:2] for key in mask if key[2] == WHOLE_TABLE}
        return frozenset(key for key in self.elements - mask if key[:2] not in tables)

    def _relevance(self, element: ColumnKey) -> float:
        """How near `element` is to any entity: among equal schemas, the one that lost what was asked for first."""
        return max((entity.similarities.get(element, -1.0) for entity in self.entities), default=-1.0)

    def _push(self, mask: Mask, score: float, relevance: float) -> None:
        self._seen.add(mask)
        heapq.heappush(self._queue, (-score, -relevance, self._order, mask))
        self._order += 1


def _best(entity: Entity, elements: frozenset[ColumnKey]) -> float:
    return max((value for key, value in entity.similarities.items() if key in elements), default=-1.0)
