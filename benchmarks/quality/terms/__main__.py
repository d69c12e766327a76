"""Asks Defog's questions that use a term, with and without it in the catalog: see `benchmarks.quality.terms`."""

from __future__ import annotations

import asyncio
import re
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import msgspec
from rich.console import Console

import benchmarks.quality.terms as described_here
from benchmarks.quality.candidates.command import ROOT, check_bench, common_parser, finished
from benchmarks.quality.candidates.gateway import gateways
from benchmarks.quality.candidates.journal import Journal, identity
from benchmarks.quality.candidates.judging import Scorer
from benchmarks.quality.candidates.model_server import model_server
from benchmarks.quality.candidates.questions import SETS, Asked, Question, read_items
from benchmarks.quality.candidates.running import Pass, run
from benchmarks.quality.candidates.site import OneDatabase, Site, site
from benchmarks.quality.candidates.tasks import Place, Task
from benchmarks.quality.resampling import Estimate, estimate
from benchmarks.quality.terms.definitions import TERMS
from benchmarks.wire.machine import describe
from engine.definitions.checking import check_pending
from schema_catalog.definitions import DefinitionStore
from schema_catalog.knowledge import Said, described
from schema_catalog.types import Term

DEFOG = next(each for each in SETS if each.name == "defog")
ARMS = ("without", "with")


@dataclass(frozen=True, slots=True)
class Options:
    """What is asked, and where the results go."""

    bench: Path
    work: Path
    k: int
    plan: bool
    score: bool
    json: Path | None


@dataclass(frozen=True, slots=True)
class Found:
    """Shares of n questions. `gain`: of accuracy at 1 by the terms; intervals resample questions."""

    n: int
    without_first: Estimate
    with_first: Estimate
    gain: Estimate
    without_set: Estimate
    with_set: Estimate


def main() -> int:
    """Measures, prints the figures, returns the exit status (2: no data, wrong options, another run; 130: stopped)."""
    return finished(_options, _run, Console(width=150))


def asked(bench: Path) -> tuple[Asked, ...]:
    """The questions that name a term of their database, without instructions."""
    return tuple(
        Asked(Question(item["id"], item["question"], item["db"]))
        for item in read_items(bench / DEFOG.file)
        if item.get("instructions")
        and any(
            each.database == item["db"] and re.search(rf"\b{each.phrase}s?\b", item["question"].casefold())
            for each in TERMS
        )
    )


async def defined(place: Site) -> dict[str, tuple[Term, ...]]:
    """The terms by database, as the catalog takes them up; raises `ValueError` where one is refused."""
    for each in TERMS:
        await place.pool.execute(
            "SELECT nl_catalog.define_term($1, $2, $3)", each.database, each.name, each.definition
        )
    await check_pending(place.pool, place.tools.upstream)
    if refused := await place.pool.fetch(
        "SELECT term, reason FROM nl_catalog.terms WHERE state <> 'checked'"
    ):
        raise ValueError("; ".join(f"{term}: {reason}" for term, reason in refused))
    terms: dict[str, list[Term]] = {}
    for stored in await DefinitionStore(place.pool).of_schemas():
        if isinstance(stored.definition, Term):
            terms.setdefault(stored.database, []).append(stored.definition)
    return {name: tuple(found) for name, found in terms.items()}


async def _run(options: Options, console: Console) -> None:
    machine, questions = describe(ROOT), asked(options.bench)
    async with site(options.work, options.bench) as place:
        terms = await defined(place)
        system = gateways(place.plain, options.k)[0]
        sources = (*system.sources, *Path(__file__).parent.glob("*.py"))
        name = identity(f"terms {system.settings}", sources)
        folder = options.work / "answers" / "terms"
        passes = {arm: Pass(arm, system, questions, Journal(folder / f"{arm}-{name}.jsonl")) for arm in ARMS}
        console.print(f"{sum(len(each.left) for each in passes.values())} answers to give")
        if options.plan:
            return
        if not options.score:
            with model_server(place.meter, options.work / "model.log"):
                for question in questions:
                    for arm, one in passes.items():
                        single = replace(one, asked=(question,))
                        prepare = _Preparing(place, terms if arm == "with" else {})
                        await run(single, prepare, place.meter.take, machine.commit, lambda _: None)
                    console.print(question.question.id, markup=False)
        scorer = Scorer(options.bench, place.dsn, options.work / "scoring-terms")
        right = {
            arm: (await asyncio.to_thread(scorer.judge, DEFOG, one.answers)).right
            for arm, one in passes.items()
        }
    found = figures(right["without"], right["with"])
    console.print(found)
    if options.json is not None:
        result = {"found": asdict(found), "machine": asdict(machine), "k": options.k, "answers": name}
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n")


@dataclass(frozen=True, slots=True)
class _Preparing:
    """Makes a question ready, over a catalog that holds its database alone."""

    place: Site
    terms: dict[str, tuple[Term, ...]]

    async def __call__(self, asked: Asked) -> Task:
        home = self.place.places[str(asked.question.database)]
        snapshot = described(
            replace(home.snapshot, terms=()), Said(terms=self.terms.get(home.database.name, ()))
        )
        if snapshot is None:
            raise ValueError(f"{home.database.name} is hidden")
        known = Place(home.database, snapshot)
        return Task(asked.question, known, replace(self.place.tools, catalog=OneDatabase(known)))


Right = dict[str, tuple[tuple[bool, bool], ...]]
"""By question, for each candidate whether it is right, twice."""


def figures(without: Right, given: Right) -> Found:
    """Of the questions that were answered both ways."""
    ids = sorted(without.keys() & given.keys())
    firsts = [[any(each[key][:1]) and each[key][0][0] for key in ids] for each in (without, given)]
    whole = [[any(one for one, _ in each[key]) for key in ids] for each in (without, given)]
    gain = [float(after) - float(before) for before, after in zip(*firsts, strict=True)]
    return Found(
        len(ids),
        estimate(firsts[0], ids),
        estimate(firsts[1], ids),
        estimate(gain, ids),
        estimate(whole[0], ids),
        estimate(whole[1], ids),
    )


def _options() -> Options:
    parser = common_parser("benchmarks.quality.terms", described_here.__doc__)
    given = parser.parse_args()
    check_bench(given.bench)
    return Options(given.bench, given.work, given.k, given.plan, given.score, given.json)


if __name__ == "__main__":
    sys.exit(main())
