"""Requests of several threads, answered together: those that arrive while others are answered make the next batch."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


class Together(Generic[Asked, Answer]):
    """`answer`: the answers to some requests, in order; what it raises is raised to each of them. `most`: at a time."""

    def __init__(self, answer: Callable[[Sequence[Asked]], Sequence[Answer]], *, most: int) -> None:
        self._answer = answer
        self._most = most
        self._waiting: deque[tuple[Asked, Future[Answer]]] = deque()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="together")

    def __call__(self, asked: Asked) -> Answer:
        """Blocks until the request is answered."""
        future = Future[Answer]()
        self._waiting.append((asked, future))
        self._thread.submit(self._answer_some)
        return future.result()

    def _answer_some(self) -> None:
        """Answers a batch of those that wait; nobody where an earlier batch took them all."""
        batch = [self._waiting.popleft() for _ in range(min(self._most, len(self._waiting)))]
        if not batch:
            return
        try:
            answers = self._answer([asked for asked, _ in batch])
            for (_, future), answer in zip(batch, answers, strict=True):
                future.set_result(answer)
        except Exception as problem:  # noqa: BLE001  raised in each thread that asked
            for _, future in batch:
                if not future.done():
                    future.set_exception(problem)
