"""A share of counted questions with its interval. Needs no library: the command line has it without the engine's."""

from __future__ import annotations

import math
from dataclasses import dataclass

Z = 1.959964
"""The 97.5 % quantile of the standard normal distribution."""


@dataclass(frozen=True, slots=True)
class Share:
    """`hits` of `n`."""

    hits: int
    n: int

    @property
    def value(self) -> float | None:
        """The share, in [0, 1]; None where n is 0."""
        return self.hits / self.n if self.n else None

    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval; (0, 1) where n is 0."""
        if not self.n:
            return (0.0, 1.0)
        share, z2 = self.hits / self.n, Z**2
        middle = (share + z2 / (2 * self.n)) / (1 + z2 / self.n)
        half = Z / (1 + z2 / self.n) * math.sqrt(share * (1 - share) / self.n + z2 / (4 * self.n**2))
        return (max(0.0, middle - half), min(1.0, middle + half))

    def tail(self, share: float) -> float:
        """How probable so few hits or fewer are where each question is one with probability `share`, in (0, 1)."""
        return math.fsum(
            math.exp(
                math.lgamma(self.n + 1)
                - math.lgamma(hits + 1)
                - math.lgamma(self.n - hits + 1)
                + hits * math.log(share)
                + (self.n - hits) * math.log1p(-share)
            )
            for hits in range(self.hits + 1)
        )
