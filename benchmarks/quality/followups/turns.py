"""The turns that are measured, and the unrelated questions.

Owns which of the data's turns are taken, which were looked at while prompts and rules were made (`TUNED`, by database),
and what the scorer reads. Gold of a turn is not in what a system is told; that of the turns before it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness.drawing import Item, digest, read_items
from benchmarks.harness.report import write_lines

DIALOGUES = "followups/dialogues.jsonl"
TUNED = frozenset({"battle_death", "pets_1", "voter_1"})
"""Databases whose turns were in view while the prompt was written."""

UNRELATED = 20
"""Questions over the dialogue's own database, and as many over others."""

SAME, OTHER = "spider/syn_dev.jsonl", "ambrosia/questions.jsonl"
"""Of which the unrelated questions over the dialogue's database, and those over others, are drawn."""

_TWO_SPEAKERS = "|"


@dataclass(frozen=True, slots=True)
class Said:
    """A turn before: its text and the statement that was chosen."""

    text: str
    sql: str


@dataclass(frozen=True, slots=True)
class Turn:
    """A follow-up turn: its text, the same question `in_full`, and what was said before it, the first first."""

    id: str
    db: str
    text: str
    in_full: str
    before: tuple[Said, ...]


@dataclass(frozen=True, slots=True)
class Unrelated:
    """A question behind a dialogue that it has nothing to do with. `same`: over the same database."""

    text: str
    turn: Turn
    same: bool


def turns(bench: Path) -> tuple[Turn, ...]:
    """All turns with a counterpart in full, by database."""
    counterparts: dict[tuple[str, str], str] = {}
    for item in read_items(bench / "spider/dev.jsonl"):
        counterparts.setdefault((item["db"], _form(item["gold"])), item["question"])
    found = [
        turn for dialogue in read_items(bench / DIALOGUES) for turn in _of_dialogue(dialogue, counterparts)
    ]
    return tuple(sorted(found, key=lambda each: (each.db, digest(each.id))))


def _of_dialogue(dialogue: Item, counterparts: dict[tuple[str, str], str]) -> Iterator[Turn]:
    said = [Said(each["question"], each["gold"]) for each in dialogue["turns"]]
    for number, each in enumerate(said[1:], 1):
        full = counterparts.get((dialogue["db"], _form(each.sql)))
        if full is not None and not any(_TWO_SPEAKERS in one.text for one in said[: number + 1]):
            name = _name(dialogue, number)
            yield Turn(name, dialogue["db"], each.text, full, tuple(said[:number]))


def _name(dialogue: Item, number: int) -> str:
    return f"{dialogue['id']}-{number}"


def _form(sql: str) -> str:
    """A statement in lower case without quotation marks of names, on one line."""
    return " ".join(re.sub(r'["`]', "", sql.lower()).split()).rstrip(" ;")


def unrelated(bench: Path, known: Sequence[Turn]) -> tuple[Unrelated, ...]:
    """Questions drawn by a hash, each behind a turn that is drawn as well; none with the gold of its dialogue."""
    drawn = sorted(known, key=lambda each: digest(f"unrelated:{each.id}"))
    own, others = (_drawn(bench / name) for name in (SAME, OTHER))
    found = []
    for turn in drawn[:UNRELATED]:
        golds = {_form(each.sql) for each in turn.before}
        item = next(each for each in own if each["db"] == turn.db and _form(each["gold"]) not in golds)
        own.remove(item)
        found.append(Unrelated(item["question"], turn, same=True))
    behind = drawn[UNRELATED : 2 * UNRELATED]
    return (
        *found,
        *(Unrelated(each["question"], turn, same=False) for each, turn in zip(others, behind, strict=False)),
    )


def _drawn(file: Path) -> list[Item]:
    return sorted(read_items(file), key=lambda each: digest(f"unrelated:{each['id']}"))


def write_questions(bench: Path, file: Path) -> None:
    """The turns as the scorer reads questions."""
    kept = ("question", "gold", "gold_rows", "ordered", "tables")
    items = [
        {"id": _name(dialogue, number), "db": dialogue["db"], "tie": None, "columns": None}
        | {key: turn[key] for key in kept}
        for dialogue in read_items(bench / DIALOGUES)
        for number, turn in enumerate(dialogue["turns"])
        if number
    ]
    write_lines(file, items)
