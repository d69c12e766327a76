"""Best-first search over masked schemas and conditions (Odin §5, algorithms 1 and 2; MetaSQL §III-B), without I/O.

A mask is a set of elements that a statement may not name: columns, or a whole table where a statement reads a table but
none of its columns (`count(*)`), which the paper's columns-only masks would repeat for ever. Masks and conditions are
crossed under one budget; a node's score is its schema's score times its condition's probability.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from engine.values.conditions import Condition
from engine.values.elements import Entity, is_masked
from engine.write.search.forks import Fork
from schema_catalog.types import ColumnKey

Mask = frozenset[ColumnKey]

WORTH = 0.75
"""Least score of a masked node, as a share of the whole schema's: below, statements answer another question."""

NEAR = 0.85
"""Least ratio of the best remaining element's cosine to a masked element's: below, it has no alternative."""

BEST = 0.97
"""Least ratio of an element's cosine to the schema's best, for it to stand for the phrase."""


@dataclass(frozen=True, slots=True)
class Node:
    """A mask, a condition and how the answer begins, where it does not begin anew.

    `schema_score`: the weakest entity's best cosine in [-1, 1]; 1 without a mask.
    """

    mask: Mask
    schema_score: float
    condition: Condition | None = None
    fork: Fork | None = None

    @property
    def score(self) -> float:
        """The priority, in [-1, 1]."""
        return self.schema_score * (1.0 if self.condition is None else self.condition.probability)


@dataclass(slots=True)
class MaskSearch:
    """The priority queue, the nodes seen, and the budget left. `root`: what no statement may name."""

    entities: Sequence[Entity]
    elements: frozenset[ColumnKey]
    budget: int
    conditions: Sequence[Condition] = ()
    near: float = NEAR
    worth: float = WORTH
    root: Mask = frozenset()
    _queue: list[tuple[float, float, int, Node]] = field(default_factory=list)
    _seen: set[tuple[Mask, Condition | None]] = field(default_factory=set)
    _order: int = 0
    _whole: float = 1.0

    def __post_init__(self) -> None:
        self._whole = self.score(self.root)
        self._push(Node(self.root, 1.0), 0.0)
        for condition in self.conditions:
            self._push(Node(self.root, 1.0, condition), 0.0)

    def take(self, count: int) -> list[Node]:
        """The best `count` nodes that the budget still pays for, best first."""
        nodes: list[Node] = []
        while self._queue and len(nodes) < count and self.budget > 0:
            nodes.append(heapq.heappop(self._queue)[3])
            self.budget -= 1
        return nodes

    def branch(self, node: Node, forks: Iterable[Fork]) -> list[Node]:
        """`node` with each of `forks`, as many as the budget pays for."""
        nodes = [replace(node, fork=fork) for fork in forks][: self.budget]
        self.budget -= len(nodes)
        return nodes

    def without(self, mask: Mask) -> list[Node]:
        """The whole schema less `mask`, whatever it is worth; nothing where that was asked or the budget is spent."""
        if not mask or (mask, None) in self._seen or self.budget <= 0:
            return []
        self._seen.add((mask, None))
        self.budget -= 1
        return [Node(mask, self.score(mask))]

    def expand(
        self, node: Node, used: Iterable[ColumnKey], exchanged: frozenset[ColumnKey] = frozenset()
    ) -> None:
        """Queues the children of `node`: its mask and, each in turn, one element that its statement used.

        Only elements with an alternative (see `NEAR`), without those that are `exchanged` by rule.
        """
        named = frozenset(used)
        for element in sorted(named - exchanged):
            mask = node.mask | {element}
            child = Node(mask, self.score(mask), node.condition)
            if (
                (mask, node.condition) not in self._seen
                and child.score >= self.worth * self._whole
                and self._replaceable(element, named, mask)
            ):
                self._push(child, self._relevance(element))

    def score(self, mask: Mask) -> float:
        """The weakest entity's best similarity among the elements that `mask` leaves; 1 without entities."""
        left = self._unmasked(mask)
        return min((_best(entity, left) for entity in self.entities), default=1.0)

    def _replaceable(self, element: ColumnKey, used: frozenset[ColumnKey], mask: Mask) -> bool:
        """Whether `element`, of all in `used`, stands for a phrase and an unmasked one not in `used` could as well."""
        all_left = self._unmasked(mask)
        left = all_left - used
        return any(
            entity.similarities[element] * self.near <= _best(entity, left)
            for entity in self.entities
            if 0 < entity.similarities.get(element, -1.0) == _best(entity, used)
            and entity.similarities[element] >= BEST * _best(entity, all_left)
        )

    def _unmasked(self, mask: Mask) -> frozenset[ColumnKey]:
        return frozenset(key for key in self.elements if not is_masked(key, mask))

    def _relevance(self, element: ColumnKey) -> float:
        """The best cosine of `element` to an entity: breaks ties of score."""
        return max((entity.similarities.get(element, -1.0) for entity in self.entities), default=-1.0)

    def _push(self, node: Node, relevance: float) -> None:
        self._seen.add((node.mask, node.condition))
        heapq.heappush(self._queue, (-node.score, -relevance, self._order, node))
        self._order += 1


def _best(entity: Entity, elements: frozenset[ColumnKey]) -> float:
    return max((value for key, value in entity.similarities.items() if key in elements), default=-1.0)
