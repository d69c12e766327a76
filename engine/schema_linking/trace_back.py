"""From flagged decisions to what may be meant in their place (RTS §3.3, algorithm 2).

The paper's linker writes tokens, of which the algorithm finds the table. Here a decision is about one element; what is
left of the algorithm is to find the others that come into question.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from engine.core.elements import WHOLE_TABLE, BranchingPoint
from engine.schema_linking.decisions import Decision
from engine.schema_linking.hidden_states import NodeStates
from engine.schema_linking.linker import probabilities
from schema_catalog.types import ColumnKey

ALTERNATIVES = 3


def trace_back(
    flagged: Sequence[Decision], decisions: Sequence[Decision], states: NodeStates
) -> tuple[BranchingPoint, ...]:
    """`flagged`, some of `decisions`, each with what may be meant in its place: elements decided the other way.

    In the place of a linked element may be meant one that is not linked, and the reverse; of columns and tables their
    own kind, the likeliest first, `ALTERNATIVES` at most.
    """
    linked = frozenset(decision.element for decision in decisions if decision.linked)
    chances = probabilities(states)
    ordered = sorted(chances, key=chances.__getitem__, reverse=True)
    return tuple(
        BranchingPoint(decision.element, decision.linked, _alternatives(decision, linked, ordered))
        for decision in flagged
    )


def _alternatives(
    decision: Decision, linked: frozenset[ColumnKey], ordered: Sequence[ColumnKey]
) -> tuple[ColumnKey, ...]:
    of_table = _is_table(decision.element)
    others = (
        element
        for element in ordered
        if _is_table(element) == of_table
        and (element in linked) != decision.linked
        and element != decision.element
    )
    return tuple(islice(others, ALTERNATIVES))


def _is_table(element: ColumnKey) -> bool:
    return element[2] == WHOLE_TABLE
