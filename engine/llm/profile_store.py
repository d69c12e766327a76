"""The store's table of what model servers can do. Owns its SQL."""

from __future__ import annotations

import contextlib

import asyncpg
import msgspec

from engine.values.model_profile import ModelProfile
from schema_catalog.pg import Pool

_FIND = "SELECT profile::text FROM pgparley.model_profile WHERE (place, model) = ($1, $2)"
_KEEP = """
    INSERT INTO pgparley.model_profile (place, model, profile) VALUES ($1, $2, $3::text::jsonb)
    ON CONFLICT (place, model) DO UPDATE SET profile = excluded.profile, found_at = now()"""

_FAILURES = (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError)


class ProfileStore:
    """Implements `engine.values.model_profile.Profiles`: without the store a server is asked anew.

    Which costs four calls.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def find(self, place: str, model: str) -> ModelProfile | None:
        """See `engine.values.model_profile.Profiles`; None as well of what another version has kept."""
        try:
            kept = await self._pool.fetchval(_FIND, place, model)
            return None if kept is None else ModelProfile.of_json(kept)
        except (*_FAILURES, msgspec.MsgspecError):
            return None

    async def keep(self, place: str, model: str, profile: ModelProfile) -> None:
        """See `engine.values.model_profile.Profiles`."""
        with contextlib.suppress(*_FAILURES):
            await self._pool.execute(_KEEP, place, model, profile.to_json())
