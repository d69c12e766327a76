"""Where questions come from that the judgement is fitted on and judged by: its databases, questions and scorer.

What a confidence is worth on schemas unlike those of training is seen by leaving out an origin whole. Half B of
AMBROSIA's clear questions, and the halves of real data that are set aside, are of none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path

from rich.console import Console

from benchmarks.harness.drawing import Item, digest, in_turns, read_items
from benchmarks.harness.questions import (
    AMBROSIA,
    DEFOG,
    TRAIN,
    Asked,
    Question,
    QuestionSet,
    Selection,
    asked,
    clear_of_half_a,
)
from benchmarks.harness.scorer import Scorer
from benchmarks.harness.site import Site, readable, serving, site
from benchmarks.quality.anew.sets import (
    everyday_items,
    everyday_made,
    field_database,
    field_items,
    field_made,
    field_ranks,
    right_everyday,
)
from benchmarks.quality.day import questions as day
from benchmarks.quality.workday.cases import Cases, Judge
from pgparley.cluster import Cluster
from pgparley.demo.prepare import prepare
from schema_catalog.types import Database

Wanted = Mapping[str, Sequence[str]]
"""Statements by their question's id."""

Verdicts = Mapping[str, Sequence[bool]]
"""Which of them are right."""

UNANSWERED = "defog/idk.jsonl"
"""What its database cannot answer: no statement is right."""

ITSELF, DAY = "everyday-", "day-"
"""Before the ids of our own questions, which are numbers in files of their own."""


@dataclass(frozen=True, slots=True)
class Source:
    """`opened`: its site, by a folder of its own and the data's. `drawn`: its questions in the order of asking.

    `judged`: verdicts of a site, the data's folder and one to write in.
    """

    opened: Callable[[Path, Path], AbstractAsyncContextManager[Site]]
    drawn: Callable[[Path], Sequence[Asked]]
    judged: Callable[[Site, Path, Path, Wanted], Awaitable[Verdicts]]


def of_training(draw: Callable[[Sequence[Item]], Sequence[Item]]) -> Source:
    """Spider's training questions, drawn by `draw`."""

    def drawn(bench: Path) -> list[Asked]:
        return [_named(item) for item in draw(read_items(bench / TRAIN.file))]

    return Source(site, drawn, partial(_scored, TRAIN))


def _named(item: Item) -> Asked:
    return Asked(Question(item["id"], item["question"], item["db"]), owner=item["db"])


async def _scored(of: QuestionSet, place: Site, bench: Path, work: Path, wanted: Wanted) -> Verdicts:
    """By the benchmark's scorer."""
    found = await asyncio.to_thread(Scorer(bench, place.dsn, work / "scoring").judge, of, wanted)
    return {key: [first for first, _ in each] for key, each in found.items()}


def _defog_drawn(bench: Path) -> list[Asked]:
    """Two that their database answers, then one that it does not."""
    answered = iter(sorted(asked(bench, DEFOG, Selection(60, 1)), key=lambda one: digest(one.question.id)))
    unanswered = (_named(item) for item in in_turns(read_items(bench / UNANSWERED), 1)[:30])
    return [each for one in unanswered for each in (next(answered), next(answered), one)]


async def _defog_judged(place: Site, bench: Path, work: Path, wanted: Wanted) -> Verdicts:
    unanswered = {item["id"] for item in read_items(bench / UNANSWERED)}
    answered = {key: each for key, each in wanted.items() if key not in unanswered}
    right = await _scored(DEFOG, place, bench, work, answered) if answered else {}
    return {key: right.get(key, [False] * len(each)) for key, each in wanted.items()}


def _workday_opened(work: Path, bench: Path) -> AbstractAsyncContextManager[Site]:
    return serving(work, Cases(bench, work).fill)


def _workday_drawn(bench: Path) -> list[Asked]:
    return [_named({**item, "db": f"workday_{item['case']}"}) for item in Cases(bench, bench).items]


