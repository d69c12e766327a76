"""The stages' collaborators in tests: no stored values and no feedback, but where they are given."""

from __future__ import annotations

from typing import Any

from benchmarks.harness.without import NoMemory, NoValues
from engine.judge.model import packaged
from engine.values.tools import Tools


def bare_tools(*given: Any, **others: Any) -> Tools:
    """`given`: the first of the catalog, upstream, encoder, model and router; None for those that are not."""
    names = ("catalog", "upstream", "encoder", "model", "router")
    nothing = dict.fromkeys(names)
    known: Any = (
        nothing
        | {"values": NoValues(), "memory": NoMemory(), "judgement": packaged()}
        | dict(zip(names, given, strict=False))
    )
    return Tools(**known | others)
