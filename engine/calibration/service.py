"""The calibration's verbs behind the engine's interface (judge, pairs, status), and its status."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from engine.calibration.base import Base
from engine.calibration.conformal import Calibrated, Threshold, needed
from engine.calibration.labelling import judge
from engine.calibration.splits import HeldOutSet, divide, observe
from engine.calibration.store import CalibrationStore, Source, StoredPoint
from engine.calibration.types import (
    BaseStatus,
    JudgeReply,
    JudgeRequest,
    Line,
    Pairs,
    PairsRequest,
    Status,
    StatusRequest,
)
from engine.core.tools import Tools
from engine.errors import InvalidSettingError, ModelUnavailableError, UnsupportedError
from engine.settings import Limits, SelectionSettings
from schema_catalog.catalog import StoreUnavailableError

_KEPT = 8
"""Statuses cached, by their coverages."""


class Statuses:
    """The status of a store's points, computed anew only where they have changed: metrics ask for it often."""

    def __init__(self, store: CalibrationStore, settings: SelectionSettings, limits: Limits) -> None:
        self._store = store
        self._settings = settings
        self._limits = limits
        self._revision = -1
        self._known: dict[tuple[float, ...], Status] = {}

    async def status(self, coverages: tuple[float, ...] = ()) -> Status:
        """As `status_of`, of the points that count now; raises `StoreUnavailableError`."""
        kept = await self._store.points()
        if self._store.revision != self._revision:
            self._known.clear()
            self._revision = self._store.revision
        revision, asked = self._revision, coverages or (self._settings.coverage,)
        if asked in self._known:
            return self._known[asked]
        stale = await self._store.stale()
        found = await asyncio.to_thread(
            status_of, kept, stale, self._settings, self._limits, asked, base=self._store.base
        )
        # Others may have asked meanwhile, and of other points.
        if self._store.revision == revision:
            while len(self._known) >= _KEPT:
                del self._known[next(iter(self._known))]
            self._known[asked] = found
        return found


def status_of(
    kept: tuple[StoredPoint, ...],
    stale: int,
    settings: SelectionSettings,
    limits: Limits,
    coverages: tuple[float, ...],
    *,
    base: Base,
) -> Status:
    """A line for each number of candidates and coverage."""
    widths = sorted({each.width for each in kept} | {limits.k})
    # Dividing hashes every question: once for each k, not for each line.
    divided = {k: divide(each.point for each in kept if each.width == k) for k in widths}
    lines = [
        line
        for k, (calibration, held_out) in divided.items()
        for coverage in coverages
        for line in _lines(calibration.calibrated(), held_out, coverage, k=k)
    ]
    here = [each.point for each in kept if each.width == limits.k]
    own = divided[limits.k][0].calibrated()
    _, chosen = divide(each.point for each in kept if each.width == limits.k and each.source is Source.CHOICE)
    inside = observe(chosen, own, settings.coverage).kept
    return Status(
        enabled=settings.enabled,
        k=limits.k,
        coverage=settings.coverage,
        sources=tuple(sorted(Counter(each.source.value for each in kept).items())),
        stale=stale,
        chosen=inside.n,
        chosen_inside=inside.hits,
        base=_base(base.beside(own, here, limits.k), settings.coverage),
        lines=tuple(lines),
    )


def _base(beside: Calibrated, coverage: float) -> BaseStatus:
    value, threshold = beside.base_threshold(coverage), beside.at(coverage, "")
    kept = beside.known_kept(-math.inf if value is None else value)
    counts = isinstance(threshold, Threshold) and threshold.base
    return BaseStatus(beside.base_points, kept.n, kept.hits, counts)


def _lines(calibrated: Calibrated, held_out: HeldOutSet, coverage: float, *, k: int) -> Iterable[Line]:
    """A line for all questions and one for each database with enough points for its own threshold."""
    yield _line(held_out, calibrated, coverage, k=k, group=None)
    for group, scores in sorted(calibrated.groups.items()):
        if scores.size >= needed(coverage):
            own = HeldOutSet(tuple(point for point in held_out.points if point.group == group))
            yield _line(own, calibrated, coverage, k=k, group=group)


def _line(
    held_out: HeldOutSet, calibrated: Calibrated, coverage: float, *, k: int, group: str | None
) -> Line:
    found = observe(held_out, calibrated, coverage)
    threshold = calibrated.at(coverage, group or "")
    low, high = found.kept.interval()
    return Line(
        k=k,
        coverage=coverage,
        group=group,
        points=(calibrated.scores if group is None else calibrated.groups[group]).size,
        needed=needed(coverage),
        threshold=threshold.value if isinstance(threshold, Threshold) else None,
        tested=found.right.n,
        possible=found.possible.hits,
        kept=found.kept.hits,
        kept_low=low,
        kept_high=high,
        right=found.right.hits,
        shown=found.shown,
        generated=found.generated,
    )


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
