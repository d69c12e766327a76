"""What is told of a statement that is expensive by the planner's estimate, in words that help."""

from __future__ import annotations

from engine.values import wording
from engine.values.errors import CostlyError
from engine.values.role_limits import ChooseCost


def bill(cost: float, limit: ChooseCost, qid: str, n: int) -> CostlyError:
    """Of row `n` of an answer, which the planner puts at `cost`."""
    way = wording.RUN_ANYWAY.format(n=n, qid=qid) if limit.anyway else wording.ASK_FOR_LESS
    return CostlyError.told(wording.EXPENSIVE, cost=cost, most=limit.cost, way=way, n=n, qid=qid)
