"""How often somebody has failed to sign in, and how long they wait for the next attempt.

Owns the counting, in memory. A role is counted wherever its attempts come from, an address whatever role it tries:
behind a proxy all have one, so that it may fail more often.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

FREE_OF_ROLE = 3
"""Attempts on one role that may fail before the next has to wait."""

FREE_OF_ADDRESS = 20

LONGEST = 60.0
"""Seconds that an attempt waits at most, and after which failures count no more, four times over."""

_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class _Failures:
    count: int
    last: float


class Attempts:
    """Failed attempts by role and by address. Times are seconds of one monotonic clock."""

    def __init__(self) -> None:
        self._failures: OrderedDict[tuple[str, str], _Failures] = OrderedDict()

    def wait(self, role: str, address: str, now: float) -> float:
        """Seconds until `role` may be tried from `address`; 0: now."""
        return max(
            self._wait(("role", role), FREE_OF_ROLE, now),
            self._wait(("address", address), FREE_OF_ADDRESS, now),
        )

    def begun(self, role: str, address: str, now: float) -> None:
        """Counts an attempt as failed, so that others at the same time count as well; `succeeded` takes it back."""
        for key in (("role", role), ("address", address)):
            known = self._failures.pop(key, None)
            count = 0 if known is None or now - known.last > 4 * LONGEST else known.count
            self._failures[key] = _Failures(count + 1, now)
        while len(self._failures) > _REMEMBERED:
            self._failures.popitem(last=False)

    def succeeded(self, role: str, address: str) -> None:
        """Forgets the failures of both."""
        self._failures.pop(("role", role), None)
        self._failures.pop(("address", address), None)

    def _wait(self, key: tuple[str, str], free: int, now: float) -> float:
        known = self._failures.get(key)
        if known is None or known.count < free:
            return 0.0
        pause = min(2.0 ** min(known.count - free, 10), LONGEST)
        return max(0.0, known.last + pause - now)
