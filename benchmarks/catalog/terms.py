"""What terms of the business are worth: Defog's questions that use one, asked with and without it in the catalog.

Defog tells what its terms mean in instructions beside the question. Here no instruction is shown; those that define one
expression stand in the catalog as terms, worded from the instruction, and the same question is asked both ways.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
from rich.console import Console

from benchmarks.harness.answers import Judged, judged
from benchmarks.harness.command import Options
from benchmarks.harness.drawing import read_items
from benchmarks.harness.model import model_server
from benchmarks.harness.questions import DEFOG, Asked, Question
from benchmarks.harness.running import Pass, run, told_plan
from benchmarks.harness.scorer import Scorer, Verdicts
from benchmarks.harness.site import OneDatabase, Site, site
from benchmarks.harness.systems import Gateway, Place, Task
from engine.app.checking import check_pending
from schema_catalog.definitions import DefinitionStore
from schema_catalog.knowledge import Said, described
from schema_catalog.types import Term

WITHOUT, WITH = ARMS = ("without", "with")


@dataclass(frozen=True, slots=True)
class Defined:
    """A term of a database's, worded from Defog's instruction alone."""

    database: str
    name: str
    definition: str


def definitions() -> list[Defined]:
    """Those that define one expression: two that rank groups are left out, whose GROUP BY is none."""
    return msgspec.json.decode(Path(__file__).with_name("terms.json").read_bytes(), type=list[Defined])


async def measured(options: Options, console: Console) -> Judged | None:
    """Asks what is left, and has it judged; None for a plan."""
    questions = asked(options.bench)[: options.n]
    async with site(options.work, options.bench) as place:
        terms = await defined(place)
        passes = {
            arm: Pass.of_system(
                DEFOG, Gateway(arm, options.k, lacks=arm, defined=Path(__file__)), questions, options.work
            )
            for arm in ARMS
        }
        told_plan(list(passes.values()), console)
        if options.plan:
            return None
        if not options.score and any(each.left for each in passes.values()):
            with model_server(place.meter, options.work / "model.log"):
                for question in questions:
                    for arm, one in passes.items():
                        prepare = _Preparing(place, terms if arm == WITH else {})
                        await run(replace(one, asked=(question,)), prepare, place.meter.take, lambda _: None)
                    console.print(question.question.id, markup=False)
        scorer = Scorer(options.bench, place.dsn, options.work / "scoring")
        return judged(list(passes.values()), WITH, Verdicts(scorer))


def asked(bench: Path) -> tuple[Asked, ...]:
    """The questions that name a term of their database, without instructions."""
    return tuple(
        Asked(Question(item["id"], item["question"], item["db"]), owner=item["db"])
        for item in read_items(bench / DEFOG.file)
        if item.get("instructions")
        and any(
            each.database == item["db"]
            and re.search(rf"\b{each.name.casefold()}s?\b", item["question"].casefold())
            for each in definitions()
        )
    )


async def defined(place: Site) -> dict[str, tuple[Term, ...]]:
    """The terms by database, as the catalog takes them up; raises `ValueError` where one is refused."""
    for each in definitions():
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
