"""The stages' collaborators and settings."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.core.defaults import (
    AsRanked,
    ByLikelihood,
    NoCalibration,
    NoConditions,
    NoLinker,
    NoMemory,
    NoValues,
)
from engine.core.ports import (
    Calibration,
    Catalog,
    Certainty,
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
from engine.routing.second_look import Weights
from engine.settings import DialogueSettings, GenerationSettings, LearningSettings, Limits, SelectionSettings


@dataclass(frozen=True, slots=True)
class Tools:
    """The stages' collaborators and settings."""

    catalog: Catalog
    upstream: Upstream
    encoder: Encoder
    model: LanguageModel
    router: Router
    calibration: Calibration = field(default_factory=NoCalibration)
    selection: SelectionSettings = field(default_factory=SelectionSettings)
    values: Values = field(default_factory=NoValues)
    memory: Memory = field(default_factory=NoMemory)
    learning: LearningSettings = field(default_factory=LearningSettings)
    limits: Limits = field(default_factory=Limits)
    conditions: Conditions = field(default_factory=NoConditions)
    generation: GenerationSettings = field(default_factory=GenerationSettings)
    ranker: Ranker = field(default_factory=ByLikelihood)
    linker: SchemaLinker = field(default_factory=NoLinker)
    second_look: Weights = field(default_factory=Weights)
    certainty: Certainty = field(default_factory=AsRanked)
    dialogue: DialogueSettings = field(default_factory=DialogueSettings)
