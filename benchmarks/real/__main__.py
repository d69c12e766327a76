"""Runs the benchmark: see `benchmarks.real`.

    python -m benchmarks.real [--set-aside] [--plan] [--score]
    python -m benchmarks.real --check

Asks the questions of a half of pgparley and of its model alone. A run that was cut off goes on where it stopped when
the same command is given again; `--plan` says what is left and asks nothing, `--score` reports what is answered so far.
`--check` runs the gold statements instead and shows what they find.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from rich.console import Console

from benchmarks.harness.answers import Judged, judged, told
from benchmarks.harness.command import Options, by_name, measuring, parser, told_command
from benchmarks.harness.intervals import Figure
from benchmarks.harness.machine import ROOT
from benchmarks.harness.outcomes import Outcome, paired
from benchmarks.harness.questions import Asked, Question
from benchmarks.harness.report import Run, Summary, note
from benchmarks.harness.running import Pass, answered, in_turns, replaying, told_plan
from benchmarks.harness.scorer import Verdicts
from benchmarks.harness.site import Site, forget_store, readable, serving
from benchmarks.harness.systems import ALONE, PLAIN, WHOLE, Alone, Gateway, System
from benchmarks.quality.ablations.arms import by_origin
from benchmarks.real.databases import SCHEMAS, load
from benchmarks.real.gold import PerDatabase, found_by, question_set, refused
from benchmarks.real.packages import PackageError
from benchmarks.real.questions import Half, RealQuestion, read_questions
from pgparley.cluster import Cluster
from pgparley.config import cache_dir
from pgparley.demo.loading import SampleError
from schema_catalog.types import Database

MODULE = "benchmarks.real"
LOOKS = ROOT / "benchmarks" / "results" / "real-looks.jsonl"


@dataclass(frozen=True, slots=True)
class RealOptions(Options):
    """What is asked: those of every benchmark, `packages`: where data packages are kept."""

    packages: Path
    set_aside: bool
    check: bool

    @property
    def asked_half(self) -> Half:
        """The half of the questions that is asked."""
        return Half.ASIDE if self.set_aside else Half.OPEN


def main() -> int:
    """Measures, prints the table, returns the exit status (2: no data, wrong gold, another run; 130: stopped)."""
    made = parser(MODULE, __doc__, k=3)
    made.add_argument("--packages", type=Path, default=cache_dir() / "data-packages", help="data packages")
    made.add_argument("--set-aside", action="store_true", help="the half that is set aside; logged")
    made.add_argument("--check", action="store_true", help="run the gold statements, ask nothing")
    return measuring(made, RealOptions, _run)


async def _run(options: RealOptions, console: Console) -> None:
    async def fill(running: Cluster) -> tuple[Database, ...]:
        try:
            loaded = await load(running, options.packages)
        except (PackageError, SampleError) as problem:
            raise ValueError(str(problem)) from problem
        if loaded:
            await forget_store(running)
        return tuple(
            readable(Database(name, running.dsn(name), name, schemas[:1], schemas))
            for name, schemas in SCHEMAS.items()
        )

    async with serving(options.work, fill) as place:
        if options.check:
            await _checked(place, options, console)
        else:
            await _measured(place, options, console)


async def _checked(place: Site, options: RealOptions, console: Console) -> None:
    questions = read_questions()
    await found_by(place.cluster, questions, console)
    scorer = PerDatabase(options.bench, place.cluster, options.work / "scoring" / "gold", questions)
    if wrong := await asyncio.to_thread(refused, scorer, questions):
        raise ValueError("\n".join(["the scorer does not find right:", *wrong]))
    statements = sum(len(each.gold) for each in questions)
    console.print(f"{len(questions)} questions, {statements} statements: all right")


async def _measured(place: Site, options: RealOptions, console: Console) -> None:
    half = [each for each in read_questions() if each.half is options.asked_half]
    of, questions = question_set(options.asked_half, half), half[: options.n]
    asked = tuple(
        Asked(Question(each.id, each.text, each.database), owner=each.database) for each in questions
    )
    with replaying(place, options.work) as replay:
        plain = Gateway(
            PLAIN, options.k, adapt=partial(replace, model=place.plain), lacks="grammars, likelihoods"
        )
        known: tuple[System, ...] = (Gateway(WHOLE, options.k), Alone(), plain, *by_origin(options.k))
        systems = by_name(options.systems or f"{WHOLE},{ALONE}", known, "system")
        passes = [Pass.of_system(of, system, asked, options.work) for system in systems]
        told_plan(passes, console)
        if options.plan:
            return
        if not options.score:
            await answered(in_turns(passes), place, options.work, console, replay)
    scorer = PerDatabase(
        options.bench, place.cluster, options.work / "scoring" / options.asked_half, questions
    )
    found = await asyncio.to_thread(judged, passes, WHOLE, Verdicts(scorer))
    config = {"k": options.k, "half": options.asked_half, "database": "given", "values": "all text columns"}
    run = Run("real", told_command(MODULE, sys.argv[1:]), options.seed, config)
    flat = summary(found, of.name, "" if options.asked_half is Half.OPEN else "aside_")
    if options.asked_half is Half.ASIDE:
        note(LOOKS, n=len(asked), **flat)
        # Which questions fail is for nobody to see.
        options = replace(options, page=None, outcomes=None)
    told(run, found, {of.name: flat}, options, console)
    if options.page is not None:
        with options.page.open("a", encoding="utf-8") as page:
            page.write("\n".join(failures(questions, found.outcomes[of.name])))


def summary(found: Judged, name: str, before: str) -> Summary:
    """The flat numbers; `times`: the first right by the model alone's, of the questions that both were asked."""
    whole, alone = found.find(name, WHOLE), found.find(name, ALONE)
    flat: dict[str, float | None] = {}
    if whole is not None:
        flat |= {"acc1": whole.acc1.value, "set_acc": whole.set_acc.value, "set_size": whole.set_size.value}
    if alone is not None:
        flat["alone_acc1"] = alone.acc1.value
    if (plain := found.find(name, PLAIN)) is not None:
        flat |= {"plain_acc1": plain.acc1.value, "plain_set_acc": plain.set_acc.value}
    if whole is not None and alone is not None:
        flat["times"] = getattr(_times(found, name), "value", None)
    return {f"{before}{key}": value for key, value in flat.items()}


