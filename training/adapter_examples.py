"""Makes the adapter's training examples: the engine's own prompts for Spider's training questions, with what to answer.

    python -m training.adapter_examples --out FILE [--bench FOLDER] [--work FOLDER] [--n N]

The engine is asked each question as it would be at work, as far as its first call of the model; what that call shows
is kept, as tokens, beside the known statement written as the model writes. What its grammar refuses is left out. No
question is about a database that the ablations are measured on. A third of the answers begin with their condition.

Owns the drawing, the recording and the file. Does not train.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import sqlglot
from llguidance import LLMatcher
from rich.console import Console
from rich.progress import track
from sqlglot import exp
from sqlglot.generators.postgres import PostgresGenerator

from benchmarks.quality.ablations.drawing import TRAIN, in_turns, left_out
from benchmarks.quality.candidates.command import ROOT, check_bench, finished
from benchmarks.quality.candidates.gateway import TIMEOUT
from benchmarks.quality.candidates.questions import Asked, Item, Question, read_items
from benchmarks.quality.candidates.site import Site, site
from benchmarks.quality.candidates.tasks import READER
from engine import pipeline
from engine.conditions.types import Condition
from engine.conditions.words import words
from engine.core.deadline import Deadline
from engine.core.ports import Completion, LanguageModel, Prompt, Weighed
from engine.core.state import State
from engine.decoding.writer import FENCE
from engine.errors import ModelUnavailableError, NLError
from engine.llm.embedded.chat import chat_tokens
from engine.llm.embedded.runtime import Runtime
from engine.stages.generate import generate
from engine.types import Asker, AskRequest
from pgparley.config import cache_dir, load
from schema_catalog.naming import quote_ident
from training.sql_features import kind_of

CONDITIONED = 3
"""One answer in so many begins with its condition."""

INVOCATION = (14374, 15846, 198)
"""`### Question` and the end of its line, in the model's tokens."""

ASKING = pipeline.CANDIDATE_STAGES[: pipeline.CANDIDATE_STAGES.index(generate) + 1]


@dataclass(frozen=True, slots=True)
class AdapterExample:
    """One question: the tokens that the model reads, and those that it is to write."""

    id: str
    database: str
    prompt: tuple[int, ...]
    answer: tuple[int, ...]


class Recorder:
    """`engine.core.ports.LanguageModel` that keeps the last prompt it is shown, and fails."""

    grammars = True
    goes_on = False

    def __init__(self) -> None:
        self.shown: tuple[Prompt, str] | None = None

    async def complete(self, prompt: Prompt, *, grammar: str | None = None, **_options: object) -> Completion:
        """Keeps the prompt and its grammar."""
        self.shown = None if grammar is None else (prompt, grammar)
        raise ModelUnavailableError("recorded")

    async def weigh(self, _prompt: Prompt, _options: Sequence[str], *, deadline: Deadline) -> Weighed:  # noqa: ARG002
        """Fails."""
        raise ModelUnavailableError("recorded")

    async def read(self, _prompt: Prompt, *, deadline: Deadline) -> None:
        """Nothing is read."""


class AsWritten(PostgresGenerator):
    """PostgreSQL as models write it: `x NOT IN (…)`, nothing of unknown values, quotes only where names need them."""

    def not_sql(self, expression: exp.Not) -> str:
        """The negation inside the predicate."""
        within = expression.this
        operators = {exp.In: " IN ", exp.Like: " LIKE ", exp.Between: " BETWEEN ", exp.ILike: " ILIKE "}
        if type(within) in operators:
            operator = operators[type(within)]
            left, _, right = self.sql(within).partition(operator)
            return f"{left} NOT{operator}{right}"
        if isinstance(within, exp.Is):
            left, _, right = self.sql(within).rpartition(" IS ")
            return f"{left} IS NOT {right}"
        return str(super().not_sql(expression))

    def neq_sql(self, expression: exp.NEQ) -> str:
        """Models prefer `!=`."""
        return str(self.binary(expression, "!="))


