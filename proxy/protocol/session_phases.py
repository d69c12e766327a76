"""The phases of a session and its transition table; acts on nothing."""

from __future__ import annotations

from enum import Enum, auto


class Phase(Enum):
    """The phases of a session."""

    STARTUP = auto()
    DIALLING = auto()
    AUTHENTICATING = auto()
    RELAYING = auto()
    CONSULTING = auto()
    SETTLING = auto()
    """The client's bytes wait until the server has answered all that it was sent."""
    CLOSED = auto()


class Event(Enum):
    """The events that move a session from phase to phase."""

    STARTED = auto()
    DIALLED = auto()
    DIAL_FAILED = auto()
    AUTHENTICATED = auto()
    CONSULTED = auto()
    ANSWERED = auto()
    HELD = auto()
    SETTLED = auto()
    VIOLATED = auto()


TRANSITIONS: dict[tuple[Phase, Event], Phase] = {
    (Phase.STARTUP, Event.STARTED): Phase.DIALLING,
    (Phase.STARTUP, Event.VIOLATED): Phase.CLOSED,
    (Phase.DIALLING, Event.DIALLED): Phase.AUTHENTICATING,
    (Phase.DIALLING, Event.DIAL_FAILED): Phase.CLOSED,
    (Phase.AUTHENTICATING, Event.AUTHENTICATED): Phase.RELAYING,
    (Phase.AUTHENTICATING, Event.VIOLATED): Phase.CLOSED,
    (Phase.RELAYING, Event.CONSULTED): Phase.CONSULTING,
    (Phase.RELAYING, Event.VIOLATED): Phase.CLOSED,
    (Phase.CONSULTING, Event.ANSWERED): Phase.RELAYING,
    (Phase.RELAYING, Event.HELD): Phase.SETTLING,
    (Phase.SETTLING, Event.SETTLED): Phase.RELAYING,
}
"""(phase, event) → phase. A pair that is missing is a fault of the driver's."""

HOLDING = frozenset({Phase.DIALLING, Phase.CONSULTING, Phase.SETTLING, Phase.CLOSED})
"""Phases in which the client's bytes wait."""
