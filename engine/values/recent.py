"""A cache of a number of values: those that were asked for longest ago make room for others."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """At most so many values by key; safe to use from several threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: dict[Key, Value] = {}
        self._lock = threading.Lock()

    def get(self, key: Key) -> Value | None:
        """None where it is not there, or not any more."""
        with self._lock:
            if key not in self._values:
                return None
            # The newest stands last.
            value = self._values[key] = self._values.pop(key)
            return value

    def keep(self, key: Key, value: Value) -> Value:
        """The value, from now on kept in the place of another."""
        with self._lock:
            self._values.pop(key, None)
            self._values[key] = value
            while len(self._values) > self._most:
                del self._values[next(iter(self._values))]
        return value

    def replace(self, change: Callable[[Value], Value]) -> None:
        """Puts what `change` makes of each value in its place."""
        with self._lock:
            self._values = {key: change(value) for key, value in self._values.items()}
