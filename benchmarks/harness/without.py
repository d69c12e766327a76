"""Collaborators of the stages that have nothing: what is measured without a part."""

from __future__ import annotations

from collections.abc import Sequence

from engine.values.elements import ColumnContent, ColumnFacts, NearValues, ValueLink, ValueList
from engine.values.learned import AskerFeedback
from engine.values.ports import Encoder, Upstream
from engine.values.state import Route
from schema_catalog.types import ColumnKey, Database


class NoValues:
    """`engine.values.ports.Values` without values."""

    async def links(self, question: str, route: Route, upstream: Upstream) -> tuple[ValueLink, ...]:  # noqa: ARG002 - the protocol's
        """None."""
        return ()

    async def lists(self, _route: Route, _upstream: Upstream) -> tuple[ValueList, ...]:
        """None."""
        return ()

    async def contents(self, _route: Route, _upstream: Upstream) -> tuple[ColumnContent, ...]:
        """None."""
        return ()

    async def told(self, _route: Route, _upstream: Upstream) -> tuple[ColumnFacts, ...]:
        """None."""
        return ()

    async def near(
        self, texts: Sequence[tuple[ColumnKey, str]], _route: Route, _upstream: Upstream, _encoder: Encoder
    ) -> tuple[NearValues, ...]:
        """None."""
        return tuple(NearValues() for _ in texts)

    async def holding(self, _question: str, _databases: Sequence[str]) -> tuple[str, ...]:
        """None."""
        return ()

    async def prepare(self, databases: Sequence[Database]) -> None:
        """Nothing to load."""


class NoMemory:
    """`engine.values.ports.Memory` without feedback."""

    async def known(self, _user: str, _database: str) -> AskerFeedback:
        """Nothing."""
        return AskerFeedback()
