"""Makes what judgement and selection are fitted on: what the engine has to order for training questions.

    python -m training.lists --out FILE [--k K] [--n N] [--origin NAME]
    python -m training.lists --out FILE --again FILES [--origin NAME]    statements found before, looked at anew

A line of the file is a question, by its id, with each statement and whether the benchmark's scorer finds it right.
Questions are drawn in turns from databases that the schema linker was not trained on, or are those of another origin
(`training.origins`). A run that is stopped goes on
from there, and what the model has said is kept.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from pathlib import Path

import msgspec
from rich.console import Console

from benchmarks.harness.command import check_bench, finished
from benchmarks.harness.drawing import Item, in_turns, left_out, may_be_fitted
from benchmarks.harness.linker_split import Part, part_of
from benchmarks.harness.model import model_server
from benchmarks.harness.questions import Asked
from benchmarks.harness.running import replaying
from benchmarks.harness.site import Site
from benchmarks.harness.systems import asked_now
from engine.app import pipeline
from engine.ask.decide import decide, proposed
from engine.judge.features import made_of, route_features
from engine.judge.judge import judge, known, questions, with_questions
from engine.values.candidate import Candidate, Change, Origin, RuleKind
from engine.values.errors import NLError
from engine.values.state import State
from engine.values.tools import Tools
from engine.write.write import write
from pgparley.config import cache_dir
from training.command import parser
from training.origins import ORIGINS, Source, Verdicts, Wanted, of_training, unanswered

TOGETHER, CALLS = 3, 8
"""Questions that are asked at once, and calls of the model: they are written in one batch."""

ROUND, TURN = 4, 6
"""Questions of a database that are asked in one piece, and those that are judged together."""

ASKED, ASKED_ABOUT = 0.06, 4
"""Of the confidences a statement's share at least that is asked about which question it answers; and how many."""

UNRANKED = pipeline.CANDIDATE_STAGES[: pipeline.CANDIDATE_STAGES.index(judge)]
UNWRITTEN = pipeline.CANDIDATE_STAGES[: pipeline.CANDIDATE_STAGES.index(write)]


@dataclass(frozen=True, slots=True)
class Written:
    """A statement that was to be ranked, and whether it is right. `sql`: empty where its features alone are kept.

    `logprob`, `similarity`, `forked`, `readings`: as of `Candidate`. `question`: the question's log-probability given
    the statement, where it was asked for. `features`: `engine.judge.features.candidate_features`, those not 0. `of`:
    `engine.judge.features.made_of`.
    """

    sql: str = ""
    right: bool = False
    logprob: float | None = None
    similarity: float = 0.0
    forked: bool = False
    readings: int = 0
    question: float | None = None
    features: dict[str, float] = field(default_factory=dict)
    of: tuple[int, ...] = ()


class Reply(StrEnum):
    """What a question is answered with; `DOUBTED`: statements with the doubt told."""

    SHOWN = "shown"
    DOUBTED = "doubted"
    ASKED = "asked"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class QuestionList:
    """What there was to rank for a question that is shown `k` statements. `route`: `route_features`.

    `options`: the places of those shown that agree with each option of the question back, none where there is none;
    `twins`: whether they stand for what the schema holds twice; `misread`: how probably the answer is wrong. By the
    weights that came with the program when the list was made. `first`: the place of the likeliest, and `reply`: what
    the asker would get, by the same; `unknown`: words of the question that nothing in its database stands for.
    """

    id: str
    k: int
    candidates: tuple[Written, ...]
    database: str = ""
    route: dict[str, float] = field(default_factory=dict)
    options: tuple[tuple[int, ...], ...] = ()
    twins: bool = False
    misread: float = 0.0
    first: int = 0
    reply: Reply | None = None
    unknown: tuple[str, ...] = ()


def read(file: Path) -> list[QuestionList]:
    """The lists of a file; none where there is no file."""
    lines = file.read_bytes().splitlines() if file.exists() else []
    return [msgspec.json.decode(line, type=QuestionList) for line in lines]


def drawn(items: Sequence[Item], seed: int) -> list[Item]:
    """The questions in the order in which they are asked, one of each statement, some of a database together.

    Of databases that neither the schema linker was trained on nor benchmarks measure on.
    """
    kept = frozenset(left_out(items))
    statements: dict[tuple[str, str], Item] = {}
    for item in in_turns(may_be_fitted(items), seed):
        if item["db"] not in kept and part_of(item["db"]) is not Part.LINKER:
            statements.setdefault((item["db"], item["gold"]), item)
    return _rounds(statements.values())


