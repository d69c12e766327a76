"""What is told of a statement that is expensive by the planner's estimate, in words that help."""

from __future__ import annotations

from engine.values.errors import CostlyError
from engine.values.role_limits import ChooseCost


def bill(cost: float, limit: ChooseCost, qid: str, n: int) -> CostlyError:
    """Of row `n` of an answer, which the planner puts at `cost`."""
    hint = f"NL CHOOSE {n} OF '{qid}' ANYWAY runs it" if limit.anyway else "Ask for less"
    return CostlyError(
        "the statement is expensive, and was not run",
        detail=f"The planner puts its cost at {cost:,.0f}; up to {limit.cost:,.0f} runs without being asked again.",
        hint=f"{hint}; NL PLAN {n} OF '{qid}' shows the plan.",
    )
