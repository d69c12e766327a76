"""How many sockets are dialled ahead, by a clock that the test moves."""

from __future__ import annotations

from proxy.net.upstream.prewarmed import MIN_AGE, RETRY_SECONDS, PrewarmTarget


def test_nothing_for_nobody_and_none_where_none_are_allowed() -> None:
    assert PrewarmTarget(8).missing(0, 0.0) == 0
    target = PrewarmTarget(0)
    target.served(None)
    assert target.missing(0, 0.0) == 0


def test_it_grows_with_clients_that_came_too_early_and_stops_at_the_most() -> None:
    target = PrewarmTarget(3)
    seen = []
    for age in (None, None, MIN_AGE / 2, None):
        target.served(age)
        seen.append(target.missing(0, 0.0))
    assert seen == [1, 2, 3, 3]


def test_it_stays_where_a_socket_had_waited_long_enough_and_shrinks_with_each_unused() -> None:
    target = PrewarmTarget(8)
    target.served(None)
    target.served(MIN_AGE)
    assert target.count == 1
    assert target.missing(1, 0.0) == 0
    assert target.missing(0, 0.0) == 1
    target = PrewarmTarget(8)
    target.served(None)
    target.served(None)
    seen = []
    for _ in range(3):
        target.unused()
        seen.append(target.count)
    assert seen == [1, 0, 0]


def test_after_a_failure_there_is_a_pause_whatever_comes() -> None:
    target = PrewarmTarget(8)
    target.served(None)
    target.failed(now=100.0)
    target.served(None)
    assert target.missing(0, 100.0 + RETRY_SECONDS / 2) == 0
    assert target.missing(0, 100.0 + RETRY_SECONDS) == 1