def _rounds(items: Iterable[Item]) -> list[Item]:
    """`ROUND` questions of each database, in one piece each, then as many again."""
    turns: Counter[str] = Counter()
    placed = []
    for item in items:
        placed.append((turns[item["db"]] // ROUND, str(item["db"]), item))
        turns[item["db"]] += 1
    return [item for *_, item in sorted(placed, key=lambda each: each[:2])]


async def _record(given: argparse.Namespace, console: Console) -> None:
    before = [each for file in given.again for each in read(file)]
    found = {each.id for each in before}

    def draw(items: Sequence[Item]) -> Sequence[Item]:
        return [item for item in items if item["id"] in found] if before else drawn(items, given.seed)

    origin = of_training(draw) if given.origin is None else ORIGINS[given.origin]
    async with origin.opened(given.work, given.bench) as place:
        with contextlib.ExitStack() as stack:
            tools = place.tools
            if not before:
                tools = replace(tools, model=stack.enter_context(replaying(place, given.work, at_once=CALLS)))
                stack.enter_context(model_server(place.meter, given.work / "model.log"))
            await _record_each(given, replace(place, tools=tools), before, origin, console)
    lists, unanswerable = read(given.out), unanswered(given.bench)
    for words, some in (
        ("answered by their database", [each for each in lists if each.id not in unanswerable]),
        ("not answered by it", [each for each in lists if each.id in unanswerable]),
    ):
        console.print(words, replies(some), highlight=False)


def replies(lists: Sequence[QuestionList]) -> dict[str, int]:
    """How many are answered with what; and of those whose likeliest statement is right, how many not plainly."""
    found = {str(reply): sum(each.reply is reply for each in lists) for reply in Reply}
    right = [each for each in lists if each.candidates and each.candidates[each.first].right]
    in_doubt = sum(each.reply in {Reply.DOUBTED, Reply.REFUSED} for each in right)
    return {**found, "right first": len(right), "of them in doubt": in_doubt}


async def _record_each(
    given: argparse.Namespace,
    place: Site,
    before: Sequence[QuestionList],
    origin: Source,
    console: Console,
) -> None:
    known = {each.id for each in read(given.out)}
    found = {each.id: each.candidates for each in before}
    wanted = [each for each in origin.drawn(given.bench)[: given.n] if not found or each.question.id in found]
    asking = _Asking(place, given.k, found)
    left = [each for each in wanted if each.question.id not in known]
    for at in range(0, len(left), TURN):
        console.print(f"{len(left) - at} of {len(wanted)} left", highlight=False)
        lists = await asyncio.gather(*(asking.ask(each) for each in left[at : at + TURN]))
        told = await judged(lists, partial(origin.judged, place, given.bench, given.work))
        with given.out.open("ab") as file:
            file.writelines(msgspec.json.encode(each) + b"\n" for each in told)


@dataclass(frozen=True, slots=True)
class _Asking:
    """Asks questions of `place` for `k` statements, a few at once. `found`: before, by the question's id."""

    place: Site
    k: int
    found: Mapping[str, Sequence[Written]]
    turn: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(TOGETHER))

    async def ask(self, one: Asked) -> QuestionList:
        """The list of a question."""
        async with self.turn:
            task = await self.place.task(one)
            tools = replace(task.tools, model=self.place.tools.model)
            made = QuestionList(one.question.id, self.k, (), one.owner)
            found = self.found.get(made.id)
            try:
                return await _listed(asked_now(task.question, self.k), tools, made, found)
            except NLError:
                # What a user would be told instead is nothing to rank.
                return replace(made, reply=Reply.REFUSED)


async def _listed(
    state: State, tools: Tools, made: QuestionList, found: Sequence[Written] | None = None
) -> QuestionList:
    """The list of a question. `found`: statements that were found before; else it is asked."""
    if found is None:
        done = await pipeline.run(state, tools, UNRANKED)
    else:
        done = await _looked_at(await pipeline.run(state, tools, UNWRITTEN), tools, found)
    made = replace(made, unknown=_unknown(done))
    if not done.candidates:
        return replace(made, reply=Reply.REFUSED)
    _, each = await asyncio.to_thread(known, done, tools)
    told = {one.sql: one.question for one in found or () if one.question is not None}
    if found is None:
        told = await _questions(done, tools.judgement.confidences(done, each), tools)
    places = {one.sql: place for place, one in enumerate(done.candidates)}
    each = with_questions(each, {places[sql]: value for sql, value in told.items() if sql in places})
    candidates = tuple(
        Written(
            one.sql,
            logprob=one.origin.logprob,
            similarity=round(one.origin.schema_score, 4),
            forked=one.origin.forked,
            readings=one.origin.readings,
            question=told.get(one.sql),
            features={name: round(value, 4) for name, value in features.items() if value},
            of=of,
        )
        for one, features, of in zip(done.candidates, each, made_of(done.candidates), strict=True)
    )
    route = route_features(done.routes[0])
    listed = replace(
        made, candidates=candidates, route={name: round(value, 4) for name, value in route.items()}
    )
    best = sorted(
        zip(tools.judgement.confidences(done, each), done.candidates, strict=True), key=lambda one: -one[0]
    )[: made.k]
    ranked = replace(done, candidates=tuple(replace(one, confidence=value) for value, one in best))
    first = places[ranked.candidates[0].sql]
    listed = replace(listed, first=first, reply=_reply(await decide(ranked, tools)))
    proposal = proposed(ranked)
    if proposal is None:
        return listed
    groups = tuple(
        tuple(places[ranked.candidates[place].sql] for place in group) for group in proposal.parting.groups
    )
    return replace(listed, options=groups, twins=proposal.parting.twins, misread=proposal.misread)


def _unknown(state: State) -> tuple[str, ...]:
    return tuple(each.text for route in state.routes[:1] for each in route.unknown)


def _reply(decided: State) -> Reply:
    if decided.dialogue.pending is not None:
        return Reply.ASKED
    if not decided.candidates:
        return Reply.REFUSED
    return Reply.DOUBTED if decided.doubtful else Reply.SHOWN


async def _looked_at(state: State, tools: Tools, found: Sequence[Written]) -> State:
    """`state` with statements that were found before, checked and run as they are now."""
    name = state.routes[0].database.name
    given = (
        Candidate(
            name,
            one.sql,
            origin=Origin(frozenset(), one.similarity, one.logprob, one.forked, one.readings),
            # Of its rules it is known what they were applied to.
            changes=tuple(Change("", RuleKind.READING, "", found[n].sql, "") for n in reversed(one.of)),
        )
        for one in found
    )
    return await pipeline.run(replace(state, candidates=tuple(given)), tools, UNRANKED[len(UNWRITTEN) + 1 :])


async def _questions(state: State, confidences: Sequence[float], tools: Tools) -> dict[str, float]:
    """The question's log-probability given each statement that may be first, by statement."""
    order = sorted(range(len(confidences)), key=confidences.__getitem__, reverse=True)
    likely = [n for n in order if confidences[n] >= ASKED * sum(confidences)][:ASKED_ABOUT]
    if len(likely) < 2:  # noqa: PLR2004 - nothing to order
        return {}
    told = await questions([state.candidates[n] for n in likely], state, tools)
    return {
        state.candidates[n].sql: (one.logprob or 0.0) * one.generated
        for n, one in zip(likely, told, strict=False)
    }


async def judged(
    lists: Sequence[QuestionList], judge: Callable[[Wanted], Awaitable[Verdicts]]
) -> list[QuestionList]:
    """The lists with the verdicts of `judge`."""
    wanted = {each.id: [one.sql for one in each.candidates] for each in lists if each.candidates}
    right = await judge(wanted) if wanted else {}
    return [
        replace(
            each,
            candidates=tuple(
                replace(one, right=verdict)
                for one, verdict in zip(each.candidates, right.get(each.id, ()), strict=True)
            ),
        )
        for each in lists
    ]


def _options() -> argparse.Namespace:
    made = parser(__doc__)
    work = cache_dir() / "bench-ablations"
    made.add_argument("--work", type=Path, default=work, help="for what the model said")
    made.add_argument("--n", type=int, default=2_000, help="questions")
    made.add_argument("--k", type=int, default=3, help="statements of a question that are shown")
    made.add_argument(
        "--origin", choices=sorted(ORIGINS), help="whose questions; none: Spider's for training"
    )
    made.add_argument("--again", type=Path, nargs="+", default=[], help="lists; the model is not asked")
    given = made.parse_args()
    check_bench(given.bench)
    if given.out is None:
        raise ValueError("--out says which file to write or to go on with")
    return given


def main() -> int:
    """Asks until all is asked; returns the exit status (2: no data, another run; 130: stopped)."""
    return finished(_options, _record)


if __name__ == "__main__":
    sys.exit(main())