async def _workday_judged(place: Site, bench: Path, work: Path, wanted: Wanted) -> Verdicts:
    judge = Judge(Cases(bench, work), place.cluster.dsn())
    found = await asyncio.to_thread(judge.judge, QuestionSet("workday", "", dated=True), wanted)
    return {key: [first for first, _ in each] for key, each in found.items()}


def _field_opened(work: Path, bench: Path) -> AbstractAsyncContextManager[Site]:
    return serving(work, lambda running: field_made(running, bench))


def _field_drawn(bench: Path) -> list[Asked]:
    return [_named({**item, "db": field_database(item["case"])}) for item in field_items(bench)]


async def _field_judged(place: Site, bench: Path, work: Path, wanted: Wanted) -> Verdicts:
    found: dict[str, list[bool]] = {key: [] for key in wanted}
    for turn in range(max(map(len, wanted.values()), default=0)):
        there = {key: each[turn] for key, each in wanted.items() if len(each) > turn}
        given = [{"id": key, "candidates": [{"sql": sql}]} for key, sql in there.items()]
        ranks = await field_ranks(place.cluster, bench, work, given)
        for key in there:
            found[key].append(ranks[key] == 1)
    return found


def _everyday_drawn(_: Path) -> list[Asked]:
    return [_named({**item, "id": f"{ITSELF}{item['id']}"}) for item in everyday_items()]


async def _everyday_judged(place: Site, _: Path, __: Path, wanted: Wanted) -> Verdicts:
    items = {f"{ITSELF}{item['id']}": item for item in everyday_items()}
    return await _by_rows(place, {key: (item["db"], item["golds"]) for key, item in items.items()}, wanted)


async def _by_rows(
    place: Site, right: Mapping[str, tuple[str, Sequence[str]]], wanted: Wanted
) -> dict[str, list[bool]]:
    """By the rows of statements that are `right` on a database; of other questions no statement is."""
    return {
        key: [
            key in right and await right_everyday(place.cluster, right[key][0], sql, right[key][1])
            for sql in each
        ]
        for key, each in wanted.items()
    }


async def _demo_made(running: Cluster) -> Sequence[Database]:
    made = await prepare(running, Console())
    return [readable(Database(name, running.dsn(name), name, ("public",))) for name, _ in made]


def _demo_answered() -> dict[str, Item]:
    return {f"{DAY}{number}": item for number, item in enumerate(day.answered())}


def _demo_drawn(_: Path) -> list[Asked]:
    """What the demo's databases answer in turns with what they do not, as long as there is of both."""
    answered = (_named({**item, "id": key, "db": item["database"]}) for key, item in _demo_answered().items())
    unanswered = map(_named, in_turns(day.unanswered(), 1))
    return [each for turn in zip_longest(answered, unanswered) for each in turn if each is not None]


async def _demo_judged(place: Site, _: Path, __: Path, wanted: Wanted) -> Verdicts:
    right = {key: (item["database"], item["right"]) for key, item in _demo_answered().items()}
    return await _by_rows(place, right, wanted)


def unanswered(bench: Path) -> frozenset[str]:
    """The ids of the questions that their database does not answer."""
    return frozenset(item["id"] for item in (*read_items(bench / UNANSWERED), *day.unanswered()))


ORIGINS = {
    "defog": Source(site, _defog_drawn, _defog_judged),
    "ambrosia": Source(
        partial(site, kinds=("ambrosia",)),
        lambda bench: [_named(item) for item in clear_of_half_a(bench)[:120]],
        partial(_scored, AMBROSIA),
    ),
    "workday": Source(_workday_opened, _workday_drawn, _workday_judged),
    "field": Source(_field_opened, _field_drawn, _field_judged),
    "everyday": Source(
        lambda work, _: serving(work, everyday_made),
        _everyday_drawn,
        _everyday_judged,
    ),
    "demo": Source(lambda work, _: serving(work, _demo_made), _demo_drawn, _demo_judged),
}
"""Those beside Spider's training questions, by name."""
