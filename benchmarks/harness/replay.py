"""A language model whose every answer is kept: pipelines that ask the same prompts pay for them once.

Owns the file of completions, keyed by all that a call is given, and the accounting: a replayed call costs the seconds
that it took when it was made. Calls are made one after another unless told otherwise, so that neither an answer nor its
seconds depend on what else was in the model's batch. Does not own the model's server.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib.metadata
import sqlite3
import time
import zlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import msgspec

from benchmarks.harness.journal import Cost
from engine.values.deadline import Deadline
from engine.values.model_profile import ModelProfile
from engine.values.ports import Completion, LanguageModel, Prompt, Token

TOLD = 20
"""Of how many tokens the model always tells how likely they were: who asks for fewer makes the same call."""

_TABLE = (
    "CREATE TABLE IF NOT EXISTS completion (key BLOB PRIMARY KEY, seconds REAL NOT NULL, reply BLOB NOT NULL)"
)


@dataclass(frozen=True, slots=True)
class Recorded:
    """What the model said and the seconds that it took, by the clock of the `Replay` that asked."""

    reply: Completion
    seconds: float


class Completions:
    """Replies in an SQLite file, on the disk before they are used: a run cut off loses one call at most."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute(_TABLE)

    def find(self, key: bytes) -> Recorded | None:
        """The reply to the call with that key, None where it was never made."""
        row = self._connection.execute(
            "SELECT seconds, reply FROM completion WHERE key = ?", (key,)
        ).fetchone()
        if row is None:
            return None
        return Recorded(msgspec.json.decode(zlib.decompress(row[1]), type=Completion), row[0])

    def add(self, key: bytes, recorded: Recorded) -> None:
        """Keeps a reply; where another run has kept one meanwhile, that one stays."""
        packed = zlib.compress(msgspec.json.encode(recorded.reply))
        self._connection.execute(
            "INSERT OR IGNORE INTO completion VALUES (?, ?, ?)", (key, recorded.seconds, packed)
        )

    def __len__(self) -> int:
        return int(self._connection.execute("SELECT count(*) FROM completion").fetchone()[0])

    def close(self) -> None:
        """Closes the file."""
        self._connection.close()


def file_for(folder: Path, model: Path) -> Path:
    """The file of completions of a model and of what runs it: other weights or another runtime have their own."""
    with model.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256")
    digest.update(importlib.metadata.version("xllamacpp").encode())
    return folder / f"completions-{digest.hexdigest()[:16]}.sqlite"


class Replay:
    """Implements `engine.values.ports.LanguageModel` over `model`, which is asked for what `kept` does not have.

    `clock`: gives seconds, of which a call takes the difference; best the processor seconds of the model's server.
    `at_once`: calls that are made together, more than one where nobody asks for their seconds.
    """

    def __init__(
        self,
        model: LanguageModel,
        kept: Completions,
        clock: Callable[[], float] = time.perf_counter,
        at_once: int = 1,
    ) -> None:
        self.clock = clock
        self._model = model
        self._kept = kept
        self._turn = asyncio.Semaphore(at_once)
        self._spent, self._own = Cost(0.0), time.process_time()
        self._beginning: Prompt | None = None
        self._read: Prompt | None = None

    @property
    def profile(self) -> ModelProfile:
        """See `engine.values.ports.LanguageModel.profile`."""
        return self._model.profile

    def about(self, beginning: Prompt) -> None:
        """Names the prompt that the next calls begin like.

        The server reads it before the first of them that is not replayed, untimed: no arm pays for the schema, which
        the engine reads when it starts.
        """
        self._beginning = beginning

    def take(self, _wall: float) -> Cost:
        """What was asked since the last time; counting begins anew.

        The seconds are those of the recorded calls and this process's own processor seconds: on a machine that others
        use, the wall clock tells of them instead.
        """
        done, own = self._spent, self._own
        self._spent, self._own = Cost(0.0), time.process_time()
        return replace(done, seconds=done.model_seconds + self._own - own)

    async def complete(
        self,
        prompt: Prompt,
        *,
        deadline: Deadline,
        max_tokens: int,
        grammar: str | None = None,
        others: int = 0,
        schema: Mapping[str, object] | None = None,
    ) -> Completion:
        """See `engine.values.ports.LanguageModel.complete`."""
        ask = partial(
            self._model.complete,
            prompt,
            deadline=deadline,
            max_tokens=max_tokens,
            grammar=grammar,
            others=TOLD,
            schema=schema,
        )
        asked = () if schema is None else (schema,)
        # Files that were written when answers could be drawn by chance have a temperature and a seed.
        key = _key("complete", prompt, grammar, max_tokens, 0.0, 0, TOLD, *asked)
        reply = await self._replayed(key, ask, deadline)
        return replace(reply, tokens=tuple(Token(each.text, each.others[:others]) for each in reply.tokens))

    async def likelihood(self, prompt: Prompt, answer: str, *, deadline: Deadline) -> Completion:
        """See `engine.values.ports.LanguageModel.likelihood`."""
        ask = partial(self._model.likelihood, prompt, answer, deadline=deadline)
        return await self._replayed(_key("likelihood", prompt, answer), ask, deadline)

    async def read(self, prompt: Prompt, *, deadline: Deadline) -> None:
        """See `engine.values.ports.LanguageModel.read`; neither counted nor kept."""
        await self._model.read(prompt, deadline=deadline)

    async def _replayed(
        self, key: bytes, ask: Callable[[], Awaitable[Completion]], deadline: Deadline
    ) -> Completion:
        async with self._turn:
            found = self._kept.find(key)
            if found is None:
                await self._warm(deadline)
                began = self.clock()
                reply = await ask()
                found = Recorded(reply, self.clock() - began)
                self._kept.add(key, found)
            self._count(found)
            return found.reply

    async def _warm(self, deadline: Deadline) -> None:
        if self._beginning is not None and self._beginning != self._read:
            # As `read`, without leaving hundreds of computed prompts in the user's folder.
            await self._model.complete(self._beginning, deadline=deadline, max_tokens=1)
            self._read = self._beginning

    def _count(self, found: Recorded) -> None:
        spent, reply = self._spent, found.reply
        self._spent = Cost(
            *(0.0, spent.calls + 1, spent.prefilled + reply.prefilled, spent.cached + reply.cached),
            *(spent.generated + reply.generated, spent.model_seconds + found.seconds),
        )


def _key(kind: str, prompt: Prompt, *arguments: object) -> bytes:
    # Files that were written before an answer could be begun have no such field.
    given = {name: text for name, text in asdict(prompt).items() if text or name != "begun"}
    return hashlib.sha256(msgspec.json.encode([kind, given, *arguments])).digest()
