"""Derives keys from passwords in threads, so that no session waits for it.

Owns the threads. Its queue is bounded by its callers: one computation for each login under way.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from proxy.protocol.auth.scram import ClientKeys, KeyDerivation

_THREADS = 2
"""Two, so that a derivation does not wait for a longer one; hashlib releases the interpreter's lock meanwhile."""


class DerivationPool:
    """Threads that are started when they are needed."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="scram")

    def derive(self, derivation: KeyDerivation) -> asyncio.Future[ClientKeys]:
        """Carries `derivation` out. Cancelled before its turn, it is never begun."""
        return asyncio.get_running_loop().run_in_executor(self._threads, derivation.keys)

    def close(self) -> None:
        """Ends the threads; derivations that have not begun are cancelled."""
        self._threads.shutdown(wait=False, cancel_futures=True)
