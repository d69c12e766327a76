"""How many sockets should be dialled ahead of the clients to come.

Owns the number alone: sockets and timers are `prewarmed`'. Times are seconds of any clock that only goes forward.
"""

from __future__ import annotations

MIN_AGE = 0.02
"""Seconds that a socket should have waited to be worth it: the server needs about a millisecond to fork, and more
where many come at once."""

RETRY_SECONDS = 1.0
"""Seconds without a spare after the server was not there, or had no room."""


class PrewarmTarget:
    """Grows with clients that came too early for a spare, shrinks with spares that nobody came for."""

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
        """Nobody is going to come for now."""
        self._count = 0
