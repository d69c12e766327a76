"""From dialogues to figures: what is right after each answer, what it cost the user, and when the engine abstained."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean

from benchmarks.harness.intervals import Figure, mean, ratio
from benchmarks.harness.questions import Judge
from benchmarks.harness.scorer import Verdicts
from benchmarks.quality.dialogue.measuring import Pass
from benchmarks.quality.dialogue.records import Conversation, Shown
from benchmarks.quality.dialogue.systems import AMBIQT, DIALOGUE, FEEDBACK, LIST, MOST_ANSWERS, UNANSWERABLE

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

    def gain(self, answers: int) -> float:
        """What is won over no answer."""
        return self.right_after(answers) - self.start


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

    `gain`, `efficiency`: over no answer, and that by interactions (Sphinteract §7.3.1, there in points). `gain_ratio`:
    by number of answers, the gain by simple feedback's on the same questions; None where that gained nothing.
    `needless`: questions that were asked back although the first statement was right. `rows`: to be read, of all turns.
    Costs are means a turn.
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
    efficiency: Figure | None
    gain_ratio: tuple[Figure | None, ...]
    rows: float
    seconds: float
    calls: float
    failed: int


def figures(system: str, some: Sequence[Judged], feedback: Mapping[str, Judged]) -> SystemFigures:
    """The figures of a system that was asked a question at least. `feedback`: simple feedback's, by question."""
    turns = [turn for each in some for turn in each.conversation.turns]
    pairs = [(each, feedback[key]) for each in some if (key := each.conversation.id) in feedback]
    owners = [each.database for each in some]

    def share(value: Callable[[Judged], float]) -> Figure:
        return mean([value(each) for each in some], owners)

    return SystemFigures(
        system,
        len(some),
        tuple(share(partial(Judged.right_after, answers=n)) for n in ANSWERS),
        tuple(
            ratio(
                [each.right_after(n) and each.reachable for each in some],
                [each.reachable for each in some],
                owners,
            )
            for n in ANSWERS
        ),
        share(lambda each: each.reachable),
        share(lambda each: each.reachable_at_once),
        share(lambda each: each.in_last),
        share(lambda each: each.asked),
        share(lambda each: each.asked and each.start),
        share(lambda each: each.conversation.answers),
        ratio(
            [each.gain(MOST_ANSWERS) for each in some], [each.conversation.answers for each in some], owners
        ),
        tuple(_gain_ratio(pairs, n) for n in ANSWERS),
        fmean(sum(turn.rows for turn in each.conversation.turns) for each in some),
        fmean([turn.cost.seconds for turn in turns] or [0.0]),
        fmean([turn.cost.calls for turn in turns] or [0.0]),
        sum(each.conversation.error is not None for each in some),
    )


def _gain_ratio(pairs: Sequence[tuple[Judged, Judged]], answers: int) -> Figure | None:
    below = [two.gain(answers) for _, two in pairs]
    if sum(below) <= 0:
        return None
    return ratio([one.gain(answers) for one, _ in pairs], below, [one.database for one, _ in pairs])


@dataclass(frozen=True, slots=True)
class Abstention:
    """What the engine's first reply is, on one set. `sure`: statements without a question back; `refused`: neither.

    An error that the user meets is no answer either.
    """

    set_name: str
    n: int
    sure: Figure
    asked: Figure
    refused: Figure
    failed: int


def abstention(set_name: str, some: Sequence[Conversation], databases: Mapping[str, str]) -> Abstention:
    """The shares of first replies, of a question at least."""
    first = [each.turns[0].shown if each.turns else None for each in some]
    owners = [databases[each.id] for each in some]

    def of(*shown: Shown | None) -> Figure:
        return mean([each in shown for each in first], owners)

    refused = of(Shown.ABSTENTION, None)
    failed = sum(each.error is not None for each in some)
    return Abstention(set_name, len(some), of(Shown.STATEMENTS), of(Shown.QUESTION), refused, failed)


ANSWERABLE = "answerable"
"""Sets of questions that their database can answer, together. AmbiQT's, to be asked back, are not among them."""


@dataclass(frozen=True, slots=True)
class Results:
    """All of a run: the judged dialogues and their figures by set and system, and first replies by set."""

    dialogues: Mapping[str, Mapping[str, Sequence[Judged]]]
    figures: Mapping[str, Sequence[SystemFigures]]
    abstention: Sequence[Abstention]

    def find(self, set_name: str, system: str) -> SystemFigures | None:
        """A system on a set, None where that was not measured."""
        return next((each for each in self.figures.get(set_name, ()) if each.system == system), None)


def evaluated(made: Sequence[Pass], verdicts: Verdicts) -> Results:
    """The results of passes; a pass without a dialogue has none. Blocks while statements are judged."""
    dialogues: dict[str, dict[str, list[Judged]]] = {}
    for one in made:
        if one.of.first_reply or not one.conversations:
            continue
        found = _judged(one, made, verdicts)
        dialogues.setdefault(one.of.name, {})[one.system.name] = found
        if one.of.questions.judge is Judge.AMBIQT:
            dialogues.setdefault(AMBIQT, {}).setdefault(one.system.name, []).extend(found)
    told = {}
    for name, systems in dialogues.items():
        feedback = {each.conversation.id: each for each in systems.get(FEEDBACK.name, ())}
        told[name] = [figures(system, some, feedback) for system, some in systems.items()]
    return Results(dialogues, told, _abstentions(made))


def _judged(one: Pass, made: Sequence[Pass], verdicts: Verdicts) -> list[Judged]:
    of, owners = one.of.questions, one.owners
    lists = {
        each.id: each
        for other in made
        if other.of == one.of and other.system == LIST
        for each in other.conversations
    }
    beside = {each.id: (each, *([lists[each.id]] if each.id in lists else [])) for each in one.conversations}
    verdicts.judge(
        of, {key: [sql for each in some for sql in each.statements] for key, some in beside.items()}
    )

    def right(conversation: Conversation, sql: str) -> bool:
        return verdicts.right(of, conversation.id, sql)[conversation.reading - 1]

    return [
        judged(each, lists.get(each.id), owners[each.id], partial(right, each)) for each in one.conversations
    ]


def _abstentions(made: Sequence[Pass]) -> list[Abstention]:
    own = [each for each in made if each.system == DIALOGUE and each.conversations]
    found = [abstention(each.of.name, each.conversations, each.owners) for each in own]
    ask = [e for e in own if e.of.questions != UNANSWERABLE and e.of.questions.judge is not Judge.AMBIQT]
    if ask:
        together = [conversation for each in ask for conversation in each.conversations]
        owners = {key: owner for each in ask for key, owner in each.owners.items()}
        found.append(abstention(ANSWERABLE, together, owners))
    return found
