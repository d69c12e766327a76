"""What the DBA's page asks of the running engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from engine.app.client import EngineAddress, EngineClient
from engine.values.calibration import Line, Status, StatusRequest
from engine.values.errors import NLError
from page.coverage import Coverage, CoverageLine, Model, UnavailableError
from pgparley.check.answers import explains
from pgparley.config import Config

COVERAGES = (0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
"""The promises that are compared with what was observed."""

_SECONDS = 15.0


class PageEngine:
    """A `page.coverage.RunningEngine`."""

    def __init__(self, config: Config) -> None:
        self._config = config

    def explains(self, description: str) -> bool:
        """See `RunningEngine`."""
        return explains(description)

    async def coverage(self) -> Coverage:
        """See `RunningEngine`."""
        async with self._client() as client:
            status = await client.calibration(StatusRequest(COVERAGES), timeout=_SECONDS)
        return Coverage(status.coverage, status.stale, tuple(_line(line, status) for line in status.lines))

    async def models(self) -> tuple[Model, ...]:
        """See `RunningEngine`."""
        async with self._client() as client:
            found = await client.view("nl_models", timeout=_SECONDS)
        return tuple(Model(*("" if cell is None else str(cell) for cell in row)) for row in found.rows)

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[EngineClient]:
        try:
            async with EngineClient(EngineAddress(str(self._config.engine.socket))) as client:
                yield client
        except NLError as problem:
            raise UnavailableError(f"{problem.message}: this is known once it runs.") from problem


def _line(line: Line, status: Status) -> CoverageLine:
    used = status.enabled and line.k == status.k
    return CoverageLine(
        *(line.k, line.group, line.coverage, line.points, line.needed),
        *(line.kept, line.possible, line.kept_low, line.kept_high, used),
    )
