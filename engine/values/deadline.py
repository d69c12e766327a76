"""The one time budget of a question."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from engine.values import wording
from engine.values.errors import CancelledError


@dataclass(frozen=True, slots=True)
class Deadline:
    """The one time budget of a question; `at` in seconds of `clock`, which is monotonic."""

    at: float
    clock: Callable[[], float] = time.monotonic

    def sooner(self, share: float, most: float) -> Deadline:
        """This one, less a `share` of what is left and `most` seconds at most; raises as `remaining`."""
        return Deadline(self.at - min(most, share * self.remaining()), self.clock)

    def remaining(self) -> float:
        """Seconds left; raises `CancelledError` (57014) where none are."""
        left = self.at - self.clock()
        if left <= 0:
            raise CancelledError.told(wording.OUT_OF_BUDGET)
        return left
