"""What the engine does about its calibration: judge a question, list what users have shown, say how things stand.

Behind the engine's interface and `pgparley calibrate`. Keeps nothing itself but the status as it was computed last.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from engine.calibration.labelling import judge
from engine.calibration.status import Statuses
from engine.calibration.store import CalibrationStore, Source
from engine.calibration.types import (
    JudgeReply,
    JudgeRequest,
    KnownPair,
    Pairs,
    PairsRequest,
    Status,
    StatusRequest,
)
from engine.core.tools import Tools
from engine.errors import InvalidSettingError, ModelUnavailableError, UnsupportedError
from engine.settings import Limits, ScoreFunction
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
        """Asks and judges one question, and keeps the outcome as a point."""
        if self.tools.selection.score is ScoreFunction.NONE:
            raise UnsupportedError(
                "selection is turned off", hint='Set [selection] score, e.g. to "encoder".'
            )
        self.limits.width(request.k)
        try:
            return await judge(request, self.tools, self.store, self.limits)
        except StoreUnavailableError as problem:
            raise _unavailable() from problem

    async def pairs(self, request: PairsRequest) -> Pairs:
        """Questions of which users have shown what answers them."""
        try:
            verified = request.source == Source.VERIFIED
            found = await (self.store.verified() if verified else self.store.choices())
        except StoreUnavailableError as problem:
            raise _unavailable() from problem
        return Pairs(tuple(KnownPair(**asdict(pair)) for pair in found))

    async def status(self, request: StatusRequest) -> Status:
        """Points, thresholds, observed coverage."""
        for coverage in request.coverages:
            if not 0.0 < coverage < 1.0:
                raise InvalidSettingError(f"coverage is {coverage}", hint="It is between 0 and 1, e.g. 0.95.")
        try:
            return await self.statuses.status(request.coverages)
        except StoreUnavailableError as problem:
            raise _unavailable() from problem


def _unavailable() -> ModelUnavailableError:
    return ModelUnavailableError("the calibration's store does not answer", hint="Check [engine] store.")
