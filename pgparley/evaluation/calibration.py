"""`pgparley calibration`, and the end of `pgparley eval --calibrate`: how the calibration stands."""

from __future__ import annotations

from rich.console import Console

from engine.app.client import EngineClient
from engine.values.calibration import BaseStatus, Line, Status, StatusRequest
from pgparley.config import Config
from pgparley.engine_commands import running_engine
from pgparley.terminal import print_json, print_table

COVERAGES = (0.8, 0.9, 0.95, 0.99)
SECONDS = 30.0


async def calibration(config: Config, *, as_json: bool) -> None:
    """Shows points, thresholds and observed coverage; raises `typer.Exit` on an error."""
    async with running_engine(config.engine.socket) as client:
        found = await calibration_status(client)
    if as_json:
        print_json(found, indent=True)
    else:
        show_calibration(found, Console())


async def calibration_status(client: EngineClient) -> Status:
    """For the promises that are shown."""
    return await client.calibration(StatusRequest(COVERAGES), timeout=SECONDS)


def show_calibration(found: Status, console: Console) -> None:
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
