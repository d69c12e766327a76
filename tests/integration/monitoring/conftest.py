"""A gateway with a real engine behind it, as the tests of lending have it."""

from __future__ import annotations

from tests.integration.lending.conftest import house, loop_thread, start_gateway, wire_cluster

__all__ = ["house", "loop_thread", "start_gateway", "wire_cluster"]
