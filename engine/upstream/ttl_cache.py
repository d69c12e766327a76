"""A cache of a server's answers with a time to live.

Owns the age of an answer, which counts from the moment it was asked for. The number of answers is not bounded; expired
ones are removed when the next is stored.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class TTLCache(Generic[K, V]):
    """Answers by key, each for `seconds` of `clock`, which is monotonic."""

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        self._seconds = seconds
        self._clock = clock
        self._answers: dict[K, tuple[float, V]] = {}

    async def get(self, key: K, ask: Callable[[], Awaitable[V]]) -> V:
        """The answer of `key`: the cached one, else the result of `ask`; raises as `ask`, and caches no errors."""
        now = self._clock()
        found = self._answers.get(key)
        if found is not None and found[0] > now:
            return found[1]
        answer = await ask()
        self._answers = {other: kept for other, kept in self._answers.items() if kept[0] > now}
        self._answers[key] = (now + self._seconds, answer)
        return answer

    def forget(self, key: K) -> None:
        """Removes the answer of `key`, if there is one."""
        self._answers.pop(key, None)
