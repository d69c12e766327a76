"""The prefix cache: tokens in the sequences of one `Runtime`'s key-value cache. One thread drives it.

A new prompt starts from the sequence that shares its longest prefix. Owns the tokens of each sequence and the eviction:
first what was not used for long and would soon be computed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pgparley_local.runtime import Runtime

TOKENS_A_TURN = 8
"""Of a sequence's own tokens, as many as keep it as if one prompt fewer had been placed since it was used."""


@dataclass(slots=True)
class CachedSequence:
    """One sequence: its tokens, how many of them another one had before, and when it was last used."""

    tokens: list[int] = field(default_factory=list)
    shared: int = 0
    used: int = 0
    busy: bool = False


class PrefixCache:
    """Which tokens each sequence of the runtime holds."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._sequences = [CachedSequence() for _ in range(runtime.sequences)]
        self._clock = 0

    def __getitem__(self, number: int) -> CachedSequence:
        return self._sequences[number]

    def has_room(self) -> bool:
        """Whether a sequence is free."""
        return not all(s.busy for s in self._sequences)

    def place(self, prompt: tuple[int, ...], kept: Path | None, max_tokens: int, reserved: int) -> int:
        """The number of a free sequence, from now on busy, that begins with as much of the prompt as is known.

        At least the prompt's last token is left to compute: its logits choose the first token of the answer. `kept`:
        a file that may hold the computed prompt. `reserved`: cells that running answers will still need.
        """
        source, length = self._longest(prompt)
        target = self._target(source, length)
        shared = self._sequences[source].shared if target == source else length
        if target != source:
            self._runtime.truncate(target, 0)
            self._runtime.copy(source, target, length)
        self._runtime.truncate(target, length)
        if kept is not None and length < len(prompt) - 1 and kept.is_file():
            length = self._restore(target, kept, prompt)
        self._make_room(len(prompt) - length + max_tokens + reserved, target)
        self._clock += 1
        self._sequences[target] = CachedSequence(
            list(prompt[:length]), min(shared, length), self._clock, busy=True
        )
        if length:
            self._sequences[source].used = self._clock
        return target

    def release(self, number: int) -> None:
        """Lets the sequence be evicted from now on."""
        self._sequences[number].busy = False

    def cut(self, number: int, length: int) -> None:
        """Removes the sequence's tokens from `length` on."""
        self._runtime.truncate(number, length)
        del self._sequences[number].tokens[length:]

    def clear(self) -> None:
        """Empties all sequences."""
        for number in range(len(self._sequences)):
            self.cut(number, 0)

    def _longest(self, prompt: tuple[int, ...]) -> tuple[int, int]:
        shared = [common(s.tokens, prompt) for s in self._sequences]
        source = max(range(len(shared)), key=shared.__getitem__)
        return source, min(shared[source], len(prompt) - 1)

    def _target(self, source: int, length: int) -> int:
        """A free sequence: the source itself where nothing of it is lost, else an empty one, else the least worth."""
        free = [i for i, s in enumerate(self._sequences) if not s.busy]
        if source in free and length >= len(self._sequences[source].tokens) - 1:
            return source
        empty = [i for i in free if not self._sequences[i].tokens]
        others = [i for i in free if i != source or not length] or free
        return empty[0] if empty else min(others, key=self._worth)

    def _worth(self, number: int) -> float:
        sequence = self._sequences[number]
        return sequence.used + (len(sequence.tokens) - sequence.shared) / TOKENS_A_TURN

    def _restore(self, target: int, file: Path, prompt: tuple[int, ...]) -> int:
        """Fills `target` from `file`; returns how many tokens of the prompt need not be computed."""
        self._runtime.truncate(target, 0)
        length = min(common(self._runtime.load(target, file), prompt), len(prompt) - 1)
        self._runtime.truncate(target, length)
        return length

    def _make_room(self, needed: int, keep: int) -> None:
        """Evicts idle sequences, the least worth first, until `needed` cells are free; shared cells count once each."""
        idle = sorted(
            (i for i, s in enumerate(self._sequences) if not s.busy and i != keep and s.tokens),
            key=self._worth,
        )
        while idle and self._cells_used() + needed > self._runtime.cells:
            self.cut(idle.pop(0), 0)

    def _cells_used(self) -> int:
        distinct: set[tuple[int, ...]] = set()
        total = 0
        for sequence in self._sequences:
            best = max((common(other, sequence.tokens) for other in distinct), default=0)
            total += len(sequence.tokens) - best
            distinct.add(tuple(sequence.tokens))
        return total


def common(left: Sequence[int], right: Sequence[int]) -> int:
    """Length of the common prefix."""
    limit = min(len(left), len(right))
    if list(left[:limit]) == list(right[:limit]):
        return limit
    return next(i for i in range(limit) if left[i] != right[i])
