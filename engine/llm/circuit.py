"""Whether the model server is worth a call: after failures in a row none is made for a while, and then one, to see.

Owns the decisions alone: the caller brings the time, makes the calls and says how they ended. A call that began before
the circuit last changed tells nothing of the server as it is now, unless it is answered.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from engine.values.model_settings import ModelSettings


class CircuitState(Enum):
    """`OPEN`: calls are refused. `HALF_OPEN`: all but the one that is under way, to see."""

    CLOSED = auto()
    OPEN = auto()
    HALF_OPEN = auto()


@dataclass(frozen=True, slots=True)
class Outage:
    """`failures` in a row since `since`, the newest for the reason `last`; at `again_at` one call is let through.

    Times in seconds of the caller's clock.
    """

    since: float
    failures: int
    last: str
    again_at: float


class Circuit:
    """Of one model server, for one event loop. `now` and `began` are seconds of one monotonic clock."""

    def __init__(
        self, settings: ModelSettings, changed: Callable[[Outage | None], object] = lambda _: None
    ) -> None:
        """`changed` gets the outage when the circuit opens, and None when it closes again."""
        self._settings = settings
        self._changed = changed
        self._changed_at = float("-inf")
        self._state = CircuitState.CLOSED
        self._outage: Outage | None = None

    @property
    def state(self) -> CircuitState:
        """As the newest call has left it."""
        return self._state

    @property
    def outage(self) -> Outage | None:
        """None while the circuit is closed."""
        return None if self._state is CircuitState.CLOSED else self._outage

    def refused(self, now: float) -> Outage | None:
        """Why no call may be made; None where one may, and has to end in one of the methods below."""
        if self._state is CircuitState.OPEN and self._outage is not None and now >= self._outage.again_at:
            self._turn(CircuitState.HALF_OPEN, now)
            return None
        return self.outage

    def answered(self, now: float) -> None:
        """The server answered, were it to refuse the request."""
        self._outage = None
        if self._state is not CircuitState.CLOSED:
            self._turn(CircuitState.CLOSED, now)

    def failed(self, began: float, now: float, why: str) -> None:
        """The server could not be reached, or failed itself."""
        if self._tells_nothing(began):
            return
        before = self._outage or Outage(began, 0, "", 0.0)
        again_at = now + self._settings.circuit_pause
        self._outage = Outage(before.since, before.failures + 1, why, again_at)
        most = self._settings.circuit_failures
        if self._state is CircuitState.HALF_OPEN or 0 < most <= self._outage.failures:
            self._turn(CircuitState.OPEN, now)

    def timed_out(self, began: float, now: float) -> None:
        """No answer came within the caller's own time, which says little of the server where that was short."""
        waited = now - began
        if waited >= self._settings.circuit_patience:
            self.failed(began, now, f"no answer in {waited:.0f} seconds")
        else:
            self.given_up(began, now)

    def given_up(self, began: float, now: float) -> None:
        """The caller wants no answer any more: the next call may see instead."""
        if self._state is CircuitState.HALF_OPEN and not self._tells_nothing(began):
            self._turn(CircuitState.OPEN, now)

    def _tells_nothing(self, began: float) -> bool:
        return self._state is CircuitState.OPEN or began < self._changed_at

    def _turn(self, state: CircuitState, now: float) -> None:
        before, self._state, self._changed_at = self._state, state, now
        if CircuitState.CLOSED in (before, state):
            self._changed(self.outage)
