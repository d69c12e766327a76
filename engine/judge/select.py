"""Selects the candidates that are shown: those that conform, by a calibrated threshold (Odin §6).

Of the questions with a right candidate, at least nl.coverage keep one. No candidate is left out

- without enough calibration points,
- for `NL MORE`, `NL NONE` and `NL ANSWER`: such a question is not exchangeable with those that calibrated,
- by the calibration that comes with the program, where several databases may be meant, or for `NL RUN`,
- for a small share of the questions, drawn by a hash of their text: only choices from whole answers calibrate.

Where no candidate conforms the best ranked one stays, or, for `NL RUN`, all of them: none may run unseen.
"""

from __future__ import annotations

from dataclasses import replace

from engine.judge.splits import id_hash
from engine.values.conformal import Scored, Selection, Threshold, Uncalibrated, conforming, nonconformity
from engine.values.messages import TraceLine
from engine.values.state import State
from engine.values.tools import Tools
from schema_catalog.catalog import StoreUnavailableError

_PARTS = 10_000

_BASE_AUDIT = 0.25
"""The share that is answered whole at least, while there is no calibration of one's own: one has to come about."""


async def select(state: State, tools: Tools) -> State:
    """Sets `selection` and `considered`, and drops the candidates that do not conform.

    Raises `ValueError` for a wrong coverage.
    """
    state = replace(state, considered=state.candidates)
    if not tools.selection.enabled or not state.candidates:
        return state
    threshold, state = await _threshold(state, tools)
    aside = _set_aside(state, threshold, tools.selection.audit) if isinstance(threshold, Threshold) else None
    if aside is not None:
        state = state.noted(TraceLine("select", "everything is shown", aside))
    whole = aside is not None or isinstance(threshold, Uncalibrated)
    values = [nonconformity(candidate) for candidate in state.candidates]
    fits = (True,) * len(values) if whole else conforming(values, threshold)
    selection = Selection(
        group=_group(state),
        width=state.k,
        threshold=threshold,
        whole=whole and not state.ask.exclude and not state.dialogue.turns,
        candidates=tuple(Scored(each.database, nonconformity(each)) for each in state.candidates[: state.k]),
    )
    return _narrowed(replace(state, selection=selection), fits, threshold)


def _group(state: State) -> str:
    """The likeliest database: a group must be known before the answer."""
    return state.routes[0].database.name


async def _threshold(state: State, tools: Tools) -> tuple[Threshold | Uncalibrated, State]:
    coverage = state.ask.coverage or tools.selection.coverage
    try:
        calibrated = await tools.calibration.find(state.k)
    except StoreUnavailableError:
        problem = TraceLine("select", "uncalibrated", "the calibration's store does not answer")
        return Uncalibrated(0, 0, coverage), state.noted(problem)
    threshold = calibrated.at(coverage, _group(state))
    return threshold, state.noted(_threshold_line(threshold, state.k))


def _threshold_line(threshold: Threshold | Uncalibrated, width: int) -> TraceLine:
    at = f"1 - alpha = {threshold.coverage:g}, k = {width}"
    if isinstance(threshold, Uncalibrated):
        detail = (
            f"{threshold.points} of {threshold.needed} points {at}: everything is shown, nothing is promised"
        )
        if threshold.failed is not None:
            detail += (
                f"; what came with the program keeps {threshold.failed.hits} of {threshold.failed.n} here"
            )
        return TraceLine("select", "uncalibrated", detail)
    if threshold.base:
        detail = (
            f"{threshold.points} points of other databases {at}: how it is here pgparley calibration says"
        )
        return TraceLine("select", "calibrated elsewhere", detail, threshold.value)
    whose = "all databases" if threshold.group is None else f"database {threshold.group}"
    detail = f"{threshold.points} points of {whose} {at}: a right statement that was found is shown as often"
    return TraceLine("select", "calibrated", detail, threshold.value)


def _set_aside(state: State, threshold: Threshold, audit: float) -> str | None:
    """Why the threshold is not used; None where it is."""
    if state.ask.exclude:
        return "it was asked for again, and of that nothing is promised"
    if state.dialogue.turns:
        return "an answer narrows what was selected before it: what it agrees with stays"
    if threshold.base and (state.ask.run or len(state.routes) > 1):
        return "what came with the program decides neither between databases nor what runs"
    audit = max(audit, _BASE_AUDIT) if threshold.base else audit
    part = int(id_hash(state.question.text.strip().casefold())[:8], 16) % _PARTS
    if not state.ask.run and part < audit * _PARTS:
        return "a share of the questions is answered whole, so that choices show what the threshold would do"
    return None


def _narrowed(state: State, fits: tuple[bool, ...], threshold: Threshold | Uncalibrated) -> State:
    if all(fits) or not isinstance(threshold, Threshold) or state.selection is None:
        return state
    kept = [each for each, fit in zip(state.candidates, fits, strict=True) if fit]
    lines = [
        TraceLine(
            "select",
            f"left out by selection: its score is above {threshold.value:.4f}",
            each.sql,
            round(nonconformity(each), 4),
        )
        for each, fit in zip(state.candidates, fits, strict=True)
        if not fit
    ]
    if not kept and state.ask.run:
        line = TraceLine("select", "nothing conforms", "everything is shown: none may run unseen")
        return state.noted(line)
    if not kept:
        kept = [state.candidates[0]]
        lines[0] = TraceLine("select", "nothing conforms; the best ranked stays", kept[0].sql, lines[0].score)
    return replace(state, candidates=tuple(kept)).noted(*lines)
