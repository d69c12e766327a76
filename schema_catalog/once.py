"""What is made of a snapshot once and lives as long as the snapshot does."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import TypeVar, cast

from schema_catalog.types import Snapshot

T = TypeVar("T")


def once_per_snapshot(make: Callable[[Snapshot], T]) -> Callable[[Snapshot], T]:
    """`make`, which gives the same at every call with one snapshot, and forgets it with the snapshot.

    What was made is kept by the snapshot's identity: hashing one by its fields takes longer than most that is made.
    """
    known: dict[int, T | None] = {}

    @functools.wraps(make)
    def made(snapshot: Snapshot) -> T:
        if id(snapshot) not in known:
            found = make(snapshot)
            # A snapshot that was kept here would live for ever.
            known[id(snapshot)] = None if found is snapshot else found
            weakref.finalize(snapshot, known.pop, id(snapshot), None)
        kept = known[id(snapshot)]
        return cast("T", snapshot) if kept is None else kept

    return made
