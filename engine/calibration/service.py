"""The calibration's verbs behind the engine's interface and `pgparley calibrate`: judge, pairs, status."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from engine.calibration.labelling import judge
from engine.calibration.status import Statuses
from engine.calibration.store import CalibrationStore, Source
from engine.calibration.types import (
    JudgeReply,
    JudgeRequest,
    Pairs,
    PairsRequest,
    Status,
    StatusRequest,
)
from engine.core.tools import Tools
from engine.errors import InvalidSettingError, ModelUnavailableError, UnsupportedError
from engine.settings import Limits
from schema_catalog.catalog import StoreUnavailableError


@dataclass(frozen=True, slots=True)
class Calibrating:
    """The verbs. Every failure is an `NLError`."""

    tools: Tools
    store: CalibrationStore
    limits: Limits
    statuses: Statuses = field(init=False)

    def __post_init__(self) -> None:
        statuses = Statuses(self.store, self.tools.selection, self.limits)
        object.__setattr__(self, "statuses", statuses)

    async def judge(self, request: JudgeRequest) -> JudgeReply:
        """Labels one question; raises `UnsupportedError` where selection is off, `InvalidSettingError` by `k`."""
        if not self.tools.selection.enabled:
            raise UnsupportedError("selection is turned off", hint="Set [selection] enabled.")
        self.limits.width(request.k)
        with _reported():
            return await judge(request, self.tools, self.store, self.limits)

    async def pairs(self, request: PairsRequest) -> Pairs:
        """The stored questions with a known answer."""
        with _reported():
            if request.source == Source.VERIFIED:
                return Pairs(await self.store.verified())
            return Pairs(await self.store.choices())

    async def status(self, request: StatusRequest) -> Status:
        """Points, thresholds, observed coverage; raises `InvalidSettingError` for a coverage not between 0 and 1."""
        for coverage in request.coverages:
            if not 0.0 < coverage < 1.0:
                raise InvalidSettingError(f"coverage is {coverage}", hint="It is between 0 and 1, e.g. 0.95.")
        with _reported():
            return await self.statuses.status(request.coverages)


@contextmanager
def _reported() -> Iterator[None]:
    try:
        yield
    except StoreUnavailableError as problem:
        raise ModelUnavailableError(
            "the calibration's store does not answer", hint="Check [engine] store."
        ) from problem
