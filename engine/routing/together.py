"""Requests of several threads, answered together: those that arrive while others are answered make the next batch."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


class Together(Generic[Asked, Answer]):
    """`answer`: the answers to some requests, in order; what it raises is raised to each of them. `most`: at a time."""

    def __init__(self, answer: Callable[[Sequence[Asked]], Sequence[Answer]], *, most: int) -> None:
        self._answer = answer
        self._most = most
        self._lock = threading.Lock()
        self._waiting: deque[_Request[Asked, Answer]] = deque()
        self._answering = False

    def __call__(self, asked: Asked) -> Answer:
        """Blocks until the request is answered."""
        request = _Request[Asked, Answer](asked)
        with self._lock:
            self._waiting.append(request)
            if not self._answering:
                self._answering = request.leads = True
                request.woken.set()
        request.woken.wait()
        if request.leads:
            self._lead()
        if request.problem is not None:
            raise request.problem
        (answer,) = request.answers
        return answer

    def _lead(self) -> None:
        """Answers a batch, the leader's own request first, and hands over to the first of those that came meanwhile."""
        with self._lock:
            batch = [self._waiting.popleft() for _ in range(min(self._most, len(self._waiting)))]
        try:
            answers = self._answer([request.asked for request in batch])
            for request, answer in zip(batch, answers, strict=True):
                request.answers = [answer]
        except Exception as problem:  # noqa: BLE001  raised in each thread that asked
            for request in batch:
                request.problem = problem
        finally:
            with self._lock:
                if self._waiting:
                    self._waiting[0].leads = True
                    batch.append(self._waiting[0])
                else:
                    self._answering = False
            for request in batch:
                request.woken.set()


class _Request(Generic[Asked, Answer]):
    """A request and what became of it; `woken` when that is known, or when it `leads`."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.woken = threading.Event()
        self.leads = False
        self.answers: list[Answer] = []
        self.problem: Exception | None = None
