"""Runs the benchmark: see `benchmarks.quality.followups`.

    python -m benchmarks.quality.followups [--systems SYSTEMS] [--k K] [--tuned] [--plan] [--score]
    python -m benchmarks.quality.followups --strong [--k K]

`--tuned`: the turns that were in view while the prompt was written; the others otherwise. `--strong`: what becomes of a
scripted model's right readings, in a dialogue and in full. A run that was cut off goes on where it stopped.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from benchmarks.harness.answers import Judged, judged
from benchmarks.harness.command import Options, by_name, measuring, parser, told_command
from benchmarks.harness.intervals import ratio
from benchmarks.harness.journal import Answer, Cost
from benchmarks.harness.machine import describe
from benchmarks.harness.model import model_server
from benchmarks.harness.outcomes import Outcome, lines
from benchmarks.harness.questions import Asked, Question, QuestionSet
from benchmarks.harness.replay import Replay
from benchmarks.harness.report import Grid, Part, Run, printed, write_lines, write_result
from benchmarks.harness.running import Pass, failing, replaying, told_plan
from benchmarks.harness.scorer import Scorer, Verdicts
from benchmarks.harness.site import DATA, Site, load, named, prepared, serving
from benchmarks.harness.systems import Gateway, System
from benchmarks.quality.followups.strong import CALLS, golds, survivals
from benchmarks.quality.followups.systems import InDialogue
from benchmarks.quality.followups.turns import DIALOGUES, TUNED, Turn, turns, unrelated, write_questions
from engine.question.question import Question as AskedQuestion
from pgparley.cluster import Cluster
from schema_catalog.types import Database

MODULE = "benchmarks.quality.followups"
IN_FULL, IN_DIALOGUE = "in_full", "in_dialogue"
AT_ONCE = 3


@dataclass(frozen=True, slots=True)
class FollowUpOptions(Options):
    """Those of every benchmark; whether the turns that were tuned on are meant; whether the script is."""

    tuned: bool
    strong: bool


def main() -> int:
    """Measures, prints the figures, returns the exit status (2: no data, wrong options, another run; 130: stopped)."""
    made = parser(MODULE, __doc__, k=1)
    made.add_argument("--tuned", action="store_true", help="the turns that were in view")
    made.add_argument("--strong", action="store_true", help="what becomes of right readings")
    return measuring(made, FollowUpOptions, _run)


async def _run(options: FollowUpOptions, console: Console) -> None:
    known = tuple(each for each in turns(options.bench) if (each.db in TUNED) == options.tuned)[: options.n]

    async def fill(running: Cluster) -> Sequence[Database]:
        await prepared(running, DATA)
        await asyncio.to_thread(load, running, options.bench, ("spider",))
        return tuple(named(running, name) for name in sorted({each.db for each in turns(options.bench)}))

    questions = options.work / "turns.jsonl"
    async with serving(options.work, fill) as place:
        write_questions(options.bench, questions)
        of = QuestionSet("followups", str(questions))
        measured = _strong if options.strong else _embedded
        part = await measured(known, of, place, options, console)
    if part is None:
        return
    name = "strong" if options.strong else "tuned" if options.tuned else "followups"
    parts = {name: part, "unrelated": _unrelated(options, known, console)}
    console.print({key: value for each in parts.values() for key, value in each.summary.items()})
    if options.json is not None:
        config = {"k": options.k, "tuned_on": sorted(TUNED), "values": "all of text"}
        run = Run("followups", told_command(MODULE, sys.argv[1:]), options.seed, config)
        write_result(options.json, run, parts)


async def _embedded(
    known: Sequence[Turn], of: QuestionSet, place: Site, options: FollowUpOptions, console: Console
) -> Part | None:
    whole = Gateway(IN_FULL, options.k)
    arms: tuple[System, ...] = (whole, InDialogue(whole, {each.id: each for each in known}))
    systems = by_name(options.systems, arms, "system")
    by_database = [
        _pass(of, system, [each for each in known if each.db == name], options.work)
        for name in dict.fromkeys(each.db for each in known)
        for system in systems
    ]
    told_plan(by_database, console)
    if options.plan:
        return None
    if not options.score:
        with (
            replaying(place, options.work, AT_ONCE) as replay,
            model_server(place.meter, options.work / "model.log"),
        ):
            for each in by_database:
                await _asked(each, place, replay, console)
    passes = [_pass(of, system, known, options.work) for system in systems]
    verdicts = Verdicts(Scorer(options.bench, place.dsn, options.work / "scoring"))
    found = await asyncio.to_thread(judged, passes, IN_FULL, verdicts)
    return _part(known, found, options)


async def _asked(one: Pass, place: Site, replay: Replay, console: Console) -> None:
    """Has what is left of a pass answered, some questions at once: their seconds are nobody's."""
    commit = (await asyncio.to_thread(describe)).commit
    left = list(one.left)
    while left:
        group, left = left[:AT_ONCE], left[AT_ONCE:]
        tasks = [replace(await place.task(each), tools=replace(place.tools, model=replay)) for each in group]
        await one.system.prepare(tasks[0])
        if (beginning := await one.system.begins(tasks[0])) is not None:
            replay.about(beginning)
        for task, (proposals, error, crashed) in zip(
            tasks, await asyncio.gather(*(failing(one.system.answer(each)) for each in tasks)), strict=True
        ):
            one.journal.add(Answer(task.question.id, proposals, Cost(0.0), error, crashed, commit))
            said = proposals[0].sql if proposals else error
            console.print(f"{one.system.name} {task.question.text} => {said}", markup=False, highlight=False)


