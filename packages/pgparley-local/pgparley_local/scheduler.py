"""Continuous batching over one `Runtime`: every step decodes one batch that serves all running requests.

Prompts are computed one after the other, because the next one usually begins as the one before it (`prefix_cache`);
answers are written together, several tokens at once where they can be guessed (`drafts`), and led out of circles
(`circles`). Runs in its own thread; `submit` is for the event loop's.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Sequence
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path

import llguidance.numpy
import numpy as np
from llguidance import LLMatcher, LLParserLimits, LLTokenizer
from numpy.typing import NDArray

from pgparley_local import circles
from pgparley_local.drafts import GRAM, Drafts
from pgparley_local.next_token import Likely, likeliest, log_total
from pgparley_local.prefix_cache import PrefixCache, common
from pgparley_local.runtime import BATCH_TOKENS, Runtime, Slice

PROMPT_TOKENS_BESIDE_ANSWERS = 64
"""Prompt tokens computed in a step that also writes answers, which would otherwise wait seconds for each token."""

KEPT = 16
"""Grammars that are kept compiled, the latest: a question's calls share one, and of 25 tables it takes 0.16 s."""

_GRAMMAR_LIMITS = LLParserLimits(max_items_in_row=20_000, step_max_items=5_000_000, verbose_errors=False)
"""Where a statement names no column yet, that of every table goes on at once: the library's own limits are too low."""


@dataclass(frozen=True, slots=True)
class Request:
    """A prompt as tokens and how to continue it. `grammar`: Lark as llguidance reads it.

    `begun`: the prompt's last tokens, as many, are of the answer: the grammar has read them.
    `keep`: a file for the computed prompt; it is read where it exists and written where it does not. `top`: how many
    of the most probable tokens are reported for each that is chosen. `given`: the answer, where only its probability
    is asked for.
    """

    prompt: tuple[int, ...]
    max_tokens: int
    grammar: str | None = None
    keep: Path | None = None
    top: int = 0
    begun: int = 0
    given: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Generated:
    """The answer to a request. `logprobs`: natural logarithms, one for each chosen token (forced ones have 0).

    `top`: for each token the most probable in its place, of those that the grammar allows; none for forced ones. An
    answer that has begun with what the grammar does not allow has no token and is not finished.
    """

    tokens: tuple[int, ...]
    logprobs: tuple[float, ...]
    cached: int
    finished: bool
    top: tuple[Likely, ...] = ()


class GrammarProblemError(Exception):
    """The grammar cannot be compiled, or the model left it."""


@dataclass(slots=True, eq=False)
class _Job:
    request: Request
    future: Future[Generated] = field(default_factory=Future)
    matcher: LLMatcher | None = None
    sequence: int = -1
    cached: int = 0
    pending: list[int] = field(default_factory=list)
    exits: int = 0
    answer: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    top: list[Likely] = field(default_factory=list)