def _times(found: Judged, name: str) -> Figure | None:
    one, two = (found.outcomes[name][system] for system in (WHOLE, ALONE))
    pairs = [(one[key], two[key]) for key in one if key in two]
    return paired(pairs, lambda whole, alone: (whole.first, alone.first))


def failures(questions: Sequence[RealQuestion], found: Mapping[str, Mapping[str, Outcome]]) -> Iterator[str]:
    """For the page: shares by kind of question and by database, then each whose first statement is wrong."""
    whole, alone = found[WHOLE], found.get(ALONE, {})
    for name, groups in (("kind", lambda each: each.kinds), ("database", lambda each: (each.database,))):
        yield from (
            "",
            f"| {name} | n | first right | in the set | the model alone |",
            "|---|---|---|---|---|",
        )
        asked = [each for each in questions if each.id in whole]
        for group in sorted({str(group) for each in asked for group in groups(each)}):
            own = [each.id for each in asked if group in groups(each)]
            right = [[whole[key].first for key in own], [whole[key].found for key in own]]
            right.append([key in alone and alone[key].first for key in own])
            shares = " | ".join(f"{100 * sum(some) / len(own):.0f}" for some in right)
            yield f"| {group} | {len(own)} | {shares} |"
    for each in questions:
        if (outcome := whole.get(each.id)) is not None and not outcome.first:
            yield from ("", f"**{each.id}** ({', '.join(each.kinds)}): {each.text}", "```sql")
            yield f"-- gold{'' if len(each.gold) == 1 else f', 1 of {len(each.gold)}'}\n{each.gold[0]}"
            for number, sql in enumerate(outcome.statements, 1):
                yield f"-- {number}{', right' if number == outcome.place else ''}\n{sql}"
            yield f"-- {outcome.answer.error}\n```" if outcome.answer.error else "```"
    yield ""


if __name__ == "__main__":
    sys.exit(main())
