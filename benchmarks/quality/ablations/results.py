"""From verdicts to figures: each arm by itself, and the whole pipeline beside it on the same questions.

Owns the intervals: 95 %, by a bootstrap with a fixed seed that draws databases with all their questions, since
questions on one database are right and wrong together.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeVar

from benchmarks.quality.ablations.arms import WHOLE
from benchmarks.quality.candidates.coverage import both
from benchmarks.quality.candidates.figures import RESAMPLES, Figure, percentile
from benchmarks.quality.candidates.journal import Answer, Cost, Proposal
from benchmarks.quality.candidates.judging import Scorer
from benchmarks.quality.candidates.questions import Judge, QuestionSet
from benchmarks.quality.sequential import Verdict, verdict

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one question. `place`: of the first right statement, from 1; None where none is right.

    `both`: whether both readings are among the first five; None for a question that has one.
    """

    id: str
    database: str
    place: int | None
    statements: tuple[str, ...]
    cost: Cost
    error: str | None
    both: bool | None = None

    @property
    def first(self) -> bool:
        """Whether the first statement is right."""
        return self.place == 1

    @property
    def found(self) -> bool:
        """Whether any is, or both readings of a question that has two."""
        return self.place is not None if self.both is None else self.both


@dataclass(frozen=True, slots=True)
class ArmFigures:
    """An arm on a set. Costs are means a question; `seconds` with those of this process, `model_seconds` without.

    `gain_*`: what the whole pipeline is better by, over the questions that both answered; `settled_*`: whether these
    questions tell; `seconds_ratio`: the whole pipeline's seconds by the arm's. None for the whole pipeline itself.
    """

    name: str
    lacks: str
    n: int
    acc1: Figure
    set_acc: Figure
    set_size: float
    seconds: float
    model_seconds: float
    calls: float
    prefilled: float
    generated: float
    failed: int
    gain_acc1: Figure | None
    gain_set: Figure | None
    settled_acc1: Verdict | None
    settled_set: Verdict | None
    seconds_ratio: Figure | None
    model_seconds_ratio: Figure | None

    @property
    def settled(self) -> bool:
        """Whether more questions would tell nothing new, neither of the first statement nor of the set."""
        return {self.settled_acc1, self.settled_set}.isdisjoint({Verdict.OPEN, None})


def outcomes(
    scorer: Scorer, of: QuestionSet, databases: Mapping[str, str], answers: Mapping[str, Sequence[Answer]]
) -> dict[str, dict[str, Outcome]]:
    """Of each arm, by question. Every distinct statement is judged once, whichever arms gave it."""
    given: dict[str, dict[str, None]] = {}
    for answer in (each for arm in answers.values() for each in arm):
        given.setdefault(answer.id, {}).update((proposal.sql, None) for proposal in answer.proposals)
    asked = [Answer(key, tuple(map(Proposal, each)), Cost(0.0)) for key, each in given.items()]
    verdicts = scorer.judge(of, asked).right if asked else {}
    right = {key: dict(zip(each, verdicts[key], strict=True)) for key, each in given.items()}
    return {
        arm: {each.id: _outcome(each, databases[each.id], right[each.id], of) for each in some}
        for arm, some in answers.items()
    }


def _outcome(
    answer: Answer, database: str, right: Mapping[str, tuple[bool, bool]], of: QuestionSet
) -> Outcome:
    statements = tuple(proposal.sql for proposal in answer.proposals)
    place = next((n for n, sql in enumerate(statements, 1) if any(right[sql])), None)
    found = both([right[sql] for sql in statements]) if of.judge is Judge.AMBIQT else None
    return Outcome(answer.id, database, place, statements, answer.cost, answer.error, found)


def figures(name: str, lacks: str, found: Mapping[str, Outcome], whole: Mapping[str, Outcome]) -> ArmFigures:
    """The figures of an arm that answered a question at least."""
    own = list(found.values())
    pairs = [(whole[key], each) for key, each in found.items() if key in whole] if name != WHOLE else []
    return ArmFigures(
        name,
        lacks,
        len(own),
        interval(own, _database, lambda some: fmean(each.first for each in some)),
        interval(own, _database, lambda some: fmean(each.found for each in some)),
        fmean(len(each.statements) for each in own),
        fmean(each.cost.seconds for each in own),
        fmean(each.cost.model_seconds for each in own),
        fmean(each.cost.calls for each in own),
        fmean(each.cost.prefilled for each in own),
        fmean(each.cost.generated for each in own),
        sum(each.error is not None for each in own),
        _between(pairs, lambda some: fmean(one.first - two.first for one, two in some)),
        _between(pairs, lambda some: fmean(one.found - two.found for one, two in some)),
        verdict([one.first - two.first for one, two in pairs]) if pairs else None,
        verdict([one.found - two.found for one, two in pairs]) if pairs else None,
        _between(pairs, _ratio_of(lambda cost: cost.seconds)),
        _between(pairs, _ratio_of(lambda cost: cost.model_seconds)),
    )


Pair = tuple[Outcome, Outcome]
"""The whole pipeline's outcome, and an arm's."""


def _between(pairs: Sequence[Pair], statistic: Callable[[Sequence[Pair]], float]) -> Figure | None:
    return interval(pairs, lambda pair: pair[0].database, statistic) if pairs else None


def _ratio_of(seconds: Callable[[Cost], float]) -> Callable[[Sequence[Pair]], float]:
    def ratio(pairs: Sequence[Pair]) -> float:
        below = sum(seconds(two.cost) for _, two in pairs)
        return sum(seconds(one.cost) for one, _ in pairs) / below if below else float("inf")

    return ratio


def _database(outcome: Outcome) -> str:
    return outcome.database


def interval(
    values: Sequence[T], group: Callable[[T], str], statistic: Callable[[Sequence[T]], float], seed: int = 0
) -> Figure:
    """`statistic` of the values, which are drawn with all of their group."""
    groups: dict[str, list[T]] = defaultdict(list)
    for value in values:
        groups[group(value)].append(value)
    members = list(groups.values())
    rng = random.Random(seed)  # noqa: S311 - a bootstrap, no secret
    drawn = [
        statistic([value for some in rng.choices(members, k=len(members)) for value in some])
        for _ in range(RESAMPLES)
    ]
    return Figure(statistic(values), percentile(drawn, 0.025), percentile(drawn, 0.975))
