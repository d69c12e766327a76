"""What a check has found. Owns the type and its words, not the checks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import msgspec


class Outcome(StrEnum):
    """How good it is. A warning leaves everything working; a problem does not."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """`check`: the name of what was looked at. `action`: what to do next; empty where nothing is."""

    check: str
    outcome: Outcome
    found: str
    action: str = ""


def ok(check: str, found: str) -> Finding:
    """It is as it should be."""
    return Finding(check, Outcome.OK, found)


def warning(check: str, found: str, action: str) -> Finding:
    """It works, and something is worth a look."""
    return Finding(check, Outcome.WARNING, found, action)


def problem(check: str, found: str, action: str) -> Finding:
    """It does not work."""
    return Finding(check, Outcome.PROBLEM, found, action)


class Report(msgspec.Struct):
    """The findings as JSON. `working`: whether none of them is a problem."""

    working: bool
    findings: list[Finding]


def said(error: BaseException) -> str:
    """An error in words, also where it has none of its own."""
    return str(error) or type(error).__name__
