"""Whose chunks the compiled relay relays."""

from __future__ import annotations

from typing import Protocol


class RelayOwner(Protocol):
    """Who handed two sockets over to the compiled relay."""

    def flow_ended(self) -> None:
        """The relay met what it does not relay by itself; it is to be taken back."""
