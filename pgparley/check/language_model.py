"""Check of the language model's services: what each can do, found out anew or as it is kept in the store."""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

import asyncpg

from pgparley.check.finding import Finding, ok, problem
from pgparley.config import Config
from schema_catalog.pg import store_pool

if TYPE_CHECKING:
    from engine.values.model_profile import Profiles
    from engine.values.model_settings import ModelSettings

_STORE_SECONDS = 5.0
_ANSWER_SECONDS = 60.0


async def check_services(config: Config, *, anew: bool) -> AsyncIterator[Finding]:
    """What each service of `[model]` can do. `anew`: by calls, whose findings are kept; else as it is kept."""
    if find_spec("openai") is None:
        if anew:
            yield problem("model", "openai is not installed", "Run: pip install 'pgparley[engine]'")
        return
    settings = config.model_with_keys()
    async with _profiles(config) as kept:
        for service in settings.services:
            async for finding in _found_out(service, kept) if anew else _kept(service, kept):
                yield finding


@asynccontextmanager
async def _profiles(config: Config) -> AsyncIterator[Profiles]:
    """The store's; without a store those of nobody."""
    # They load the engine's libraries, which most checks do without.
    from engine.llm.profile_store import ProfileStore  # noqa: PLC0415
    from engine.values.model_profile import NoProfiles  # noqa: PLC0415

    async with contextlib.AsyncExitStack() as stack:
        try:
            pool = await store_pool(config.engine.store, 1, timeout=_STORE_SECONDS)
        except (OSError, TimeoutError, ValueError, asyncpg.PostgresError, asyncpg.InterfaceError):
            yield NoProfiles()
            return
        stack.push_async_callback(pool.close)
        yield ProfileStore(pool)


async def _kept(service: ModelSettings, kept: Profiles) -> AsyncIterator[Finding]:
    found = await kept.find(service.place, service.called)
    if found is not None:
        yield ok(f"model {service.called}", found.summary())


async def _found_out(service: ModelSettings, kept: Profiles) -> AsyncIterator[Finding]:
    """One line a finding."""
    from engine.llm.client import ChatModel  # noqa: PLC0415
    from engine.values.deadline import Deadline  # noqa: PLC0415
    from engine.values.errors import NLError  # noqa: PLC0415
    from engine.values.ports import Prompt  # noqa: PLC0415

    model, name = ChatModel(service, service.base_url or "", profiles=kept), f"model {service.called}"
    deadline = Deadline(time.monotonic() + _ANSWER_SECONDS)
    try:
        profile = await model.find_out(deadline, anew=True)
        await model.read(Prompt("Say yes.", "Say yes."), deadline=deadline)
    except NLError as error:
        yield problem(name, f"{error.message}: {error.detail or ''}", error.hint or "")
    else:
        for finding in profile.findings():
            yield ok(name, finding)
    finally:
        await model.aclose()
