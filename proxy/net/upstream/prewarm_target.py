"""How many sockets to the server are kept dialled ahead of clients.

Owns the number alone: sockets and timers are in `prewarmed`. Times are seconds of any monotonic clock.
"""

from __future__ import annotations

MIN_AGE = 0.02
"""Seconds after its dial from which a socket saves its client time: the server needs about a millisecond to fork, and
more where many clients come at once."""

RETRY_SECONDS = 1.0
"""Seconds without prewarmed sockets after the server could not be reached or was full."""


class PrewarmTarget:
    """Grows by one for each client that found no socket old enough, shrinks by one for each unused socket."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._count = 0
        self._until = float("-inf")

    @property
    def count(self) -> int:
        """Sockets that should stand or be on their way."""
        return self._count

    def missing(self, waiting: int, now: float) -> int:
        """How many to dial now; `waiting`: those that are on their way included."""
        return 0 if now < self._until else max(0, self._count - waiting)

    def served(self, age: float | None) -> None:
        """A client got a socket that had waited for `age` seconds; None: there was none."""
        if age is None or age < MIN_AGE:
            self._count = min(self._limit, self._count + 1)

    def unused(self) -> None:
        """One has gone without a client: too old, or closed by the server."""
        self._count = max(0, self._count - 1)

    def failed(self, now: float) -> None:
        """The server cannot be reached, or turns clients away: not the time to hold places there."""
        self._count = 0
        self._until = now + RETRY_SECONDS

    def ended(self) -> None:
        """No clients are expected: the target is 0."""
        self._count = 0