def _pass(of: QuestionSet, system: System, known: Sequence[Turn], work: Path) -> Pass:
    asked = tuple(
        Asked(
            Question(each.id, each.in_full if system.name == IN_FULL else each.text, each.db), owner=each.db
        )
        for each in known
    )
    return Pass.of_system(of, system, asked, work)


def _part(known: Sequence[Turn], found: Judged, options: FollowUpOptions) -> Part:
    outcomes = found.outcomes["followups"]
    first = {key: {name: some[key].first for name, some in outcomes.items()} for key in _answered(outcomes)}
    if options.outcomes is not None:
        write_lines(options.outcomes, lines("followups", outcomes))
    prefix = "tuned_" if options.tuned else ""
    return Part(len(first), {"first": first}, summary(known, first, prefix), found.commits("followups"))


def _unrelated(options: FollowUpOptions, known: Sequence[Turn], console: Console) -> Part:
    """Of unrelated questions behind a turn those that are taken for follow-ups: told by form, without a model."""
    asked = unrelated(options.bench, known)
    taken = [each for each in asked if AskedQuestion(each.text).goes_on]
    rows = [(each.turn.text, each.text) for each in taken]
    printed(console, [Grid("Taken for follow-ups", ("before", "question"), rows)])
    return Part(len(asked), {"taken": rows}, {"taken_wrongly": float(len(taken))})


def _answered(outcomes: Mapping[str, Mapping[str, Outcome]]) -> list[str]:
    """The turns that all systems have answered."""
    one, *others = outcomes.values()
    return [key for key in one if all(key in each for each in others)]


def summary(
    known: Sequence[Turn], first: Mapping[str, Mapping[str, bool]], prefix: str
) -> dict[str, float | None]:
    """Shares right in full and in the dialogue, and the second by the first; of all and of follow-ups by form."""
    figures: dict[str, float | None] = {}
    taken = {each.id: AskedQuestion(each.text).goes_on for each in known}
    for name, some in (
        (prefix, dict(first)),
        (f"{prefix}taken_", {k: v for k, v in first.items() if taken[k]}),
    ):
        owners = [each.db for each in known if each.id in some]
        over, under = (
            [some[each.id][how] for each in known if each.id in some] for how in (IN_DIALOGUE, IN_FULL)
        )
        found = ratio(over, under, owners)
        figures |= {
            f"{name}n": float(len(owners)),
            f"{name}{IN_DIALOGUE}": sum(over) / len(owners) if owners else None,
            f"{name}{IN_FULL}": sum(under) / len(owners) if owners else None,
            f"{name}ratio_to_full": None if found is None else found.value,
            f"{name}ratio_low": None if found is None else found.low,
            f"{name}ratio_high": None if found is None else found.high,
        }
    return figures


async def _strong(
    known: Sequence[Turn], of: QuestionSet, place: Site, options: FollowUpOptions, console: Console
) -> Part:
    """A script takes the strong model's part: there are no recorded answers to turns of a dialogue."""
    found = await survivals(place, known, golds(options.bench, DIALOGUES), options.k)
    scorer = Scorer(options.bench, place.dsn, options.work / "scoring")
    first: dict[str, dict[str, bool]] = {each.id: {} for each in known}
    for how, statements in found.items():
        wanted = {key: some[:1] for key, some in statements.items() if some}
        right = await asyncio.to_thread(scorer.judge, of, wanted)
        for key, outcome in first.items():
            outcome[how] = key in right and right[key][0][0]
    lost = [
        (each.id, each.text, str(found[IN_DIALOGUE].get(each.id)))
        for each in known
        if not first[each.id][IN_DIALOGUE]
    ]
    printed(console, [Grid("Not first", ("turn", "text", "shown"), lost)])
    return Part(len(known), {"calls": CALLS, "first": first}, summary(known, first, "strong_"))


if __name__ == "__main__":
    sys.exit(main())