class Scheduler:
    """Serves requests until `close`."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._cache = PrefixCache(runtime)
        self._drafts = Drafts()
        self._inbox: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._waiting: list[_Job] = []
        self._running: list[_Job] = []
        self._closing = False
        self._compiled = lru_cache(KEPT)(partial(compiled, runtime.tokenizer))
        self._mask = llguidance.numpy.allocate_token_bitmask(1, runtime.vocabulary)
        self._thread = threading.Thread(target=self._run, name="llm-scheduler", daemon=True)
        self._thread.start()

    async def submit(self, request: Request) -> Generated:
        """The answer; cancelling stops the work at the next step. Raises `GrammarProblemError` and `MemoryError`."""
        job = _Job(request)
        self._inbox.put(job)
        return await asyncio.wrap_future(job.future)

    def close(self) -> None:
        """Ends the thread; requests that still run are cancelled."""
        self._inbox.put(None)
        self._thread.join()

    def _run(self) -> None:
        while not self._closing:
            self._receive(block=not (self._waiting or self._running))
            self._drop_cancelled()
            self._admit()
            if self._running:
                self._step()
        for job in self._waiting + self._running:
            job.future.cancel()

    def _receive(self, *, block: bool) -> None:
        while True:
            try:
                job = self._inbox.get(block=block)
            except queue.Empty:
                return
            if job is None:
                self._closing = True
                return
            self._waiting.append(job)
            block = False

    def _drop_cancelled(self) -> None:
        for job in [job for job in self._running if job.future.cancelled()]:
            self._release(job)
        self._waiting = [job for job in self._waiting if not job.future.cancelled()]

    def _admit(self) -> None:
        """Starts waiting requests, until a prompt is to be computed or no sequence is free."""
        while (
            self._waiting and self._cache.has_room() and all(len(job.pending) <= 1 for job in self._running)
        ):
            self._start(self._waiting.pop(0))

    def _start(self, job: _Job) -> None:
        request = job.request
        try:
            job.matcher = None if request.grammar is None else self._compiled(request.grammar).deep_copy()
        except GrammarProblemError as problem:
            _fail(job, problem)
            return
        begun = request.prompt[len(request.prompt) - request.begun :]
        if job.matcher is not None and not job.matcher.consume_tokens(list(begun)):
            _settle(job, Generated((), (), 0, finished=False))
            return
        if len(request.prompt) + request.max_tokens > self._runtime.cells:
            _fail(job, MemoryError("the prompt is longer than the model's context"))
            return
        self._place(job)
        self._running.append(job)

    def _place(self, job: _Job) -> None:
        request = job.request
        reserved = sum(other.request.max_tokens for other in self._running)
        job.sequence = self._cache.place(request.prompt, request.keep, request.max_tokens, reserved)
        job.cached = len(self._cache[job.sequence].tokens)
        job.pending = list(request.prompt[job.cached :])

    def _step(self) -> None:
        """Decodes one batch: a part of the prompt that is being computed, a token or more of every answer."""
        writing = any(len(job.pending) == 1 for job in self._running)
        room = PROMPT_TOKENS_BESIDE_ANSWERS if writing else BATCH_TOKENS
        jobs, slices = [], []
        for job in sorted(self._running, key=lambda j: len(j.pending)):
            tokens = job.pending[:room]
            if not tokens:
                continue
            whole = len(tokens) == len(job.pending)
            guessed = self._guess(job, room - len(tokens)) if whole else []
            room -= len(tokens) + len(guessed)
            position = len(self._cache[job.sequence].tokens)
            slices.append(Slice(job.sequence, position, tokens + guessed, whole + len(guessed)))
            jobs.append(job)
        try:
            logits = self._runtime.decode(slices)
        except MemoryError as problem:
            self._give_up(problem)
            return
        for job, piece, rows in zip(jobs, slices, logits, strict=True):
            self._cache[job.sequence].tokens.extend(piece.tokens)
            job.pending = job.pending[len(piece.tokens) :]
            if rows:
                self._keep(job)
                self._write(job, rows)

    def _guess(self, job: _Job, room: int) -> list[int]:
        """Draft tokens after the pending ones; none where the prompt is to be saved first."""
        request = job.request
        if request.given:
            return list(request.given[len(job.answer) : -1][:room])
        if request.keep is not None and not job.answer:
            return []
        left = request.max_tokens - len(job.answer) - 1
        return self._drafts.guess((*request.prompt, *job.answer), min(room, left))

    def _write(self, job: _Job, rows: Sequence[NDArray[np.float32]]) -> None:
        """A token for each row of logits, as long as the draft agrees; the first is for the last token not guessed."""
        begin = len(job.request.prompt)
        first = len(job.answer)
        guessed = self._cache[job.sequence].tokens[begin + first :]
        going = True
        while (
            going and (more := len(job.answer) - first) < len(rows) and guessed[:more] == job.answer[first:]
        ):
            going = self._sample(job, rows[more])
        right = common(guessed, job.answer[first:])
        if right < len(guessed):
            self._cut(job, first + right)
        job.pending = job.answer[first + right :]
        if going and not job.request.given and (places := circles.second_round(job.answer)):
            self._leave(job, places)

    def _leave(self, job: _Job, places: range) -> None:
        """Goes back into the second round of a circle, to the likeliest token that would have led out of it."""
        exits = [
            (probability - job.logprobs[place], place, token, probability)
            for place in places
            for token, probability in job.top[place]
            if not self._spells(token, job.answer[place:])
        ]
        if not exits or job.exits == circles.EXITS:
            self._finish(job, finished=False)
            return
        job.exits += 1
        _, place, token, probability = max(exits)
        undone = len(job.answer) - place
        if job.matcher is not None and not (
            job.matcher.rollback(undone) and job.matcher.consume_token(token)
        ):
            self._release(job)
            _fail(job, GrammarProblemError(job.matcher.get_error()))
            return
        top = job.top[place]
        del job.answer[place:], job.logprobs[place:], job.top[place:]
        self._cut(job, place)
        self._accept(job, token, probability, top)
        if self._forced(job):
            job.pending = job.answer[place:]

    def _cut(self, job: _Job, length: int) -> None:
        """Forgets what was computed behind the first `length` tokens of the answer."""
        self._cache.cut(job.sequence, len(job.request.prompt) + length)

    def _spells(self, token: int, answer: Sequence[int]) -> bool:
        """Whether the token is only another beginning of the answer's text."""
        text = b"".join(map(self._runtime.piece, answer[: circles.LOOKED_AT]))
        return text.lower().startswith(self._runtime.piece(token).lower())

    def _keep(self, job: _Job) -> None:
        request = job.request
        if request.keep is not None and not job.answer and not request.keep.exists():
            self._runtime.save(job.sequence, request.prompt, request.keep)

    def _give_up(self, problem: MemoryError) -> None:
        """Fails what runs: after a failed decode the cache is not known to be whole."""
        for job in list(self._running):
            self._release(job)
            _fail(job, problem)
        self._cache.clear()

    def _sample(self, job: _Job, logits: NDArray[np.float32]) -> bool:
        """Writes one token and those that the grammar then forces; whether the answer goes on."""
        if job.request.given:
            return self._weigh(job, logits)
        allowed, total = self._allowed(job, logits), log_total(logits)
        token = int(np.argmax(allowed))
        if job.matcher is not None and job.matcher.is_error():
            # Past a limit the library allows the end alone, which is no end of a statement.
            self._finish(job, finished=False)
            return False
        if self._runtime.is_end(token):
            self._finish(job, finished=True)
            return False
        looked_at = max(job.request.top, circles.LOOKED_AT)
        self._accept(job, token, float(logits[token]) - total, likeliest(allowed, looked_at, total))
        if job.matcher is not None and not job.matcher.consume_token(token):
            self._release(job)
            _fail(job, GrammarProblemError(job.matcher.get_error()))
            return False
        return self._forced(job)

    def _weigh(self, job: _Job, logits: NDArray[np.float32]) -> bool:
        """The same for an answer that is given."""
        given = job.request.given
        token = given[len(job.answer)]
        self._accept(job, token, float(logits[token]) - log_total(logits), ())
        if len(job.answer) == len(given):
            self._finish(job, finished=True)
        return len(job.answer) < len(given)

    def _forced(self, job: _Job) -> bool:
        """Writes what the grammar forces behind the last token; whether the answer goes on."""
        stopped = False
        if job.matcher is not None:
            for forced in job.matcher.compute_ff_tokens():
                if job.matcher.consume_token(forced):
                    self._accept(job, forced, 0.0, ())
            stopped = job.matcher.is_stopped()
        if stopped or len(job.answer) >= job.request.max_tokens:
            self._finish(job, finished=stopped)
            return False
        return True

    @staticmethod
    def _accept(job: _Job, token: int, logprob: float, top: Likely) -> None:
        job.answer.append(token)
        job.logprobs.append(logprob)
        job.top.append(top)

    def _allowed(self, job: _Job, logits: NDArray[np.float32]) -> NDArray[np.float32]:
        if job.matcher is None:
            return logits
        llguidance.numpy.fill_next_token_bitmask(job.matcher, self._mask)
        bits = np.unpackbits(self._mask.view(np.uint8), bitorder="little")[: logits.size]
        return np.where(bits == 1, logits, np.float32(-np.inf))

    def _finish(self, job: _Job, *, finished: bool) -> None:
        answer = [t for t in job.answer if not self._runtime.is_end(t)]
        told = tuple(each[: job.request.top] for each in job.top)
        if not job.request.given:
            self._drafts.learn((*job.request.prompt[-GRAM:], *answer))
        result = Generated(tuple(answer), tuple(job.logprobs), job.cached, finished, told)
        self._release(job)
        _settle(job, result)

    def _release(self, job: _Job) -> None:
        self._running.remove(job)
        self._cache.release(job.sequence)


def compiled(tokenizer: LLTokenizer, grammar: str) -> LLMatcher:
    """At the beginning of what the grammar allows. Raises `GrammarProblemError`."""
    lark = LLMatcher.grammar_from_lark(grammar)
    matcher = LLMatcher(tokenizer, lark, log_level=0, limits=_GRAMMAR_LIMITS)
    if matcher.is_error():
        raise GrammarProblemError(matcher.get_error())
    return matcher


def _fail(job: _Job, problem: Exception) -> None:
    # Nobody waits any more where it was cancelled meanwhile.
    with contextlib.suppress(InvalidStateError):
        job.future.set_exception(problem)


def _settle(job: _Job, result: Generated) -> None:
    with contextlib.suppress(InvalidStateError):
        job.future.set_result(result)
