"""The report as the terminal shows it."""

from __future__ import annotations

from collections import defaultdict
from importlib.util import find_spec

from rich.console import Console

from engine.values.evaluation import Verdict
from pgparley.evaluation.report import Change, Comparison, Figures, Judged, Report
from pgparley.terminal import print_table, printable


def show(report: Report, console: Console) -> None:
    """What is not right first, and the figures."""
    others = [each for each in report.questions if each.reply.verdict is not Verdict.FIRST]
    if others:
        rows = [
            (each.asked.database, each.asked.question, each.reply.verdict, more_of(each)) for each in others
        ]
        print_table("database", "question", "what happened", "more", rows=rows)
    found = report.figures
    print_table("figure", "of", "share", "95 %", rows=share_lines(found))
    if found.seconds is not None:
        interval = ""
        if found.seconds.low is not None and found.seconds.high is not None:
            interval = f" [{found.seconds.low:.2f}, {found.seconds.high:.2f}]"
        console.print(f"Median {found.seconds.median:.2f} s{interval}.", highlight=False, markup=False)
    if found.failed or found.unjudged:
        console.print(f"{found.failed} failed, {found.unjudged} could not be judged.", highlight=False)


def show_causes(report: Report, console: Console) -> None:
    """What is not right, by its likely cause, with what may mend each."""
    # It needs the engine's parser of SQL.
    if find_spec("sqlglot") is None:
        return
    from pgparley.evaluation.causes import Cause, Diagnosis, diagnosis  # noqa: PLC0415

    found: dict[Cause, list[tuple[Judged, Diagnosis]]] = defaultdict(list)
    for each in report.questions:
        if each.reply.verdict is not Verdict.FIRST:
            why = diagnosis(each)
            found[why.cause].append((each, why))
    for cause in Cause:
        if cause in found:
            console.print(f"{cause}: {len(found[cause])}", highlight=False)
        for each, why in found[cause]:
            lines = f"  {each.asked.question}" + (f"\n    {why.proposal}" if why.proposal else "")
            console.print(
                "\n".join(map(printable, lines.splitlines())), markup=False, highlight=False, soft_wrap=True
            )
    if found:
        console.print("Try a proposal before you save it: pgparley eval … --with FILE.", highlight=False)


def more_of(each: Judged) -> str:
    """Why there is no better verdict: the question back, the place of the right statement, or the first shown."""
    reply = each.reply
    place = "" if reply.rank is None else f"number {reply.rank} of {reply.shown}"
    return reply.detail or place or reply.sql or ""


def share_lines(found: Figures) -> list[tuple[str, ...]]:
    """Of each share: its name, its count, the share, its interval."""
    named = (
        ("first right", found.first),
        ("right in the set", found.in_set),
        ("wrong", found.wrong),
        ("asked back", found.asked_back),
        ("refused", found.refused),
    )
    return [
        (name, f"{each.hits}/{each.n}", f"{each.share:.3f}", f"[{each.low:.3f}, {each.high:.3f}]")
        for name, each in named
    ]


def show_changes(found: Comparison, console: Console) -> None:
    """What got better and worse."""
    console.print(
        f"Of {found.compared} questions judged before, {len(found.better)} are better and {len(found.worse)} worse.",
        highlight=False,
    )
    rows = [*_changes("better", found.better), *_changes("worse", found.worse)]
    if rows:
        print_table("", "database", "question", "before", "now", rows=rows)


def _changes(word: str, changes: tuple[Change, ...]) -> list[tuple[str, ...]]:
    return [(word, each.asked.database, each.asked.question, each.before, each.after) for each in changes]
