"""Fits how much likelier each rule's reading is right than the statement that it was made of.

    python -m training.readings LISTS [--out engine/rewrite/worth.json]      fit on lists
    python -m training.readings LISTS --record [--n N]                       make them, with the embedded model
    python -m training.readings LISTS --of STATEMENTS                        make them of statements written before

A list is one training question's candidates, all that generation made, with the scorer's verdicts and the ranker's
scores. STATEMENTS has a line `{"id": …, "sql": …}` for each question: the model's statement, of which the readings
are made anew and no model is asked. A pair is a reading and the statement it was made of, of which one is right. The
log-odds of the reading are the ranker's difference plus the sum of its rules' worths; these are fitted by maximum
likelihood, held to 0 by a normal prior. `--record` asks questions of the ablations' databases
(`benchmarks.quality.ablations.drawing`) that are none of them: what the worths are worth, other databases tell.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray
from rich.progress import track

from benchmarks.quality.ablations.drawing import TRAIN, drawn
from benchmarks.quality.ablations.replay import Completions, Replay, file_for
from benchmarks.quality.candidates.command import ROOT
from benchmarks.quality.candidates.gateway import asked_now
from benchmarks.quality.candidates.journal import Answer, Cost, Proposal, locked
from benchmarks.quality.candidates.judging import Scorer
from benchmarks.quality.candidates.model_server import model_server
from benchmarks.quality.candidates.questions import Asked, Question, Selection, read_items
from benchmarks.quality.candidates.site import Site, site
from benchmarks.wire.machine import cpu_seconds
from engine import pipeline
from engine.core.candidate import Candidate
from engine.core.tools import Tools
from engine.rewrite.rule import RuleKind
from engine.rewrite.rules import RULES
from engine.settings import Limits
from engine.stages.generate import Explorer, generate
from engine.stages.rank import rank
from pgparley.config import cache_dir, load

PRIOR_SD = 1.5
"""Standard deviation of a worth before any pair: a rule is right eight times in ten, or wrong, at one of these."""

STEPS = 50
WIDTH = 3


@dataclass(frozen=True, slots=True)
class Listed:
    """A candidate: `made_of` is the place of the statement that its readings were made of, None where it has none."""

    sql: str
    rules: tuple[str, ...]
    made_of: int | None
    score: float
    right: bool = False


@dataclass(frozen=True, slots=True)
class QuestionList:
    """One question's candidates."""

    id: str
    database: str
    candidates: tuple[Listed, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """A reading beside what it was made of. `lead`: the ranker's difference; `right`: the reading is, the other not."""

    database: str
    rules: tuple[str, ...]
    lead: float
    right: bool


def pairs(lists: Sequence[QuestionList]) -> Iterator[Pair]:
    """Those of which one is right."""
    for each in lists:
        for candidate in each.candidates:
            if candidate.made_of is None:
                continue
            other = each.candidates[candidate.made_of]
            if candidate.right != other.right:
                lead = candidate.score - other.score
                yield Pair(each.database, candidate.rules, lead, candidate.right)


def fitted(known: Sequence[Pair], names: Sequence[str]) -> NDArray[np.float64]:
    """The worths of `names`, by Newton's method, shape (len(names),)."""
    uses = np.array([[float(name in pair.rules) for name in names] for pair in known]).reshape(-1, len(names))
    lead = np.array([pair.lead for pair in known])
    right = np.array([float(pair.right) for pair in known])
    worths = np.zeros(len(names))
    pull = np.eye(len(names)) / PRIOR_SD**2
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-(lead + uses @ worths)))
        slope = uses.T @ (right - likely) - pull @ worths
        curve = (uses.T * (likely * (1 - likely))) @ uses + pull
        worths += np.linalg.solve(curve, slope)
    return worths


