"""`pgparley calibrate`: questions whose answer is known, judged by the running engine; and the calibration's state."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from engine.calibration.types import (
    BaseStatus,
    JudgeRequest,
    KnownPair,
    Line,
    Outcome,
    PairsRequest,
    Status,
    StatusRequest,
)
from engine.client import EngineClient
from engine.types import Asker
from pgparley.config import Config
from pgparley.engine_commands import running_engine
from pgparley.questions import read_questions
from pgparley.terminal import one_by_one, print_json, print_table

SHOWN_COVERAGES = (0.8, 0.9, 0.95, 0.99)
STATUS_SECONDS = 30.0

_STORED = {"verified": "verified", "choices": "choice"}
"""What `--from` takes beside a file → the engine's name for it."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """One run. `origin`: a file, `verified` or `choices`. `user`: who asks, where a pair does not say."""

    origin: str
    user: str
    k: int | None
    again: bool
    named: bool


async def calibrate(config: Config, run: Calibration) -> int:
    """Judges every pair, then shows points and observed coverage; returns 0, raises `typer.Exit` on an error."""
    console = Console()
    async with running_engine(config.engine.socket) as client:
        requests = await _requests(client, run)
        if not requests:
            console.print(f"There is nothing to judge in {run.origin}.")
            return 0
        outcomes = await _judged(client, requests, config.limits.timeout, console)
        console.print(", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items())))
        show(await client.calibration(StatusRequest(SHOWN_COVERAGES), timeout=STATUS_SECONDS), console)
    return 0


async def status(config: Config, *, as_json: bool) -> int:
    """Shows points, thresholds and observed coverage; returns 0, raises `typer.Exit` on an error."""
    async with running_engine(config.engine.socket) as client:
        found = await client.calibration(StatusRequest(SHOWN_COVERAGES), timeout=STATUS_SECONDS)
    if as_json:
        print_json(found, indent=True)
    else:
        show(found, Console())
    return 0


async def _requests(client: EngineClient, run: Calibration) -> list[JudgeRequest]:
    if run.origin in _STORED:
        source = _STORED[run.origin]
        pairs = (await client.pairs(PairsRequest(source), timeout=STATUS_SECONDS)).pairs
        return [_request(pair, source, run) for pair in pairs]
    return [
        _request(
            KnownPair(str(each.id or each.question), each.question, each.database, each.sql, run.user),
            "file",
            run,
        )
        for each in read_questions(Path(run.origin))
    ]


def _request(pair: KnownPair, source: str, run: Calibration) -> JudgeRequest:
    return JudgeRequest(
        asker=Asker(pair.user, ""),
        identity=pair.identity,
        question=pair.question,
        database=pair.database,
        sql=pair.sql,
        source=source,
        k=run.k,
        again=run.again,
        named=run.named,
    )


async def _judged(
    client: EngineClient, requests: list[JudgeRequest], seconds: float, console: Console
) -> Counter[str]:
    """Asks one after the other; a question that cannot be judged is reported and skipped."""
    outcomes: Counter[str] = Counter()
    for request in one_by_one("judging", requests, console):
        # The question, and as much again for the statements whose results are compared.
        reply = await client.judge(request, timeout=2 * seconds)
        outcomes[reply.outcome.value] += 1
        if reply.outcome is Outcome.SKIPPED:
            identity = request.identity.replace("\n", ": ")
            console.print(f"{identity}: {reply.detail}", markup=False, highlight=False)
    return outcomes


def show(found: Status, console: Console) -> None:
    """Prints how the calibration stands."""
    sources = ", ".join(f"{count} from {source}" for source, count in found.sources) or "none"
    console.print(f"Judged questions: {sources}; {found.stale} more count no longer.")
    console.print(
        f"Candidates are {'' if found.enabled else 'not '}selected; by default k = {found.k},"
        f" coverage {found.coverage:g}."
    )
    if words := _base_words(found.base):
        console.print(words)
    if found.chosen:
        console.print(
            f"Of {found.chosen} choices from whole answers {found.chosen_inside} are inside the promised set."
        )
    print_table(
        *("k", "database", "promised", "points", "threshold", "kept", "shows one", "set"),
        rows=map(_cells, found.lines),
        caption="kept: of the tested questions with a right statement. shows one: of all tested.",
    )


def _base_words(base: BaseStatus) -> str:
    if not base.points:
        return ""
    here = f"of {base.known} right statements known here it keeps {base.kept}"
    if base.counts:
        return f"Until there is enough, a calibration by {base.points} questions on other databases counts; {here}."
    return f"The calibration by {base.points} questions on other databases does not count; {here}."


def _cells(line: Line) -> tuple[str, ...]:
    kept = f"{line.kept}/{line.possible}"
    if line.possible:
        kept += f" = {line.kept / line.possible:.3f} [{line.kept_low:.3f}, {line.kept_high:.3f}]"
    return (
        str(line.k),
        line.group or "all",
        f"{line.coverage:g}",
        f"{line.points} of {line.needed}",
        "none" if line.threshold is None else f"{line.threshold:.4f}",
        kept,
        f"{line.right}/{line.tested}",
        f"{line.shown / line.tested:.2f} of {line.generated / line.tested:.2f}" if line.tested else "",
    )
