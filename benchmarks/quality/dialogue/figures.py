"""From dialogues to figures: what is right after each answer, what it cost the user, and when the engine abstained.

Intervals: 95 %, by a bootstrap with a fixed seed that draws databases with all their questions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from benchmarks.quality.ablations.results import interval
from benchmarks.quality.candidates.figures import Figure
from benchmarks.quality.dialogue.records import Conversation, Shown
from benchmarks.quality.dialogue.systems import MOST_ANSWERS

ANSWERS = range(MOST_ANSWERS + 1)
"""Numbers of answers after which accuracy is told."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A dialogue with the verdicts of its statements.

    `first`: by turn, whether its first statement is right. `start`: whether the first statement is that is shown where
    nothing may be asked. `reachable_at_once`: one of the statements that the engine had before the user said anything,
    shown or not, is right; `reachable`: one of those, or one of any later turn.
    """

    conversation: Conversation
    database: str
    first: tuple[bool, ...]
    in_last: bool
    start: bool
    reachable_at_once: bool
    reachable: bool

    def right_after(self, answers: int) -> bool:
        """Whether the user has the right statement first once they have answered that often, or less if not asked."""
        if answers == 0:
            return self.start
        return self.first[min(answers, len(self.first) - 1)] if self.first else False

    @property
    def asked(self) -> bool:
        """Whether the engine asked back at once."""
        return bool(self.conversation.turns) and self.conversation.turns[0].shown is Shown.QUESTION

    @property
    def interactions(self) -> int:
        """Answers and rejections."""
        return self.conversation.answers


def judged(
    conversation: Conversation, listed: Conversation | None, database: str, right: Callable[[str], bool]
) -> Judged:
    """A dialogue with its verdicts. `listed`: the same question's where nothing may be asked."""
    turns = conversation.turns
    before = (*turns[:1], *(listed.turns[:1] if listed else ()))
    at_once = [sql for turn in before for sql in (*turn.statements, *turn.considered)]
    first = tuple(bool(turn.statements) and right(turn.statements[0]) for turn in turns)
    start = listed.turns[0].statements[:1] if listed and listed.turns else None
    reachable_at_once = any(map(right, at_once))
    return Judged(
        conversation,
        database,
        first,
        bool(turns) and any(map(right, turns[-1].statements)),
        any(map(right, start)) if start is not None else first[:1] == (True,),
        reachable_at_once,
        reachable_at_once or any(map(right, conversation.statements)),
    )


@dataclass(frozen=True, slots=True)
class SystemFigures:
    """A system on a set. `after`: accuracy by number of answers at most; `of_reachable`: of what is reachable.

    `gain`, `efficiency`: over no answer, and that by interactions. `gain_ratio`: by number of answers, the gain by
    simple feedback's on the same questions; None where that gained nothing. `needless`: questions that were asked back
    although the first statement was right. `rows`: to be read, of all turns. Costs are means a turn.
    """

    system: str
    n: int
    after: tuple[Figure, ...]
    of_reachable: tuple[Figure | None, ...]
    reachable: Figure
    reachable_at_once: Figure
    set_acc: Figure
    asked: Figure
    needless: Figure
    interactions: Figure
    gain: Figure
    efficiency: Figure | None
    gain_ratio: tuple[Figure | None, ...]
    rows: float
    seconds: float
    model_seconds: float
    calls: float
    failed: int


def figures(system: str, some: Sequence[Judged], feedback: Mapping[str, Judged]) -> SystemFigures:
    """The figures of a system that was asked a question at least. `feedback`: simple feedback's, by question."""
    turns = [turn for each in some for turn in each.conversation.turns]
    pairs = [(each, feedback[key]) for each in some if (key := each.conversation.id) in feedback]
    met = [each for each in some if each.reachable]
    talked = any(each.interactions for each in some)
    return SystemFigures(
        system,
        len(some),
        tuple(share(some, _right_after(n)) for n in ANSWERS),
        tuple(share(met, _right_after(n)) if met else None for n in ANSWERS),
        share(some, lambda each: each.reachable),
        share(some, lambda each: each.reachable_at_once),
        share(some, lambda each: each.in_last),
        share(some, lambda each: each.asked),
        share(some, lambda each: each.asked and each.start),
        share(some, lambda each: each.interactions),
        share(some, _gain(MOST_ANSWERS)),
        interval(some, _database, _efficiency) if talked else None,
        tuple(_gain_ratio(pairs, n) for n in ANSWERS),
        fmean(sum(turn.rows for turn in each.conversation.turns) for each in some),
        _mean([turn.cost.seconds for turn in turns]),
        _mean([turn.cost.model_seconds for turn in turns]),
        _mean([turn.cost.calls for turn in turns]),
        sum(each.conversation.error is not None for each in some),
    )


def share(some: Sequence[Judged], of: Callable[[Judged], float]) -> Figure:
    """The mean of `of`, with its interval."""
    return interval(some, _database, lambda drawn: fmean(map(of, drawn)))


def _database(each: Judged) -> str:
    return each.database


def _right_after(answers: int) -> Callable[[Judged], float]:
    return lambda each: each.right_after(answers)


def _gain(answers: int) -> Callable[[Judged], float]:
    return lambda each: each.right_after(answers) - each.start


def _efficiency(some: Sequence[Judged]) -> float:
    """Gain by mean interactions (Sphinteract §7.3.1, there in points); 0 without interactions."""
    interactions = sum(each.interactions for each in some)
    return sum(map(_gain(MOST_ANSWERS), some)) / interactions if interactions else 0.0


def _gain_ratio(pairs: Sequence[tuple[Judged, Judged]], answers: int) -> Figure | None:
    gain = _gain(answers)

    def ratio(drawn: Sequence[tuple[Judged, Judged]]) -> float:
        below = sum(gain(two) for _, two in drawn)
        return sum(gain(one) for one, _ in drawn) / below if below > 0 else float("inf")

    if sum(gain(two) for _, two in pairs) <= 0:
        return None
    return interval(pairs, lambda pair: pair[0].database, ratio)


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else 0.0


@dataclass(frozen=True, slots=True)
class Abstention:
    """What the engine's first reply is, on one set. `sure`: statements without a question back; `refused`: neither."""

    set_name: str
    n: int
    sure: Figure
    asked: Figure
    refused: Figure
    failed: int


def abstention(set_name: str, some: Sequence[Conversation], databases: Mapping[str, str]) -> Abstention:
    """The shares of first replies, of a question at least."""

    def of(shown: Shown | None) -> Figure:
        return interval(
            some,
            lambda each: databases[each.id],
            lambda drawn: fmean(_first(each) is shown for each in drawn),
        )

    # An error that the user meets is no answer either.
    refused = interval(
        some,
        lambda each: databases[each.id],
        lambda drawn: fmean(_first(each) in (Shown.ABSTENTION, None) for each in drawn),
    )
    return Abstention(
        set_name,
        len(some),
        of(Shown.STATEMENTS),
        of(Shown.QUESTION),
        refused,
        sum(each.error is not None for each in some),
    )


def _first(each: Conversation) -> Shown | None:
    return each.turns[0].shown if each.turns else None
