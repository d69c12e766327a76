"""The calibration for the DBA's page, asked of the running engine."""

from __future__ import annotations

from engine.calibration.types import Line, Status, StatusRequest
from engine.client import EngineAddress, EngineClient
from engine.errors import NLError
from page.coverage import Coverage, CoverageLine, UnavailableError
from pgparley.config import Config

COVERAGES = (0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
"""The promises that are compared with what was observed."""

_SECONDS = 15.0


class EngineCoverage:
    """A `page.coverage.CoverageSource`."""

    def __init__(self, config: Config) -> None:
        self._config = config

    async def coverage(self) -> Coverage:
        """The calibration now; raises `UnavailableError` where the engine does not answer."""
        try:
            async with EngineClient(EngineAddress(str(self._config.engine.socket))) as client:
                status = await client.calibration(StatusRequest(COVERAGES), timeout=_SECONDS)
        except NLError as problem:
            raise UnavailableError(f"{problem.message}: the calibration is known once it runs.") from problem
        return Coverage(status.coverage, status.stale, tuple(_line(line, status) for line in status.lines))


def _line(line: Line, status: Status) -> CoverageLine:
    used = status.enabled and line.k == status.k
    return CoverageLine(
        *("confidence", line.k, line.group, line.coverage, line.points, line.needed),
        *(line.kept, line.possible, line.kept_low, line.kept_high, used),
    )
