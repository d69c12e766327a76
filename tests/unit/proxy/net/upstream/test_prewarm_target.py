"""How many sockets are dialled ahead, by a clock that the test moves."""

from __future__ import annotations

from proxy.net.upstream.prewarm_target import MIN_AGE, RETRY_SECONDS, PrewarmTarget


def test_nobody_nothing() -> None:
    assert PrewarmTarget(8).lacking(0, 0.0) == 0


def test_it_grows_with_clients_that_came_too_early_and_stops_at_the_most() -> None:
    demand = PrewarmTarget(3)
    seen = []
    for age in (None, None, MIN_AGE / 2, None):
        demand.served(age)
        seen.append(demand.lacking(0, 0.0))
    assert seen == [1, 2, 3, 3]


def test_it_stays_where_a_spare_had_waited_long_enough() -> None:
    demand = PrewarmTarget(8)
    demand.served(None)
    demand.served(MIN_AGE)
    assert demand.wanted == 1
    assert demand.lacking(1, 0.0) == 0
    assert demand.lacking(0, 0.0) == 1


def test_it_shrinks_with_each_that_nobody_came_for_down_to_none() -> None:
    demand = PrewarmTarget(8)
    demand.served(None)
    demand.served(None)
    seen = []
    for _ in range(3):
        demand.unused()
        seen.append(demand.wanted)
    assert seen == [1, 0, 0]


def test_after_a_failure_there_is_a_pause_whatever_comes() -> None:
    demand = PrewarmTarget(8)
    demand.served(None)
    demand.failed(now=100.0)
    demand.served(None)
    assert demand.lacking(0, 100.0 + RETRY_SECONDS / 2) == 0
    assert demand.lacking(0, 100.0 + RETRY_SECONDS) == 1


def test_none_are_wanted_where_none_are_allowed() -> None:
    demand = PrewarmTarget(0)
    demand.served(None)
    assert demand.lacking(0, 0.0) == 0
