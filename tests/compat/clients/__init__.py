"""Real clients, a module each kind: `CASES` maps a client's name to its cases, each a function of `Ends`."""

from __future__ import annotations

from clients.ends import Case, Ends

__all__ = ["Case", "Ends"]
