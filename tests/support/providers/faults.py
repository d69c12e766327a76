"""What a service can be told to do with its next requests: troubles, and replies that are no plain answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Finish(Enum):
    """Why a model stopped."""

    STOP = "stop"
    LENGTH = "length"
    TOOL = "tool_calls"
    FILTER = "content_filter"


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer in full: the text, or what came in its place. `arguments` are a tool call's, JSON."""

    text: str = ""
    finish: Finish = Finish.STOP
    reasoning: str = "First I look at what is asked."
    refusal: str | None = None
    arguments: str | None = None


@dataclass(frozen=True, slots=True)
class RateLimited:
    """429; `after` in seconds is told in Retry-After."""

    after: float | None = 1


@dataclass(frozen=True, slots=True)
class Failing:
    """A failure of the service itself; None: with the status that it has for being overloaded."""

    status: int | None = None


class Trouble(Enum):
    """A connection cut without an answer, and what is found out from a prompt alone.

    ERROR_INSIDE is HTTP 200 with an error and no choices, as a router sends when what it routes to fails.
    """

    RESET = "reset"
    FILTERED = "filtered"
    CONTEXT_EXCEEDED = "context exceeded"
    ERROR_INSIDE = "error inside"


Fault = RateLimited | Failing | Trouble | Reply
