"""From answers to figures: each system by itself, and what pgparley as it is is better by on the same questions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

from benchmarks.harness.intervals import Figure, mean, ratio
from benchmarks.harness.journal import Answer, Cost, Proposal
from benchmarks.harness.questions import Judge, QuestionSet
from benchmarks.harness.report import shown
from benchmarks.harness.running import Pass
from benchmarks.harness.scorer import ELSEWHERE, Right, Verdicts, both


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one question. `right`: of each statement; `ambiguous`: the question has two readings."""

    answer: Answer
    owner: str
    right: tuple[Right, ...]
    ambiguous: bool = False

    @property
    def id(self) -> str:
        """The question's."""
        return self.answer.id

    @property
    def cost(self) -> Cost:
        """The answer's."""
        return self.answer.cost

    @property
    def statements(self) -> tuple[str, ...]:
        """Best first."""
        return tuple(each.sql for each in self.answer.proposals)

    @property
    def place(self) -> int | None:
        """Of the first statement that is right under any reading, from 1; None where none is."""
        return next((n for n, right in enumerate(self.right, 1) if any(right)), None)

    @property
    def first(self) -> bool:
        """Whether the first statement is right."""
        return self.place == 1

    @property
    def found(self) -> bool:
        """Whether any is, or both readings are among the first five of a question that has two."""
        return both(self.right) if self.ambiguous else self.place is not None


def outcomes(of: QuestionSet, passes: Sequence[Pass], verdicts: Verdicts) -> dict[str, dict[str, Outcome]]:
    """Of each system on a set, by question. Every distinct statement is judged once. Blocks while it is."""
    own = [each for each in passes if each.of == of and each.answers]
    asked = {each.question.id: each for one in own for each in one.asked}
    given: dict[str, dict[str, None]] = {}
    for one in own:
        for answer in one.answers:
            told = (statement(each, asked[answer.id].home) for each in answer.proposals)
            given.setdefault(answer.id, {}).update(dict.fromkeys(told))
    verdicts.judge(of, given)

    def outcome(answer: Answer) -> Outcome:
        home = asked[answer.id].home
        right = (verdicts.right(of, answer.id, statement(each, home)) for each in answer.proposals)
        return Outcome(answer, asked[answer.id].owner, tuple(right), of.judge is Judge.AMBIQT)

    return {one.system.name: {each.id: outcome(each) for each in one.answers} for one in own}


def statement(proposal: Proposal, home: str) -> str:
    """What of a proposal the scorer may run on `home`: it would run one for another database there too."""
    return proposal.sql if proposal.database in {None, home} else ELSEWHERE


@dataclass(frozen=True, slots=True)
class Row:
    """A system on a set. Costs are means a question; `seconds_median`: by the clock that the run went by.

    `gain_*`: what pgparley as it is is better by, over the questions that both answered; `*_ratio`: its cost by this
    one's. None for itself.
    """

    system: str
    lacks: str
    n: int
    acc1: Figure
    set_acc: Figure
    mrr: Figure
    either5: Figure
    set_size: Figure
    gain_acc1: Figure | None
    gain_set: Figure | None
    seconds_ratio: Figure | None
    prefill_ratio: Figure | None
    seconds: float
    seconds_median: float
    model_seconds: float
    calls: float
    prefilled: float
    generated: float
    failed: int
    crashed: int


def row(system: str, lacks: str, found: Mapping[str, Outcome], whole: Mapping[str, Outcome]) -> Row:
    """The figures of a system that answered a question at least. `whole`: of pgparley as it is, or nothing for it."""
    own = list(found.values())
    owners = [each.owner for each in own]
    pairs = [(whole[key], each) for key, each in found.items() if key in whole]

    def share(value: Callable[[Outcome], float]) -> Figure:
        return mean([value(each) for each in own], owners)

    def cost(name: str) -> float:
        return fmean(getattr(each.cost, name) for each in own)

    return Row(
        system,
        lacks,
        len(own),
        share(lambda each: each.first),
        share(lambda each: each.found),
        share(lambda each: 1 / each.place if each.place else 0.0),
        share(lambda each: each.place is not None and each.place <= 5),  # noqa: PLR2004 - EitherInTop5
        share(lambda each: len(each.right)),
        paired(pairs, lambda one, two: (one.first - two.first, 1)),
        paired(pairs, lambda one, two: (one.found - two.found, 1)),
        by_cost(pairs, "seconds"),
        by_cost(pairs, "prefilled"),
        cost("seconds"),
        median(each.cost.seconds for each in own),
        cost("model_seconds"),
        cost("calls"),
        cost("prefilled"),
        cost("generated"),
        sum(each.answer.error is not None and not each.answer.crashed for each in own),
        sum(each.answer.crashed for each in own),
    )


Pair = tuple[Outcome, Outcome]


def paired(pairs: Sequence[Pair], values: Callable[[Outcome, Outcome], tuple[float, float]]) -> Figure | None:
    """The sum by the sum of two values of each pair; None of none."""
    over, under = zip(*(values(one, two) for one, two in pairs), strict=True) if pairs else ((), ())
    return ratio(over, under, [one.owner for one, _ in pairs]) if pairs else None


def by_cost(pairs: Sequence[Pair], what: str) -> Figure | None:
    """The first's cost (`what`: a field of `Cost`) by the second's."""
    return paired(pairs, lambda one, two: (getattr(one.cost, what), getattr(two.cost, what)))


@dataclass(frozen=True, slots=True)
class Earlier:
    """A line of an earlier run's outcomes, as `lines` has them."""

    set: str
    system: str
    id: str
    db: str
    place: int | None
    found: bool


def changes(
    found: Mapping[str, Mapping[str, Mapping[str, Outcome]]], earlier: Sequence[Earlier]
) -> Iterator[list[str]]:
    """For each set and system: n, questions won and lost first, in the set, and what is gained of each."""
    pairs: dict[tuple[str, str], list[tuple[Outcome, Earlier]]] = defaultdict(list)
    for one in earlier:
        if (now := found.get(one.set, {}).get(one.system, {}).get(one.id)) is not None:
            pairs[one.set, one.system].append((now, one))
    for key, some in pairs.items():
        told = [*key, str(len(some))]
        for gains in ([a.first - (b.place == 1) for a, b in some], [a.found - b.found for a, b in some]):
            gain = shown(mean(gains, [one.db for _, one in some]))
            told.append(f"{gains.count(1)} won, {gains.count(-1)} lost: {gain}")
        yield told


def lines(set_name: str, found: Mapping[str, Mapping[str, Outcome]]) -> list[dict[str, Any]]:
    """For a file of outcomes: an object for each system and question."""
    return [
        {
            "set": set_name,
            "system": system,
            "id": each.id,
            "db": each.owner,
            "place": each.place,
            "found": each.found,
            "seconds": round(each.cost.seconds, 3),
            "calls": each.cost.calls,
            "error": each.answer.error,
            "statements": each.statements,
        }
        for system, some in found.items()
        for each in some.values()
    ]
