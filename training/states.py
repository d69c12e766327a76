"""Records what the model that writes holds in its layers while it writes: its own statements for training questions.

    python -m training.states --bench FOLDER --out FOLDER [--n N] [--minutes M] [--seed S]

First the prompts, which are the pipeline's up to the model's first call: OUT/prompts.jsonl. Then the statements with
their states, as many minutes as are given: a file for each database. Last the scorer's verdicts: OUT/verdicts.json. A
run that is stopped goes on from there.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from benchmarks.harness.command import check_bench, finished
from benchmarks.harness.drawing import Item, in_turns, may_be_fitted, read_items
from benchmarks.harness.questions import TRAIN, Asked, Question
from benchmarks.harness.scorer import Scorer
from benchmarks.harness.site import Site, site
from benchmarks.harness.systems import asked_now
from engine.app import pipeline
from engine.llm.replies import statement
from engine.values.errors import ModelUnavailableError, NLError
from engine.values.model_profile import EMBEDDED, ModelProfile
from engine.values.ports import Completion, Prompt
from pgparley.config import load
from pgparley_local.runtime import Runtime
from pgparley_local.scheduler import GrammarProblemError, Request, Scheduler
from pgparley_local.server import ChatRequest, Message, prompt_tokens
from training.command import parser
from training.hidden_states import StateRuntime

LAYERS = (4, 8, 12, 15, 18, 20, 23, 26)
"""Of the 28, counted from 0."""

VERDICTS = "verdicts.json"

OF_A_DATABASE, TOGETHER, LOOKED_AT = 10, 7, 6
"""Questions of a database; answers that are written in one batch; most probable tokens kept of each place."""


@dataclass(frozen=True, slots=True)
class Prompted:
    """The first call that the pipeline makes for a question; without a grammar it makes none."""

    id: str
    database: str
    messages: tuple[Message, ...] = ()
    grammar: str = ""
    max_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Written:
    """A statement by its tokens: their log-probabilities, and of each place those of the most probable."""

    id: str
    database: str
    pieces: tuple[str, ...]
    logprobs: tuple[float, ...]
    top: tuple[tuple[float, ...], ...]
    finished: bool

    @property
    def sql(self) -> str:
        """As the pipeline reads it."""
        return statement("".join(self.pieces))


@dataclass(frozen=True, slots=True)
class Recorded:
    """A statement, and what the layers held: (m, layers, width), at the prompt's last token and at the statement's."""

    written: Written
    states: NDArray[np.float16]


def read(folder: Path) -> tuple[list[Recorded], dict[str, bool]]:
    """What is recorded, and whether the statements are right, by the questions' ids."""
    found: list[Recorded] = []
    for file in sorted(folder.glob("*.npz")):
        with np.load(file) as arrays:
            known = msgspec.json.decode(str(arrays["written"]), type=list[Written])
            found += [Recorded(each, arrays[f"states{place}"]) for place, each in enumerate(known)]
    verdicts = folder / VERDICTS
    return found, json.loads(verdicts.read_text("utf-8")) if verdicts.exists() else {}


class _Prompts:
    """`values.ports.LanguageModel` that answers nothing and keeps the first call of each question by its text."""

    profile: ModelProfile = EMBEDDED

    def __init__(self) -> None:
        self.first: Prompted | None = None

    async def complete(
        self, prompt: Prompt, *, max_tokens: int, grammar: str | None = None, **_: Any
    ) -> Completion:
        if self.first is None and grammar is not None:
            spoken = zip(
                ("system", "user", "assistant"), (prompt.system, prompt.user, prompt.prefix), strict=True
            )
            self.first = Prompted("", "", tuple(Message(*each) for each in spoken), grammar, max_tokens)
        raise ModelUnavailableError("nothing is written here")

    async def likelihood(self, *_: Any, **__: Any) -> Completion:
        raise ModelUnavailableError("nothing is written here")

    async def read(self, *_: Any, **__: Any) -> None:
        """Nothing is read."""


async def _prompts(place: Site, items: Sequence[Item], file: Path) -> None:
    with file.open("ab") as out:
        for item in items:
            model = _Prompts()
            task = await place.task(
                Asked(Question(item["id"], item["question"], item["db"]), owner=item["db"])
            )
            tools = replace(task.tools, model=model)
            with contextlib.suppress(NLError):
                await pipeline.run(asked_now(task.question, 1), tools, pipeline.CANDIDATE_STAGES)
            made = replace(model.first or Prompted("", ""), id=item["id"], database=item["db"])
            out.write(msgspec.json.encode(made) + b"\n")


def _lines(file: Path) -> list[Prompted]:
    lines = file.read_bytes().splitlines() if file.exists() else []
    return [msgspec.json.decode(line, type=Prompted) for line in lines]


