"""Requests that arrive while others are answered are answered together, each with its own answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from engine.route.together import Together

PATIENCE = 10.0
"""Seconds until a test gives up."""


class Doubling:
    """Twice each number. The first batch is answered once `open` is set; `begun`: when it is under way."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.begun, self.open = threading.Event(), threading.Event()

    def __call__(self, numbers: Sequence[int]) -> list[int]:
        """Raises `ValueError` where a number is negative."""
        self.batches.append(list(numbers))
        self.begun.set()
        assert self.open.wait(PATIENCE)
        if min(numbers) < 0:
            raise ValueError("negative")
        return [2 * number for number in numbers]


class Counted(Together[int, int]):
    """Says when all of the requests that are expected wait."""

    @property
    def waiting(self) -> int:
        """Requests that no batch took yet."""
        return len(self._waiting)


def asked_meanwhile(together: Counted, doubling: Doubling, numbers: Sequence[int]) -> list[Future[int]]:
    """A first request, 0, and the others while it is answered; returns the others."""
    with ThreadPoolExecutor(len(numbers) + 1) as pool:
        pool.submit(together, 0)
        assert doubling.begun.wait(PATIENCE)
        found = [pool.submit(together, number) for number in numbers]
        deadline = time.monotonic() + PATIENCE
        while together.waiting < len(numbers) and time.monotonic() < deadline:
            assert not any(each.done() for each in found)
        doubling.open.set()
        return found


def test_a_request_alone_is_answered_at_once() -> None:
    doubling = Doubling()
    doubling.open.set()
    together = Together(doubling, most=8)
    assert [together(1), together(2)] == [2, 4]
    assert doubling.batches == [[1], [2]]


def test_requests_that_came_meanwhile_make_one_batch() -> None:
    doubling = Doubling()
    found = asked_meanwhile(Counted(doubling, most=8), doubling, range(1, 6))
    assert [each.result() for each in found] == [2, 4, 6, 8, 10]
    assert doubling.batches[0] == [0]
    assert [sorted(batch) for batch in doubling.batches[1:]] == [[1, 2, 3, 4, 5]]


def test_a_batch_is_limited_and_the_next_follows() -> None:
    doubling = Doubling()
    found = asked_meanwhile(Counted(doubling, most=2), doubling, range(1, 6))
    assert [each.result() for each in found] == [2, 4, 6, 8, 10]
    assert [len(batch) for batch in doubling.batches] == [1, 2, 2, 1]


def test_what_a_batch_raises_reaches_each_of_its_requests_and_no_other() -> None:
    doubling = Doubling()
    together = Counted(doubling, most=2)
    found = asked_meanwhile(together, doubling, [-1, -1])
    for each in found:
        with pytest.raises(ValueError, match="negative"):
            each.result()
    assert together(7) == 14
