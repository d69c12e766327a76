"""`pgparley eval`: asks the running engine questions whose answer is known, and reports.

Owns the words of the command, its files and the exit status: 0 done, 1 not done or below `--fail-under`. The engine
asks and judges.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import msgspec
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from engine.client import EngineAddress, EngineClient
from engine.errors import NLError
from engine.evaluation.types import EvaluateRequest, Verdict, VerifiedQuery, VerifiedRequest
from engine.types import Asker
from pgparley.config import Config
from pgparley.evaluation.junit import junit
from pgparley.evaluation.questions import read_questions
from pgparley.evaluation.report import (
    Change,
    Comparison,
    Figures,
    Judged,
    Report,
    ShareFigure,
    compare,
    decode,
    encode,
    figures,
)
from pgparley.terminal import fail, print_table

LIST_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One run. `file`: None for the verified queries of the catalog. `user`: who asks. `fail_under`: in [0, 1]."""

    file: Path | None
    user: str
    database: str | None = None
    k: int | None = None
    named: bool = False
    json: Path | None = None
    junit: Path | None = None
    baseline: Path | None = None
    fail_under: float | None = None


async def evaluate(config: Config, run: Evaluation) -> int:
    """Asks every question, shows and writes the report; returns the exit status, raises `typer.Exit` on an error."""
    before = None if run.baseline is None else _read_baseline(run.baseline)
    console = Console()
    try:
        async with EngineClient(EngineAddress(str(config.engine.socket))) as client:
            asked = await _questions(client, run)
            judged = await _judged(client, asked, run, config.limits.timeout, console)
    except NLError as problem:
        fail(*(text for text in (problem.message, problem.detail, problem.hint) if text))
    report = Report(version("pgparley"), figures(judged), judged)
    _show(report, console)
    if before is not None:
        _show_changes(compare(before, report), console)
    if run.json is not None:
        _write(run.json, encode(report))
    if run.junit is not None:
        _write(run.junit, junit(report))
    return _status(report.figures.first, run.fail_under, console)


def _status(first: ShareFigure, fail_under: float | None, console: Console) -> int:
    # Nothing judged is nothing shown to be right.
    if fail_under is None or (first.n and first.share >= fail_under):
        return 0
    console.print(f"First right: {first.share:.3f}, below {fail_under:g}.")
    return 1


async def _questions(client: EngineClient, run: Evaluation) -> tuple[VerifiedQuery, ...]:
    if run.file is not None:
        found = read_questions(run.file, run.database)
    else:
        found = (await client.verified(VerifiedRequest(run.database), timeout=LIST_SECONDS)).queries
    if not found:
        where = "the catalog's verified queries" if run.file is None else str(run.file)
        fail(f"there is no question to ask in {where}", "Look at --database, or verify a query first.")
    return found


async def _judged(
    client: EngineClient, asked: tuple[VerifiedQuery, ...], run: Evaluation, seconds: float, console: Console
) -> tuple[Judged, ...]:
    """Asks one after the other."""
    judged = []
    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("asking", total=len(asked))
        for each in asked:
            request = EvaluateRequest(
                Asker(run.user, ""), each.question, each.database, each.sql, run.k, run.named
            )
            # The known statement, the question, and as much again for the statements that are compared.
            judged.append(Judged(each, await client.evaluate(request, timeout=3 * seconds)))
            progress.advance(task)
    return tuple(judged)


def _read_baseline(path: Path) -> Report:
    try:
        return decode(path.read_bytes())
    except OSError as problem:
        fail(f"cannot read {path}: {problem.strerror}", "--baseline is what an earlier --json wrote.")
    except msgspec.DecodeError as problem:
        fail(f"{path}: {problem}", "--baseline is what an earlier --json wrote.")


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as problem:
        fail(f"cannot write {path}: {problem.strerror}", "Name a file in a folder that you may write to.")


def _show(report: Report, console: Console) -> None:
    others = [each for each in report.questions if each.reply.verdict is not Verdict.FIRST]
    if others:
        print_table("database", "question", "what happened", "more", rows=map(_cells, others))
    found = report.figures
    print_table("figure", "of", "share", "95 %", rows=_lines(found))
    if found.seconds is not None:
        interval = ""
        if found.seconds.low is not None and found.seconds.high is not None:
            interval = f" [{found.seconds.low:.2f}, {found.seconds.high:.2f}]"
        console.print(f"Median {found.seconds.median:.2f} s{interval}.", highlight=False, markup=False)
    if found.failed or found.unjudged:
        console.print(f"{found.failed} failed, {found.unjudged} could not be judged.", highlight=False)


def _cells(each: Judged) -> tuple[str, ...]:
    reply = each.reply
    place = "" if reply.rank is None else f"number {reply.rank} of {reply.shown}"
    return each.asked.database, each.asked.question, reply.verdict, reply.detail or place or reply.sql or ""


def _lines(found: Figures) -> list[tuple[str, ...]]:
    named = (
        ("first right", found.first),
        ("right in the set", found.in_set),
        ("asked back", found.asked_back),
        ("refused", found.refused),
    )
    return [
        (name, f"{each.hits}/{each.n}", f"{each.share:.3f}", f"[{each.low:.3f}, {each.high:.3f}]")
        for name, each in named
    ]


def _show_changes(found: Comparison, console: Console) -> None:
    console.print(
        f"Of {found.compared} questions judged before, {len(found.better)} are better and {len(found.worse)} worse.",
        highlight=False,
    )
    rows = [*_changes("better", found.better), *_changes("worse", found.worse)]
    if rows:
        print_table("", "database", "question", "before", "now", rows=rows)


def _changes(word: str, changes: tuple[Change, ...]) -> list[tuple[str, ...]]:
    return [(word, each.asked.database, each.asked.question, each.before, each.after) for each in changes]
