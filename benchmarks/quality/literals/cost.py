"""What lists of values cost, in processor time: in the grammar, and when a literal is compared with a list.

Rounds alternate over all sizes, because other work of the machine comes and goes; medians are given. The model's
vocabulary is read, the model is not run.
"""

from __future__ import annotations

import random
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import llguidance.numpy
from llguidance import LLMatcher

from benchmarks.quality.literals.distortions import Synonyms
from engine.core.elements import ValueList
from engine.core.ports import Encoder
from engine.decoding.sql_grammar import sql_grammar
from engine.linking.near_values import near_values
from engine.llm.embedded.runtime import Runtime
from engine.llm.settings import EmbeddedModelSettings
from schema_catalog.naming import quote_literal
from schema_catalog.types import Column, Snapshot, Table, TableKind

SIZES = (0, 10, 100, 1_000, 10_000, 100_000)
COLUMN = ("public", "parcel", "city")
SCHEMA = Snapshot(
    "shop",
    ("public",),
    tuple(
        Table(
            "public",
            name,
            TableKind.TABLE,
            tuple(Column(each, "text") for each in ("id", "city", "status", "kind", "note", "weight")),
        )
        for name in ("parcel", "customer", "depot", "driver", "route", "claim")
    ),
)


@dataclass(frozen=True, slots=True)
class Cost:
    """Milliseconds of processor time: writing the grammar, compiling it, its dearest mask, all masks of a statement.

    `near`: finding what a misspelt literal means; `said`: why the grammar cannot be used. None: not measured.
    """

    values: int
    text: float
    compiled: float
    dearest: float | None
    masks: float | None
    near: float | None
    said: str = ""


def costs(model: Path, words: Synonyms, encoder: Encoder, rounds: int) -> list[Cost]:
    """The medians for each of `SIZES`."""
    runtime = Runtime(EmbeddedModelSettings(path=model, context=512, sequences=1))
    values = _values(words)
    found: dict[int, list[Cost]] = defaultdict(list)
    for _ in range(rounds):
        for size in SIZES:
            found[size].append(_cost(runtime, values[:size], encoder))
    runtime.close()
    return [_median(each) for each in found.values()]


def _values(words: Synonyms) -> list[str]:
    """A hundred thousand and more different texts of one to three words."""
    chance = random.Random(0)  # noqa: S311  a draw of words
    single = [word.replace("_", " ").title() for word in words]
    chance.shuffle(single)
    return list(dict.fromkeys([*single, *(" ".join(chance.sample(single, 2)) for _ in range(SIZES[-1]))]))


def _cost(runtime: Runtime, values: Sequence[str], encoder: Encoder) -> Cost:
    lists = [ValueList(COLUMN, tuple(values))] if values else []
    grammar, text = _timed(lambda: sql_grammar(SCHEMA, frozenset(), lists))
    lark = LLMatcher.grammar_from_lark(grammar)
    matcher, compiled = _timed(lambda: LLMatcher(runtime.tokenizer, lark, log_level=0))
    wanted = values[len(values) // 2] if values else "Lima"
    near = _timed(lambda: near_values(f"{wanted}q", values, encoder))[1] if values else None
    masks, said = _masks(
        runtime,
        matcher,
        f"SELECT id FROM parcel WHERE city = {quote_literal(wanted)};\n```",  # noqa: S608  quoted
    )
    if said:
        return Cost(len(values), text, compiled, None, None, near, said)
    return Cost(len(values), text, compiled, max(masks), sum(masks), near)


def _masks(runtime: Runtime, matcher: LLMatcher, sql: str) -> tuple[list[float], str]:
    """The time of each token's mask; and what llguidance says where it gives up."""
    mask = llguidance.numpy.allocate_token_bitmask(1, runtime.vocabulary)
    times = []
    for token in runtime.tokenizer.tokenize_str(sql):
        times.append(_timed(lambda: llguidance.numpy.fill_next_token_bitmask(matcher, mask))[1])
        if not matcher.consume_token(token):
            return times, (matcher.get_error() or "the token is refused").splitlines()[0]
    return times, ""


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    began = time.process_time()
    done = work()
    return done, 1_000 * (time.process_time() - began)


def _median(rounds: Sequence[Cost]) -> Cost:
    def middle(name: str) -> float | None:
        known = [value for each in rounds if (value := getattr(each, name)) is not None]
        return statistics.median(known) if known else None

    first = rounds[0]
    return Cost(
        first.values,
        middle("text") or 0.0,
        middle("compiled") or 0.0,
        *(middle(name) for name in ("dearest", "masks", "near")),
        first.said,
    )


def table(found: Sequence[Cost]) -> str:
    """The costs in Markdown."""
    lines = [
        "| values | grammar, ms | compiled, ms | dearest mask, ms | all masks, ms | nearest value, ms |",
        "|---" * 6 + "|",
    ]
    for each in found:
        figures = (each.text, each.compiled, each.dearest, each.masks, each.near)
        shown = " | ".join("" if value is None else f"{value:.1f}" for value in figures)
        lines.append(f"| {each.values:,} | {shown} |{f' {each.said}' if each.said else ''}")
    return "\n".join(lines)
