"""How the calibration stands: points, thresholds, observed coverage."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Iterable

from engine.judge.packaged_scores import Base
from engine.judge.point_store import CalibrationStore, StoredPoint
from engine.judge.splits import HeldOutSet, divide, observe
from engine.values.calibration import BaseStatus, Line, Source, Status, StatusRequest
from engine.values.conformal import Calibrated, Threshold, needed, quantile
from engine.values.errors import InvalidSettingError, ModelUnavailableError
from engine.values.recent import Recent
from engine.values.settings import Limits, SelectionSettings
from schema_catalog.catalog import StoreUnavailableError

_KEPT = 8
"""Statuses cached, by their coverages."""


class Calibrating:
    """The status of a store's points, computed anew only where they have changed: metrics ask for it often."""

    def __init__(self, store: CalibrationStore, settings: SelectionSettings, limits: Limits) -> None:
        self._store = store
        self._settings = settings
        self._limits = limits
        self._revision = -1
        self._known = Recent[tuple[float, ...], Status](_KEPT)

    async def status(self, request: StatusRequest) -> Status:
        """Points, thresholds, observed coverage; raises `InvalidSettingError` for a coverage not between 0 and 1."""
        for coverage in request.coverages:
            if not 0.0 < coverage < 1.0:
                raise InvalidSettingError(f"coverage is {coverage}", hint="It is between 0 and 1, e.g. 0.95.")
        try:
            return await self._status(request.coverages or (self._settings.coverage,))
        except StoreUnavailableError as problem:
            raise ModelUnavailableError(
                "the calibration's store does not answer", hint="Check [engine] store."
            ) from problem

    async def _status(self, asked: tuple[float, ...]) -> Status:
        kept = await self._store.points()
        if self._store.revision != self._revision:
            self._known = Recent(_KEPT)
            self._revision = self._store.revision
        revision = self._revision
        if (known := self._known.get(asked)) is not None:
            return known
        stale = await self._store.stale()
        found = await asyncio.to_thread(
            status_of, kept, stale, self._settings, self._limits, asked, base=self._store.base
        )
        # Others may have asked meanwhile, and of other points.
        if self._store.revision == revision:
            self._known.keep(asked, found)
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
    value, threshold = quantile(beside.base, coverage), beside.at(coverage, "")
    kept = beside.known_kept(-math.inf if value is None else value)
    counts = isinstance(threshold, Threshold) and threshold.base
    return BaseStatus(beside.base.size, kept.n, kept.hits, counts)


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