def _drawn(given: argparse.Namespace) -> list[Item]:
    """One question of each statement, `OF_A_DATABASE` of a database."""
    drawn: dict[str, dict[str, Item]] = defaultdict(dict)
    for item in in_turns(may_be_fitted(read_items(given.bench / TRAIN.file)), given.seed):
        own = drawn[item["db"]]
        if len(own) < OF_A_DATABASE:
            own.setdefault(item["gold"], item)
    return [item for own in drawn.values() for item in own.values()][: given.n]


async def _write(prompts: Sequence[Prompted], folder: Path, until: float, console: Console) -> None:
    """The statements of one database after the other, those of short schemas first, until the time is over."""
    of: dict[str, list[Prompted]] = defaultdict(list)
    for each in prompts:
        of[each.database].append(each)
    settings = load(None).embedded_model
    reader = StateRuntime(replace(settings, sequences=1), LAYERS)
    runtime = Runtime(settings)
    scheduler = Scheduler(runtime)
    try:
        for name in sorted(of, key=lambda name: len(of[name][0].messages[1].content)):
            file = folder / f"{name}.npz"
            if file.exists():
                continue
            if time.monotonic() > until:
                return
            kept(await _statements(of[name], runtime, scheduler, reader), file)
            console.print(f"{name}: {len(of[name])}", highlight=False)
    finally:
        scheduler.close()
        runtime.close()
        reader.close()


async def _statements(
    asked: Sequence[Prompted], runtime: Runtime, scheduler: Scheduler, reader: StateRuntime
) -> list[Recorded]:
    turn, reading = asyncio.Semaphore(TOGETHER), asyncio.Lock()

    async def written(each: Prompted) -> Recorded | None:
        prompt = tuple(prompt_tokens(runtime, ChatRequest(each.messages, continue_final_message=True)))
        async with turn:
            try:
                done = await scheduler.submit(
                    Request(prompt, each.max_tokens, grammar=each.grammar, top=LOOKED_AT)
                )
            except (GrammarProblemError, MemoryError):
                return None
        pieces = tuple(runtime.piece(token).decode(errors="replace") for token in done.tokens)
        top = tuple(tuple(likely for _, likely in place) for place in done.top)
        made = Written(each.id, each.database, pieces, done.logprobs, top, done.finished)
        async with reading:
            whole = (*prompt, *done.tokens)
            return Recorded(made, await asyncio.to_thread(reader.states, whole, len(done.tokens) + 1))

    # The first reads the schema for the others.
    found = [await written(asked[0]), *await asyncio.gather(*map(written, asked[1:]))]
    return [each for each in found if each is not None]


def kept(found: Sequence[Recorded], file: Path) -> None:
    """Writes a file, whole or not at all."""
    part = file.with_suffix(".part")
    arrays: dict[str, Any] = {f"states{place}": each.states for place, each in enumerate(found)}
    told = np.array(msgspec.json.encode([each.written for each in found]).decode())
    with part.open("wb") as out:
        np.savez(out, written=told, **arrays)
    part.replace(file)


async def _record(given: argparse.Namespace, console: Console) -> None:
    given.out.mkdir(parents=True, exist_ok=True)
    file = given.out / "prompts.jsonl"
    known = {each.id for each in _lines(file)}
    if left := [item for item in _drawn(given) if item["id"] not in known]:
        async with site(given.out, given.bench) as place:
            await _prompts(place, left, file)
    prompts = [each for each in _lines(file) if each.grammar]
    await _write(prompts, given.out, time.monotonic() + 60 * given.minutes, console)
    found, verdicts = read(given.out)
    wanted = {each.written.id: [each.written.sql] for each in found if each.written.id not in verdicts}
    if wanted and not given.unjudged:
        async with site(given.out, given.bench) as place:
            scorer = Scorer(given.bench, place.dsn, given.out / "scoring")
            judged = await asyncio.to_thread(scorer.judge, TRAIN, wanted)
        verdicts |= {name: right[0][0] for name, right in judged.items()}
        (given.out / VERDICTS).write_text(json.dumps(verdicts), encoding="utf-8")
    console.print(f"{len(found)} statements, {sum(verdicts.values())} right", highlight=False)


def _options() -> argparse.Namespace:
    made = parser(__doc__)
    made.add_argument("--n", type=int, help="questions")
    made.add_argument("--minutes", type=float, default=60, help="for which statements are written")
    made.add_argument("--unjudged", action="store_true", help="leave the scorer for another run")
    given = made.parse_args()
    check_bench(given.bench)
    if given.out is None:
        raise ValueError("--out says which folder to write or to go on with")
    given.work = given.out
    return given


def main() -> int:
    """Records until the time is over; returns the exit status (2: no data, another run; 130: stopped)."""
    return finished(_options, _record)


if __name__ == "__main__":
    sys.exit(main())