def main() -> int:
    """Records or fits; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("lists", type=Path)
    parser.add_argument("--bench", type=Path, default=ROOT.parent / "shared" / "bench")
    parser.add_argument("--work", type=Path, default=cache_dir() / "bench-ablations")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--of", type=Path, help="statements by training question")
    parser.add_argument("--n", type=int, default=70)
    parser.add_argument("--skip", type=int, default=100, help="questions that ablations are measured on")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.record or given.of is not None:
        with locked(given.work):
            asyncio.run(_record(given) if given.of is None else _reread(given))
        return 0
    lists = [msgspec.json.decode(line, type=QuestionList) for line in given.lists.read_bytes().splitlines()]
    found = list(pairs(lists))
    names = sorted({name for pair in found for name in pair.rules})
    worths = fitted(found, names)
    counted = Counter((name, pair.right) for pair in found for name in pair.rules)
    table = {
        name: {
            "log_odds": round(float(worth), 3),
            "right": counted[name, True],
            "wrong": counted[name, False],
        }
        for name, worth in zip(names, worths, strict=True)
    }
    text = json.dumps(table, indent=2) + "\n"
    sys.stdout.write(text)
    if given.out is not None:
        given.out.write_text(text, encoding="utf-8")
    return 0


async def _record(given: argparse.Namespace) -> None:
    async with site(given.work, given.bench) as place:
        kept = Completions(await asyncio.to_thread(file_for, given.work, load(None).embedded_model.path))
        replay = Replay(place.tools.model, kept)
        measured = set(drawn(given.bench, TRAIN, Selection(given.skip, given.seed, None)))
        more = drawn(given.bench, TRAIN, Selection(given.skip + given.n, given.seed, None))
        asked = [each for each in more if each not in measured]
        with model_server(place.meter, given.work / "model.log") as server:
            replay.clock = partial(cpu_seconds, (server,))
            found = [await _listed(one, place, replay) for one in track(asked, "Asking")]
        lists = [each for each in found if each is not None]
        kept.close()
        await _keep(lists, place, given)


async def _reread(given: argparse.Namespace) -> None:
    """The lists of statements that were written before."""
    written = {each["id"]: each["sql"] for each in map(json.loads, given.of.read_text("utf-8").splitlines())}
    items = [item for item in read_items(given.bench / TRAIN.file) if item["id"] in written]
    async with site(given.work, given.bench) as place:
        asked = [Asked(Question(item["id"], item["question"], item["db"])) for item in items]
        found = [await _read(one, written[one.question.id], place) for one in track(asked, "Reading")]
        await _keep([each for each in found if each is not None], place, given)


async def _keep(lists: Sequence[QuestionList], place: Site, given: argparse.Namespace) -> None:
    """Writes the lists with the scorer's verdicts."""
    scorer = Scorer(given.bench, place.dsn, given.work / "scoring")
    judged = await asyncio.to_thread(_judged, lists, scorer)
    given.lists.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in judged))


async def _read(asked: Asked, sql: str, place: Site) -> QuestionList | None:
    """The statement and its readings, with the ranker's scores; None where it does not stand the checks."""
    task = await place.task(asked)
    done = await pipeline.run(
        asked_now(asked.question, WIDTH, Limits().calls),
        task.tools,
        pipeline.STAGES[: pipeline.STAGES.index(generate)],
    )
    checker = Explorer(done.routes[0], done, task.tools, frozenset()).checker
    stated = await checker.statement(Candidate(done.routes[0].database.name, sql))
    if not isinstance(stated, Candidate):
        return None
    return await _ranked(asked, (stated, *await checker.readings(stated)), task.tools)


async def _listed(asked: Asked, place: Site, replay: Replay) -> QuestionList | None:
    """All that generation makes of a question, with the ranker's scores."""
    task = await place.task(asked)
    tools = replace(task.tools, model=replay)
    done = await pipeline.run(
        asked_now(asked.question, WIDTH, Limits().calls),
        tools,
        pipeline.STAGES[: pipeline.STAGES.index(rank)],
    )
    return await _ranked(asked, done.candidates, tools) if done.candidates else None


async def _ranked(asked: Asked, candidates: Sequence[Candidate], tools: Tools) -> QuestionList:
    scores = await asyncio.to_thread(tools.ranker.rank, asked.question.text, candidates)
    reading = {rule.name for rule in RULES if rule.kind is RuleKind.READING}
    listed: list[Listed] = []
    places: dict[str, int] = {}
    for candidate, ranking in zip(candidates, scores, strict=True):
        made = [change for change in candidate.changes if change.rule in reading]
        if made and candidate.changes[-1].after != candidate.sql:
            continue  # Its names were exchanged as well.
        base = places.get(made[0].before) if made else None
        places[candidate.sql] = len(listed)
        listed.append(Listed(candidate.sql, tuple(change.rule for change in made), base, ranking.score))
    return QuestionList(asked.question.id, str(asked.question.database), tuple(listed))


def _judged(lists: Sequence[QuestionList], scorer: Scorer) -> list[QuestionList]:
    answers = [
        Answer(each.id, tuple(Proposal(candidate.sql) for candidate in each.candidates), Cost(0.0))
        for each in lists
    ]
    right = scorer.judge(TRAIN, answers).right
    return [
        replace(
            each,
            candidates=tuple(
                replace(candidate, right=verdict[0])
                for candidate, verdict in zip(each.candidates, right[each.id], strict=True)
            ),
        )
        for each in lists
    ]


if __name__ == "__main__":
    sys.exit(main())
