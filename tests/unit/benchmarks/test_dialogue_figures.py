"""The dialogue's figures of known dialogues, and where they are written."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from benchmarks.harness.journal import Cost
from benchmarks.quality.dialogue.figures import Judged, abstention, figures, judged
from benchmarks.quality.dialogue.records import Conversation, Said, Shown, Turn


def turn(shown: Shown, *statements: str, said: Said = Said.NOTHING, considered: Sequence[str] = ()) -> Turn:
    return Turn(shown, statements, max(1, len(statements)), Cost(2.0, 3), tuple(considered), said=said)


def listed(name: str, *statements: str) -> Conversation:
    return Conversation(name, "dev", "list", 1, (turn(Shown.STATEMENTS, *statements),))


def talked(name: str, *turns: Turn) -> Conversation:
    return Conversation(name, "dev", "dialogue", 1, turns)


def right(sql: str) -> bool:
    return sql.startswith("right")


def one(conversation: Conversation, *first_list: str, database: str = "x") -> Judged:
    return judged(conversation, listed(conversation.id, *first_list), database, right)


ASKED = one(
    talked(
        "1",
        turn(Shown.QUESTION, "wrong", "right", said=Said.OPTION),
        turn(Shown.STATEMENTS, "right", "wrong"),
    ),
    "wrong",
    "right",
)
NEEDLESS = one(
    talked("2", turn(Shown.QUESTION, "right", said=Said.OPTION), turn(Shown.STATEMENTS, "wrong")),
    "right",
    database="y",
)
FOUND_LATER = one(
    talked(
        "3",
        turn(Shown.QUESTION, "wrong", said=Said.OWN_WORDS),
        turn(Shown.QUESTION, "wrong", said=Said.OPTION),
        turn(Shown.STATEMENTS, "right later"),
    ),
    "wrong",
)
NEVER = one(talked("4", turn(Shown.STATEMENTS, "wrong")), "wrong", database="y")


def test_figures_of_known_dialogues() -> None:
    some = [ASKED, NEEDLESS, FOUND_LATER, NEVER]
    feedback = {
        "1": one(
            talked("1", turn(Shown.STATEMENTS, "wrong", said=Said.NONE), turn(Shown.STATEMENTS, "right")),
            "wrong",
        ),
        "3": one(talked("3", turn(Shown.STATEMENTS, "wrong")), "wrong"),
    }
    found = figures("dialogue", some, feedback)
    assert [each.value for each in found.after] == [0.25, 0.25, 0.5, 0.5, 0.5]
    assert [each.value for each in found.of_reachable if each] == pytest.approx([1 / 3, 1 / 3, *[2 / 3] * 3])
    assert (found.reachable.value, found.reachable_at_once.value) == (0.75, 0.5)
    assert (found.asked.value, found.needless.value) == (0.75, 0.25)
    assert found.interactions.value == 1.0
    assert found.efficiency is not None
    assert found.efficiency.value == 0.25
    assert [None if each is None else each.value for each in found.gain_ratio] == [None, 1.0, 2.0, 2.0, 2.0]
    assert (found.seconds, found.calls) == (2.0, 3.0)
    assert found.after[0].low <= found.after[0].value <= found.after[0].high


def test_first_replies_are_sure_asked_or_refused() -> None:
    some = [
        talked("1", turn(Shown.STATEMENTS, "wrong")),
        talked("2", turn(Shown.QUESTION, "wrong")),
        talked("3", turn(Shown.ABSTENTION)),
        Conversation("4", "idk", "dialogue", 1, (), "NL003 nothing fits"),
    ]
    found = abstention("idk", some, dict.fromkeys("1234", "x"))
    assert (found.sure.value, found.asked.value, found.refused.value, found.failed) == (0.25, 0.25, 0.5, 1)
