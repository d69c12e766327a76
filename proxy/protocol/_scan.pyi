"""The compiled versions of `framing.hop`, `scan.frontend` and `scan.backend`: same values, same answers."""

from array import array

def hop(data: bytes, pos: int, table: array[int]) -> int:
    """As `framing.hop`."""

class Scanner:
    """The scans with their tables: what carries no text, what goes on to a Sync, what passes from a server."""

    def __init__(self, no_text: array[int], to_sync: array[int], backend: array[int]) -> None: ...
    def frontend(self, data: bytes) -> int:
        """As `scan.frontend`."""

    def backend(self, data: bytes, rest: int) -> int:
        """As `scan.backend`."""
