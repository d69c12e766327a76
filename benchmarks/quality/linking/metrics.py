"""How well branching points are told from other decisions (RTS §4.2): what probes are chosen by, and measured by."""

from __future__ import annotations

from engine.schema_linking.probes import Flags


def extra_abstention_rate(flagged: Flags, branching: Flags) -> float:
    """Decisions that are flagged and no branching points, of all decisions (EAR)."""
    return float((flagged & ~branching).mean())
