"""What the surrogate filter is worth: a language model asked about flagged decisions whose truth is known."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.quality.candidates.figures import Figure
from benchmarks.quality.linking.figures import Resamples
from benchmarks.quality.linking.linked import Linked
from benchmarks.quality.linking.opinion import relevance
from benchmarks.quality.roc import auc
from engine.core.deadline import Deadline
from engine.core.ports import LanguageModel
from engine.schema_linking.branching import Kind, TrainedBranching, kind_of
from engine.schema_linking.linker import Decision

SECONDS = 60.0
"""For one opinion at most."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A flagged decision, whether its element is relevant in truth, and the log-odds of that as the model has them.

    `log_odds`: None where it did not report both options.
    """

    database: str
    question: str
    kind: Kind
    linked: bool
    relevant: bool
    log_odds: float | None
    seconds: float

    @property
    def said(self) -> bool | None:
        """Whether the model holds it for relevant."""
        return None if self.log_odds is None else self.log_odds > 0


@dataclass(frozen=True, slots=True)
class SurrogateFigures:
    """Over `n` flagged decisions of `questions` questions.

    `accuracy`: says rightly whether the element is relevant, of all, of tables and of columns. `linker`: the linker's
    own accuracy on the same. `auc`: P(a relevant element has higher log-odds than another). `lifted_wrong`: of the
    decisions that are wrong those whose flag it would take away; `lifted_right`: the same of the right ones.
    """

    n: int
    questions: int
    accuracy: Figure
    accuracy_table: Figure
    accuracy_column: Figure
    linker: Figure
    auc: float
    lifted_wrong: Figure
    lifted_right: Figure
    seconds: float


async def opinions(
    found: Sequence[Linked], branching: TrainedBranching, model: LanguageModel, n: int, seed: int
) -> list[Asked]:
    """Of `n` flagged decisions drawn from all, asked in the questions' order, which the prefix cache serves best."""
    flagged = [
        (one, decision)
        for one in found
        for decision, flag in zip(
            one.free, branching.flagged(one.states, one.free, one.snapshot), strict=True
        )
        if flag
    ]
    drawn = np.sort(np.random.default_rng(seed).permutation(len(flagged))[:n])
    chosen = [flagged[number] for number in drawn.tolist()]
    return [await _asked(one, decision, model) for one, decision in chosen]


async def _asked(one: Linked, decision: Decision, model: LanguageModel) -> Asked:
    started = time.monotonic()
    log_odds = await relevance(
        model, decision.element, one.question.text, one.snapshot, Deadline(started + SECONDS)
    )
    return Asked(
        one.question.database,
        one.question.id,
        kind_of(decision),
        decision.linked,
        decision.element in one.question.gold,
        log_odds,
        time.monotonic() - started,
    )


def figures_of(asked: Sequence[Asked]) -> SurrogateFigures:
    """Of at least one opinion."""
    drawn = Resamples([each.database for each in asked])
    right = np.array([each.said == each.relevant for each in asked])
    tables = np.array([each.kind is Kind.TABLE for each in asked])
    correct = np.array([each.linked == each.relevant for each in asked])
    agrees = np.array([each.said == each.linked for each in asked])
    every = np.ones(len(asked), dtype=np.bool_)
    answered = [each for each in asked if each.log_odds is not None]
    return SurrogateFigures(
        len(asked),
        len({each.question for each in asked}),
        drawn.share(right, every),
        drawn.share(right & tables, tables),
        drawn.share(right & ~tables, ~tables),
        drawn.share(correct, every),
        auc(
            np.array([each.log_odds for each in answered], dtype=np.float64),
            np.array([each.relevant for each in answered], dtype=np.bool_),
        ),
        drawn.share(agrees & ~correct, ~correct),
        drawn.share(agrees & correct, correct),
        float(np.mean([each.seconds for each in asked])),
    )
