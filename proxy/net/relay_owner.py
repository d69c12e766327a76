"""The owner of a flow of the compiled relay."""

from __future__ import annotations

from typing import Protocol


class RelayOwner(Protocol):
    """Has handed two sockets over to the compiled relay."""

    def flow_ended(self) -> None:
        """The relay has met a chunk that it does not relay, or an end: the owner takes the sockets back."""
