"""What a run says: tables on the terminal, its parts of the results file, the page, the plot, and a line a dialogue."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from rich.table import Table as Grid

from benchmarks.quality.ablations.drawing import DEV
from benchmarks.quality.candidates.figures import Figure
from benchmarks.quality.dialogue.evaluation import ANSWERABLE, Results
from benchmarks.quality.dialogue.figures import ANSWERS, Abstention, SystemFigures
from benchmarks.quality.dialogue.systems import AMBIQT, DIALOGUE, MOST_ANSWERS, UNANSWERABLE
from benchmarks.quality.dialogue_results import Part, write_parts
from benchmarks.wire.machine import Machine

COMPARED_AT = 2
"""Answers after which the gain is compared with simple feedback's in the summary."""

ACCURACY = ("system", "n", *(f"right after {n}" for n in ANSWERS), "in the set", "reachable", "at once")
OF_REACHABLE = ("system", "n", *(f"of reachable, after {n}" for n in ANSWERS))
EFFORT = (
    "system",
    "asked back",
    "needlessly",
    "interactions",
    "gain an interaction",
    f"gain ÷ feedback's after {COMPARED_AT}",
    "rows read",
    "seconds a turn",
    "the model's",
    "calls a turn",
)
FIRST_REPLIES = ("set", "n", "statements, no question", "a question back", "neither")


@dataclass(frozen=True, slots=True)
class Run:
    """How the figures came about. `command`: what repeats them."""

    machine: Machine
    command: str
    seed: int
    k: int


def summary(results: Results) -> dict[str, float | None]:
    """The flat numbers; None where something was not measured. `efficiency`: shares, not points, an interaction."""
    ambiqt, spider = results.find(AMBIQT, DIALOGUE.name), results.find(DEV.name, DIALOGUE.name)
    replies = {each.set_name: each for each in results.abstention}
    unanswerable, answerable = replies.get(UNANSWERABLE.name), replies.get(ANSWERABLE)
    flat: dict[str, Figure | None] = {}
    if ambiqt is not None:
        flat |= {f"ambiqt_acc_after_{n}": ambiqt.after[n] for n in ANSWERS}
        flat |= {f"ambiqt_of_reachable_after_{n}": ambiqt.of_reachable[n] for n in ANSWERS}
        flat |= {"ambiqt_reachable": ambiqt.reachable, "ambiqt_reachable_at_once": ambiqt.reachable_at_once}
        flat |= {"feedback_gain_ratio": ambiqt.gain_ratio[COMPARED_AT], "efficiency": ambiqt.efficiency}
    if spider is not None:
        flat |= {"spider_needless": spider.needless}
        flat |= {f"spider_acc_after_{n}": spider.after[n] for n in ANSWERS}
    if unanswerable is not None:
        flat["idk_wrongly_sure"] = unanswerable.sure
    if answerable is not None:
        flat["answerable_refused"] = answerable.refused
    return {name: None if each is None else round(each.value, 4) for name, each in flat.items()}


def write_json(run: Run, results: Results, file: Path) -> None:
    """Replaces the parts of the results file that were measured."""
    origin: dict[str, Any] = {
        "command": run.command,
        "machine": dataclasses.asdict(run.machine),
        "commit": run.machine.commit,
        "seed": run.seed,
        "config": {"k": run.k, "database": "given", "answers": MOST_ANSWERS},
    }
    parts: dict[Part, dict[str, Any]] = {}
    if results.figures:
        tables = {name: [dataclasses.asdict(each) for each in some] for name, some in results.figures.items()}
        n = {f"{name}/{each.system}": each.n for name, some in results.figures.items() for each in some}
        parts[Part.DIALOGUE] = {**origin, "n": n, "tables": tables}
    if results.abstention:
        parts[Part.ABSTENTION] = {**origin, "tables": [dataclasses.asdict(e) for e in results.abstention]}
    write_parts(file, parts, summary(results))


