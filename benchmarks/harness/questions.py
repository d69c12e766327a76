"""The questions that systems are asked, and the databases that come with them.

Owns which files are read, which questions of them are taken, and that no gold leaves this module: what a system is
given has no field for it. The gold is read by the benchmark's scorer alone (`scorer`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from benchmarks.harness.drawing import Item, digest, in_half_a, in_turns, read_items, unfitted
from benchmarks.harness.schemas import snapshot
from schema_catalog.types import Snapshot, TableKind


class Judge(StrEnum):
    """The scorer's subcommand that judges a set."""

    EXECUTION = "ex"
    AMBIQT = "ambiqt"
    READINGS = "readings"


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """A set by its name in the results. `given`: the asker names the database. `dated`: its rows are new each day."""

    name: str
    file: str
    judge: Judge = Judge.EXECUTION
    given: bool = True
    dated: bool = False


TRAIN = QuestionSet("train", "spider/train.jsonl")
SPIDER = QuestionSet("spider", "spider/dev.jsonl")
UNROUTED = QuestionSet("spider_unrouted", "spider/dev.jsonl", given=False)
AMBIQT = tuple(QuestionSet(f"ambiqt_{kind.lower()}", f"ambiqt/{kind}.jsonl", Judge.AMBIQT) for kind in "CTJ")
DEFOG = QuestionSet("defog", "defog/questions.jsonl", dated=True)
AMBROSIA = QuestionSet("ambrosia", "ambrosia/questions.jsonl", Judge.READINGS)
SETS = (SPIDER, UNROUTED, *AMBIQT, DEFOG, TRAIN)
"""Spider's training questions are drawn in turns from the databases of `drawing.left_out`."""

RECORDED = "strong/answers.jsonl"
"""A strong model's answers, which were in view when rules were written."""


@dataclass(frozen=True, slots=True)
class Question:
    """All that a system is told. `database`: the catalog's name for it; None: to be found."""

    id: str
    text: str
    database: str | None


@dataclass(frozen=True, slots=True)
class Views:
    """A database made for one question: a schema of views, and what they would declare were they tables.

    PostgreSQL keeps no keys for views, so that the snapshot comes from the benchmark's own description.
    """

    ddl: str
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the database it needs, where that is not in the catalog. `owner`: for intervals."""

    question: Question
    views: Views | None = None
    owner: str = ""

    @property
    def home(self) -> str:
        """The database that it is about, which the question may not name."""
        return self.owner if self.views is None else self.views.snapshot.database


@dataclass(frozen=True, slots=True)
class Selection:
    """Which questions of a set: `n` of them by a seeded hash (None: all), of one half by their text.

    `skip`: the first so many of them are left out, because choices were made with them in view.
    """

    n: int | None
    seed: int
    half: int | None = None
    skip: int = 0


def asked(bench: Path, of: QuestionSet, selection: Selection) -> tuple[Asked, ...]:
    """The selected questions in the file's order; a smaller number of them is part of a larger one."""
    items = read_items(bench / of.file)
    last = None if selection.n is None else selection.skip + selection.n
    ranked = clear_of_half_a(bench) if of == AMBROSIA else _ranked(items, of, selection)
    kept = {item["id"] for item in ranked[selection.skip : last]}
    return tuple(_asked(item, of) for item in items if item["id"] in kept)


def _ranked(items: list[dict[str, object]], of: QuestionSet, selection: Selection) -> list[Item]:
    if of == TRAIN:
        return in_turns(unfitted(items), selection.seed)
    eligible = [item for item in items if selection.half in {None, digest(str(item["question"])) % 2}]
    return sorted(eligible, key=lambda item: digest(f"{selection.seed}:{item['id']}"))


def unrecorded(bench: Path) -> list[Item]:
    """AMBROSIA's questions that no recording holds, by the hash of their ids."""
    known = {item["id"] for item in read_items(bench / RECORDED)}
    left = [item for item in read_items(bench / AMBROSIA.file) if item["id"] not in known]
    return sorted(left, key=lambda item: digest(item["id"]))


def clear_of_half_a(bench: Path) -> list[Item]:
    """Those of one reading and of the half of its databases that arms and fits may use."""
    return [item for item in unrecorded(bench) if not item["ambiguous"] and in_half_a(item["db"])]


def home(item: Item, of: QuestionSet) -> str:
    """The schema that a question's database is in: the catalog's name for it."""
    return str(item["id"]).lower().replace("-", "_") if of.judge is Judge.AMBIQT else str(item["db"])


CATALOGUED = ("spider", "defog")
"""Whose databases, all of them, the catalog holds unless told otherwise."""


def sources(sets: Sequence[QuestionSet]) -> tuple[str, ...]:
    """Whose databases a catalog holds for these sets: AMBROSIA's where it alone is asked, those of all others."""
    return ("ambrosia",) if all(each == AMBROSIA for each in sets) else CATALOGUED


def catalogued(bench: Path, kinds: Sequence[str] = CATALOGUED) -> tuple[str, ...]:
    """The databases that the catalog holds. `kinds`: of whose files."""
    return tuple(
        sorted({item["db"] for kind in kinds for item in read_items(bench / kind / "schemas.jsonl")})
    )


def _asked(item: Item, of: QuestionSet) -> Asked:
    # Defog's instructions belong to the question: what "active" means, how names are compared.
    text = " ".join(part for part in (item["question"], item.get("instructions")) if part)
    place = home(item, of)
    question = Question(item["id"], text, place if of.given else None)
    if of.judge is not Judge.AMBIQT:
        return Asked(question, owner=item["db"])
    # A view is what it comes nearest to: without keys for the server, the same rows for everyone.
    schema = snapshot(place, item["schema_both"], place, TableKind.MATERIALIZED_VIEW)
    return Asked(question, Views(item["ddl_both"].replace("{schema}", place), schema), item["db"])
