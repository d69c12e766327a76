"""Keys from passwords, computed where they hold no session up.

Owns the threads. How many computations can wait is their callers' matter: one for each login under way.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from proxy.protocol.auth.scram import ClientKeys, KeyDerivation

_THREADS = 2
"""One login's keys do not wait for a dearer one's; hashlib leaves the interpreter to the event loop meanwhile."""


class DerivationPool:
    """Threads that are started when they are needed."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="scram")

    def derive(self, derivation: KeyDerivation) -> asyncio.Future[ClientKeys]:
        """Carries `derivation` out. Cancelled before its turn, it is never begun."""
        return asyncio.get_running_loop().run_in_executor(self._threads, derivation.keys)

    def close(self) -> None:
        """Ends the threads; what has not begun never does."""
        self._threads.shutdown(wait=False, cancel_futures=True)