def write_page(run: Run, results: Results, file: Path) -> None:
    """The generated report."""
    commits = {
        each.conversation.commit[:7]
        for systems in results.dialogues.values()
        for some in systems.values()
        for each in some
    }
    lines = [
        "# Dialogue",
        "",
        f"`{run.command}`, commit {', '.join(sorted(commits))}, seed {run.seed}, k = {run.k}.",
    ]
    for name, some in results.figures.items():
        lines += ["", f"## {name}"]
        for columns, cells in _TABLES:
            lines += ["", *_grid(columns, [cells(each) for each in some])]
    if results.abstention:
        lines += ["", "## First replies", "", *_grid(FIRST_REPLIES, [_reply(e) for e in results.abstention])]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def tables(results: Results) -> Iterator[Grid]:
    """For the terminal."""
    for name, some in results.figures.items():
        for columns, cells in _TABLES:
            grid = Grid(*columns, title=name)
            for each in some:
                grid.add_row(*cells(each))
            yield grid
    replies = Grid(*FIRST_REPLIES, title="first replies")
    for found in results.abstention:
        replies.add_row(*_reply(found))
    yield replies


def _grid(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (columns, ("---",) * len(columns), *rows)]


def _accuracy(each: SystemFigures) -> tuple[str, ...]:
    failed = f" ({each.failed} failed)" if each.failed else ""
    shares = (*each.after, each.set_acc, each.reachable, each.reachable_at_once)
    return (each.system, f"{each.n}{failed}", *(_ranged(figure, 100, 0) for figure in shares))


def _of_reachable(each: SystemFigures) -> tuple[str, ...]:
    return (each.system, str(each.n), *(_ranged(figure, 100, 0) for figure in each.of_reachable))


def _effort(each: SystemFigures) -> tuple[str, ...]:
    return (
        each.system,
        _ranged(each.asked, 100, 0),
        _ranged(each.needless, 100, 0),
        _ranged(each.interactions, 1, 2),
        _ranged(each.efficiency, 100, 1),
        _ranged(each.gain_ratio[COMPARED_AT], 1, 1),
        f"{each.rows:.1f}",
        f"{each.seconds:.1f}",
        f"{each.model_seconds:.1f}",
        f"{each.calls:.1f}",
    )


_TABLES = ((ACCURACY, _accuracy), (OF_REACHABLE, _of_reachable), (EFFORT, _effort))
"""Columns, and a system's cells of them."""


def _reply(each: Abstention) -> tuple[str, ...]:
    shares = (_ranged(figure, 100, 0) for figure in (each.sure, each.asked, each.refused))
    return (each.set_name, f"{each.n} ({each.failed} failed)" if each.failed else str(each.n), *shares)


def _ranged(figure: Figure | None, scale: int, digits: int) -> str:
    if figure is None:
        return ""
    value, low, high = (f"{scale * each:.{digits}f}" for each in (figure.value, figure.low, figure.high))
    return f"{value} [{low}, {high}]"


def write_outcomes(results: Results, file: Path) -> None:
    """A line of JSON for each set, system and question: the dialogue, and by turn whether its first is right."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as opened:
        for name, systems in results.dialogues.items():
            if name != AMBIQT:
                opened.writelines(
                    msgspec.json.encode(each) + b"\n" for some in systems.values() for each in some
                )


def plot(results: Results, file: Path) -> None:
    """Accuracy against answers, a line a system: AmbiQT together beside Spider."""
    import matplotlib as mpl  # noqa: PLC0415 - only where a plot is wanted

    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415

    names = [name for name in (AMBIQT, DEV.name) if name in results.figures]
    figure, panels = plt.subplots(
        1, max(1, len(names)), figsize=(11, 4.5), layout="constrained", squeeze=False
    )
    for axes, name in zip(panels[0], names, strict=False):
        for each in results.figures[name]:
            values = [after.value for after in each.after]
            errors = [
                [max(0.0, after.value - after.low) for after in each.after],
                [max(0.0, after.high - after.value) for after in each.after],
            ]
            axes.errorbar(list(ANSWERS), values, yerr=errors, label=each.system, capsize=2, linewidth=1)
        axes.set_title(name)
        axes.set_xlabel("answers or rejections at most")
        axes.set_xticks(list(ANSWERS))
        axes.set_ylim(0, 1)
    panels[0][0].set_ylabel("first statement right")
    panels[0][0].legend(fontsize="small")
    figure.savefig(file, dpi=130)
    plt.close(figure)
