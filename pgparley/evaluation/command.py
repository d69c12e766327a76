"""`pgparley eval`: asks the running engine questions whose answer is known (a YAML list or JSON lines), and reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import msgspec
from rich.console import Console

from engine.app.client import EngineClient
from engine.values.calibration import KnownQuestion
from engine.values.evaluation import EvaluateReply, EvaluateRequest, KnownRequest, TrialRequest
from engine.values.messages import AnswerRow, Asker, AskReply, AskRequest, RowKind
from pgparley.audit_commands import answer, recorded, shown
from pgparley.config import Config
from pgparley.engine_commands import running_engine
from pgparley.evaluation.calibration import calibration_status, show_calibration
from pgparley.evaluation.formats import show, show_causes, show_changes
from pgparley.evaluation.questions import read_questions
from pgparley.evaluation.report import Judged, Report, ShareFigure, compare, decode, encode, figures
from pgparley.terminal import fail, one_by_one, printable
from proxy.net.audit_log import AuditTrail

LIST_SECONDS = 30.0

TRIAL_SECONDS = 120.0
"""For importing a file on trial and checking what it defines."""

MOST_TRIED = 1_000_000
"""Bytes of a file that is tried: the engine's interface takes no more."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One run. `file`: None for stored questions. `user`: who asks, where nobody did. `fail_under`: in [0, 1].

    `feedback`: what askers corrected or chose, not the verified queries of the catalog. `calibrate`: points are kept.
    `tried`: a file of knowledge, as `pgparley catalog export` writes it, with which the questions are asked; without a
    `baseline` they are asked without it first.
    """

    file: Path | None
    user: str
    database: str | None = None
    k: int | None = None
    named: bool = False
    json: Path | None = None
    baseline: Path | None = None
    fail_under: float | None = None
    tried: Path | None = None
    feedback: bool = False
    calibrate: bool = False


async def evaluate(config: Config, run: Evaluation) -> int:
    """Asks every question, shows and writes the report; returns the exit status, raises `typer.Exit` on an error."""
    before = None if run.baseline is None else _read_baseline(run.baseline)
    console = Console()
    with recorded(config, "pgparley eval") as trails:
        async with running_engine(config.engine.socket) as client:
            asked = await _questions(client, run)
            trial = None if run.tried is None else await _trial(client, run.tried, console)
            ask = _Asking(client, asked, run, config.limits.timeout, console, trails)
            if trial is not None and before is None:
                before = await ask.report("asking as it is")
            report = await ask.report("asking", trial)
            status = await calibration_status(client) if run.calibrate else None
    changes = None if before is None else compare(before, report)
    show(report, console)
    show_causes(report, console)
    if changes is not None:
        show_changes(changes, console)
    if status is not None:
        show_calibration(status, console)
    if run.json is not None:
        _write(run.json, encode(report))
    return _status(report.figures.first, run.fail_under, console)


def _read_tried(file: Path) -> str:
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        fail(f"cannot read {file}: {problem}", "--with takes a file as `pgparley catalog export` writes it.")
    if len(text.encode()) > MOST_TRIED:
        fail(
            f"{file} is too large: {MOST_TRIED // 1_000_000} MB can be tried",
            "Leave out the databases that it is not about: what is said of those stays as it is.",
        )
    return text


async def _trial(client: EngineClient, file: Path, console: Console) -> str:
    """The name of a trial of `file`; shows what it changes."""
    request = TrialRequest(file.name, _read_tried(file))
    reply = await client.begin_trial(request, timeout=TRIAL_SECONDS)
    console.print(f"With {len(reply.changes)} changes, none of which is saved:", highlight=False)
    for line in (*reply.changes, *(f"! {refused}" for refused in reply.refused)):
        console.print(printable(line), highlight=False, markup=False, soft_wrap=True)
    return reply.trial


def _status(first: ShareFigure, fail_under: float | None, console: Console) -> int:
    # Nothing judged is nothing shown to be right.
    if fail_under is None or (first.n and first.share >= fail_under):
        return 0
    console.print(f"First right: {first.share:.3f}, below {fail_under:g}.")
    return 1


async def _questions(client: EngineClient, run: Evaluation) -> tuple[KnownQuestion, ...]:
    if run.file is not None:
        found, where = read_questions(run.file, run.database), str(run.file)
    else:
        asked = KnownRequest(run.database, run.feedback)
        found = (await client.known(asked, timeout=LIST_SECONDS)).questions
        where = "what users corrected or chose" if run.feedback else "the catalog's verified queries"
    if not found:
        fail(f"there is no question to ask in {where}", "Look at --database, or verify a query first.")
    return found


@dataclass(frozen=True, slots=True)
class _Asking:
    client: EngineClient
    asked: tuple[KnownQuestion, ...]
    run: Evaluation
    seconds: float
    console: Console
    trails: Callable[[str], AuditTrail]

    async def report(self, doing: str, trial: str | None = None) -> Report:
        """Asks them all, with the catalog of `trial`."""
        asked = one_by_one(doing, self.asked, self.console, transient=True)
        judged = tuple([await self._judged(each, trial) for each in asked])
        return Report(version("pgparley"), figures(judged), judged)

    async def _judged(self, asked: KnownQuestion, trial: str | None) -> Judged:
        run, source = self.run, asked.source if self.run.calibrate else None
        asker = Asker(asked.user or run.user, "")
        request = EvaluateRequest(
            *(asker, asked.question, asked.database, asked.sql),
            *(run.k, run.named, trial, source),
        )
        # The known statement, the question, and as much again for the statements that are compared.
        asking = self.client.evaluate(request, timeout=3 * self.seconds)
        trail, question = self.trails(asker.user), AskRequest(asker, asked.question, db=asked.database)
        reply = await answer(trail, question, asking, lambda reply: _told(asked, reply))
        shown(trail, reply.shown, reply)
        return Judged(asked, reply)


def _told(asked: KnownQuestion, reply: EvaluateReply) -> AskReply:
    """The statements that ran: the known one, and the first of those that were compared with it."""
    ran = [asked.sql, *filter(None, [reply.sql])]
    rows = (
        AnswerRow(n, RowKind.CANDIDATE, asked.database, None, "", sql, None, "") for n, sql in enumerate(ran)
    )
    return AskReply("", tuple(rows))


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
