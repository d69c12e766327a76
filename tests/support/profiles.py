"""Profiles of model servers, kept in memory."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.values.model_profile import ModelProfile


@dataclass
class KeptProfiles:
    """Implements `engine.values.model_profile.Profiles`. `known`: of any server of which nothing was kept."""

    known: ModelProfile | None = None
    kept: dict[tuple[str, str], ModelProfile] = field(default_factory=dict)

    async def find(self, place: str, model: str) -> ModelProfile | None:
        return self.kept.get((place, model), self.known)

    async def keep(self, place: str, model: str, profile: ModelProfile) -> None:
        self.kept[place, model] = profile
