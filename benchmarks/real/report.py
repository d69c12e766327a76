"""What a run says: the table on the terminal, the JSON with both halves, and the page of the open half's failures."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table as Grid

from benchmarks.quality.ablations.results import Outcome
from benchmarks.quality.candidates.figures import Figure
from benchmarks.quality.resampling import Estimate
from benchmarks.real.diagnosis import fault
from benchmarks.real.questions import Half, RealQuestion
from benchmarks.real.scoring import Figures, Outcomes
from benchmarks.real.systems import ALONE, WHOLE
from benchmarks.wire.machine import Machine

ROWS = {
    "acc1": "pgparley, first right",
    "set_acc": "pgparley, in the set",
    "set_size": "pgparley, statements shown",
    "alone_acc1": "the model alone, right",
    "times": "first right, by the model alone's",
}


@dataclass(frozen=True, slots=True)
class Run:
    """How the figures came about. `commits`: of the trees that answered."""

    machine: Machine
    command: str
    k: int
    half: Half
    commits: tuple[str, ...]


def table(found: Figures, half: Half) -> Grid:
    """For the terminal."""
    grid = Grid("", f"{half} half, n = {found.n}")
    for name, words in ROWS.items():
        grid.add_row(words, _ranged(getattr(found, name), 1 if name in {"set_size", "times"} else 100))
    return grid


def write_json(run: Run, found: Figures, file: Path) -> None:
    """Everything but the answers, which stay in the journals; the other half's figures stay as the file has them."""
    known = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    halves = known.get("halves", {}) | {
        run.half: {
            "command": run.command,
            "machine": dataclasses.asdict(run.machine),
            "commits": run.commits,
            "config": {"k": run.k, "database": "given", "values": "all text columns"},
            "n": found.n,
            "figures": {name: dataclasses.asdict(getattr(found, name)) for name in ROWS},
        }
    }
    whole: dict[str, Any] = {
        "benchmark": "real",
        "commit": run.machine.commit,
        "seed": 0,
        "summary": _summary(halves),
        "halves": halves,
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")


def _summary(halves: Mapping[str, Any]) -> dict[str, float | None]:
    """The flat numbers; those of the half set aside begin with `aside_`."""
    return {
        f"{before}{name}": round(halves[half]["figures"][name]["value"], 4) if half in halves else None
        for half, before in ((Half.OPEN, ""), (Half.ASIDE, "aside_"))
        for name in ROWS
    }


def write_page(
    run: Run, found: Figures, questions: Sequence[RealQuestion], outcomes: Outcomes, file: Path
) -> None:
    """Figures by kind and database, and each question whose first statement is wrong. Of the open half alone."""
    if run.half is not Half.OPEN:
        raise ValueError("the half set aside has no page")
    commits = ", ".join(commit[:7] for commit in run.commits)
    lines = ["# Real schemas: the open half", "", f"`{run.command}`, commit {commits}, k = {run.k}.", ""]
    lines += ["| | |", "|---|---|"]
    lines += [
        f"| {words} | {_ranged(getattr(found, name), 1 if name in {'set_size', 'times'} else 100)} |"
        for name, words in ROWS.items()
    ]
    lines += ["", *_shares("kind", questions, outcomes, lambda each: each.kinds)]
    lines += ["", *_shares("database", questions, outcomes, lambda each: (each.database,))]
    wrong = [(each, outcomes[WHOLE][each.id]) for each in questions if _wrong(outcomes[WHOLE].get(each.id))]
    faults = {each.id: fault(each, outcome) for each, outcome in wrong}
    lines += ["", "## What is wrong", "", "| fault of the first statement | questions |", "|---|---|"]
    lines += [f"| {name} | {count} |" for name, count in Counter(faults.values()).most_common()]
    for each, outcome in sorted(wrong, key=lambda pair: str(faults[pair[0].id])):
        lines += ["", *_failure(each, outcome, faults[each.id])]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _wrong(outcome: Outcome | None) -> bool:
    return outcome is not None and not outcome.first


def _failure(question: RealQuestion, outcome: Outcome, why: str) -> Iterator[str]:
    kinds = ", ".join(question.kinds)
    yield f"**{question.id}** ({kinds}): {question.text} *{why}*"
    yield "```sql"
    yield f"-- gold{'' if len(question.gold) == 1 else f', 1 of {len(question.gold)}'}"
    yield question.gold[0]
    for number, sql in enumerate(outcome.statements, 1):
        yield f"-- {number}{', right' if number == outcome.place else ''}"
        yield sql
    if outcome.error is not None:
        yield f"-- {outcome.error}"
    yield "```"


def _shares(
    name: str,
    questions: Sequence[RealQuestion],
    outcomes: Outcomes,
    groups: Callable[[RealQuestion], Sequence[str]],
) -> Iterator[str]:
    """A line for each group of the questions that both systems were asked."""
    yield f"| {name} | n | first right | in the set | the model alone |"
    yield "|---|---|---|---|---|"
    asked = [each for each in questions if each.id in outcomes[WHOLE] and each.id in outcomes[ALONE]]
    for group in sorted({group for each in asked for group in groups(each)}):
        own = [each.id for each in asked if group in groups(each)]
        first = sum(outcomes[WHOLE][key].first for key in own)
        found = sum(outcomes[WHOLE][key].found for key in own)
        alone = sum(outcomes[ALONE][key].first for key in own)
        shares = " | ".join(f"{100 * count / len(own):.0f}" for count in (first, found, alone))
        yield f"| {group} | {len(own)} | {shares} |"


def _ranged(figure: Estimate | Figure, scale: int) -> str:
    digits = 0 if scale != 1 else 2
    value, low, high = (f"{scale * each:.{digits}f}" for each in (figure.value, figure.low, figure.high))
    return f"{value} [{low}, {high}]"