def as_written(sql: str) -> str:
    """A known statement as the model would write it: aliases T1, T2, names in quotes only where they need them."""
    tree = sqlglot.parse_one(sql, dialect="postgres")
    aliases = {each.alias for each in tree.find_all(exp.Table) if each.alias}
    for name in tree.find_all(exp.Identifier):
        text = name.name.upper() if name.name in aliases and name.name[1:].isdigit() else name.name
        name.set("quoted", quote_ident(name.name) != name.name)
        name.set("this", text)
    for order in tree.find_all(exp.Ordered):
        # Written nowhere, this is PostgreSQL's own order, and what sqlglot leaves out.
        order.set("nulls_first", bool(order.args.get("desc")))
    return AsWritten(dialect="postgres").generate(tree)


def drawn(items: Sequence[Item], seed: int) -> list[Item]:
    """Questions on the databases that are trained on, one a statement, in turns from all of them."""
    names = set(left_out(items))
    ranked = in_turns([item for item in items if item["db"] not in names], seed)
    seen: set[tuple[str, str]] = set()
    kept = []
    for item in ranked:
        key = (item["db"], item["gold"])
        if key not in seen:
            seen.add(key)
            kept.append(item)
    return kept


async def _record(given: argparse.Namespace, console: Console) -> None:
    wanted = drawn(read_items(given.bench / TRAIN.file), given.seed)[: given.n]
    runtime = Runtime(replace(load(None).embedded_model, context=2048, sequences=1))
    refused = unasked = 0
    async with site(given.work, given.bench) as place:
        with given.out.open("wb") as file:
            for item in track(wanted, "Asking", console=console):
                shown = await _shown(item, place)
                if shown is None:
                    unasked += 1
                    continue
                example = _example(item, *shown, runtime)
                if example is None:
                    refused += 1
                    console.print(f"refused: {as_written(item['gold'])}", markup=False, highlight=False)
                else:
                    file.write(msgspec.json.encode(example) + b"\n")
    console.print(f"{len(wanted)} questions, {unasked} not asked, {refused} refused by their grammar")
    runtime.close()


async def _shown(item: Item, place: Site) -> tuple[Prompt, str] | None:
    task = await place.task(Asked(Question(item["id"], item["question"], item["db"])))
    recorder = Recorder()
    model: LanguageModel = recorder
    started = time.monotonic()
    ask = AskRequest(Asker(READER, ""), task.question.text, k=1, db=task.question.database)
    state = State(ask, 1, 1, Deadline(started + TIMEOUT), started)
    try:
        await pipeline.run(state, replace(task.tools, model=model), ASKING)
    except NLError:
        return recorder.shown
    return None


def _example(item: Item, prompt: Prompt, grammar: str, runtime: Runtime) -> AdapterExample | None:
    """The example; None where the grammar refuses the answer."""
    sql = as_written(item["gold"])
    answer = runtime.tokenize(f"{sql}\n{FENCE}")
    matcher = LLMatcher(runtime.tokenizer, LLMatcher.grammar_from_lark(grammar), log_level=0)
    if not (matcher.consume_tokens(answer) and matcher.is_accepting()):
        return None
    prefix = f"{FENCE}sql\n{_comment(item['id'], sql)}"
    return AdapterExample(
        item["id"],
        item["db"],
        tuple(chat_tokens(runtime, prompt.system, prompt.user, prefix)),
        tuple(answer),
    )


def _comment(question: str, sql: str) -> str:
    kind = kind_of(sql)
    chosen = int(hashlib.sha256(question.encode()).hexdigest(), 16) % CONDITIONED == 0
    return "" if kind is None or not chosen else f"-- {words(Condition(kind, 1.0))}\n"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--bench", type=Path, default=ROOT.parent / "shared" / "bench", help="the data's folder"
    )
    parser.add_argument(
        "--work", type=Path, default=cache_dir() / "bench-ablations", help="the databases' folder"
    )
    parser.add_argument("--out", type=Path, required=True, help="the file to write")
    parser.add_argument("--n", type=int, default=10_000, help="questions at most")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    check_bench(given.bench)
    return given


def main() -> int:
    """Records and says how many; returns the exit status (2: no data; 130: stopped)."""
    return finished(_options, _record, Console(width=100))


if __name__ == "__main__":
    sys.exit(main())
