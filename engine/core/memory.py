"""Memory that was freed, given back to the system."""

from __future__ import annotations

import ctypes


def give_back() -> None:
    """Gives back what the C library keeps of freed memory, where it can: glibc's `malloc_trim`.

    After large work whose parts are small: what they leave is of use to nobody else.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
