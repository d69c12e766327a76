"""The stages' collaborators and settings, and null objects for those that are off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from engine.question.question import Question
from engine.values.candidate import Candidate
from engine.values.conditions import Condition
from engine.values.conformal import Calibrated
from engine.values.dialogue import Chances, Parting
from engine.values.elements import SchemaLinks
from engine.values.model_settings import Effort
from engine.values.ports import (
    Calibration,
    Catalog,
    Conditions,
    Encoder,
    LanguageModel,
    Memory,
    Ranker,
    Router,
    SchemaLinker,
    Upstream,
    Values,
)
from engine.values.settings import (
    DialogueSettings,
    GenerationSettings,
    LearningSettings,
    Limits,
    SelectionSettings,
    Strategy,
)
from engine.values.state import State
from schema_catalog.types import Snapshot


class Judgement(Protocol):
    """How probable it is that each candidate is right (`engine.judge.model`)."""

    def confidences(self, state: State, each: Sequence[Mapping[str, float]]) -> list[float]:
        """Of `state.candidates` with these features: probabilities, at most 1 together."""

    def turns(self, state: State, chances: Chances, parting: Parting) -> float:
        """The probability that the first is wrong and the answer to a question back leads to a right one."""


@dataclass(frozen=True, slots=True)
class RouteWeights:
    """Of the second look (`engine.route.second_look`): of the logarithm of the router's probability, and by name."""

    router: float = 1.0
    others: Mapping[str, float] = field(default_factory=dict)


class NoConditions:
    """`engine.values.ports.Conditions` without conditions."""

    def predict(self, _question: Question, _snapshot: Snapshot) -> tuple[Condition, ...]:
        """None."""
        return ()


class NoRanker:
    """`engine.values.ports.Ranker` without a model."""

    def rank(self, _question: Question, candidates: Sequence[Candidate]) -> Sequence[float]:
        """Nothing."""
        return [0.0] * len(candidates)


class NoLinker:
    """`engine.values.ports.SchemaLinker` without a model."""

    def link(self, _question: Question, _snapshot: Snapshot) -> SchemaLinks | None:
        """None."""
        return None


class NoCalibration:
    """`engine.values.ports.Calibration` without points."""

    async def find(self, _width: int) -> Calibrated:
        """No scores."""
        return Calibrated()


@dataclass(frozen=True, slots=True)
class Tools:
    """The stages' collaborators and settings."""

    catalog: Catalog
    upstream: Upstream
    encoder: Encoder
    model: LanguageModel
    router: Router
    values: Values
    memory: Memory
    judgement: Judgement
    calibration: Calibration = field(default_factory=NoCalibration)
    selection: SelectionSettings = field(default_factory=SelectionSettings)
    learning: LearningSettings = field(default_factory=LearningSettings)
    limits: Limits = field(default_factory=Limits)
    conditions: Conditions = field(default_factory=NoConditions)
    generation: GenerationSettings = field(default_factory=GenerationSettings)
    ranker: Ranker = field(default_factory=NoRanker)
    linker: SchemaLinker = field(default_factory=NoLinker)
    second_look: RouteWeights = field(default_factory=RouteWeights)
    dialogue: DialogueSettings = field(default_factory=DialogueSettings)
    effort: Effort = Effort.NORMAL

    @property
    def strategy(self) -> Strategy:
        """How statements are written now: what is set, and where that is AUTO by what is known of the model."""
        if self.generation.strategy is not Strategy.AUTO:
            return self.generation.strategy
        return Strategy.SEARCH if self.model.profile.goes_on else Strategy.READINGS
