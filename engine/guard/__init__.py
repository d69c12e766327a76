"""What generated SQL may do: analyse the parse tree, then decide. Default deny.

`check` is the interface; `Rules` describe one server. The first of two walls; the second is the database's own
privileges, a read-only transaction and a timeout (`engine.upstream`).
"""

from __future__ import annotations

from engine.guard.analyse import Analysis, Name, Relation, WrittenType
from engine.guard.policy import Allowed, Refused, Verdict, check
from engine.values.guard_rules import BUILT_IN, Dropped, QualifiedName, Reason, Rules

__all__ = [
    "BUILT_IN",
    "Allowed",
    "Analysis",
    "Dropped",
    "Name",
    "QualifiedName",
    "Reason",
    "Refused",
    "Relation",
    "Rules",
    "Verdict",
    "WrittenType",
    "check",
]
