"""The fixtures of the wire."""

from __future__ import annotations

from wire_fixtures import gateway, loop_thread, start_gateway, wire_cluster

__all__ = ["gateway", "loop_thread", "start_gateway", "wire_cluster"]
