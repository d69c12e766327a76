"""What generated SQL may do: analyse the parse tree, then decide. Default deny.

`check` is the whole interface. The first of two walls; the second is the database's own privileges, a
read-only transaction and a timeout (`engine.upstream`).
"""

from __future__ import annotations

from engine.guard.analyse import Analysis, Name, Relation
from engine.guard.policy import Allowed, Reason, Refused, Verdict, check

__all__ = ["Allowed", "Analysis", "Name", "Reason", "Refused", "Relation", "Verdict", "check"]
