"""Collaborators that know nothing, remember nothing or use no trained model."""

from __future__ import annotations

from collections.abc import Sequence

from engine.calibration.conformal import Calibrated
from engine.conditions.types import Condition
from engine.core.candidate import Candidate, likelihoods
from engine.core.elements import ValueLink
from engine.core.ports import Ranking, Upstream
from engine.core.state import Route
from engine.learning.types import Known
from schema_catalog.types import Database, Snapshot


class NoValues:
    """Knows none."""

    async def links(self, question: str, route: Route, upstream: Upstream) -> tuple[ValueLink, ...]:  # noqa: ARG002 - the protocol's
        """None."""
        return ()

    async def prepare(self, databases: Sequence[Database]) -> None:
        """Nothing to load."""


class NoConditions:
    """Says nothing."""

    def predict(self, _question: str, _snapshot: Snapshot) -> tuple[Condition, ...]:
        """None."""
        return ()


class ByLikelihood:
    """How likely the model found the statement, and how well its masked schema still represents the question.

    `sharpness`: how much one nat of mean log-probability weighs against similarity.
    """

    sharpness = 6.0

    def rank(self, _question: str, candidates: Sequence[Candidate]) -> tuple[Ranking, ...]:
        """See `Ranker.rank`."""
        return tuple(
            Ranking(self.sharpness * likelihood + each.schema_score)
            for each, likelihood in zip(candidates, likelihoods(candidates), strict=True)
        )


class NoCalibration:
    """Nothing is known: everything is shown."""

    async def find(self, _function: str, _width: int) -> Calibrated:
        """No scores."""
        return Calibrated()


class NoMemory:
    """Remembers nothing."""

    async def known(self, _user: str, _database: str) -> Known:
        """Nothing."""
        return Known()
