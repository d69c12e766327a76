"""The language model for the length of one command.

Owns where a command finds it: the configured server, else an embedded one of its own, which ends with the command.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import ModelUnavailableError
from pgparley.config import PREFIX, Config
from pgparley.processes import PartKind
from pgparley.serve import parts

if TYPE_CHECKING:
    import aiohttp

    from engine.llm.client import ChatModel

_READY_SECONDS = 120.0
_POLL_SECONDS = 0.2


@asynccontextmanager
async def command_model(config: Config, file: Path | None) -> AsyncIterator[ChatModel]:
    """A model that answers, until the end of the block; raises `ModelUnavailableError` where none can be started.

    `file`: the configuration's, for the process of an embedded model.
    """
    from engine.llm.client import ChatModel  # noqa: PLC0415  brings the openai client

    if config.model.base_url is not None:
        model = ChatModel(config.model, config.model.base_url)
        try:
            yield model
        finally:
            await model.aclose()
        return
    part = next(each for each in parts(config) if each.kind is PartKind.MODEL)
    environment = {**os.environ, **part.environment}
    if file is not None:
        environment[f"{PREFIX}CONFIG"] = str(file)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "pgparley.processes",
        "model",
        env=environment,
        stdout=asyncio.subprocess.DEVNULL,
    )
    url = f"http://{config.embedded_model.host}:{part.environment[f'{PREFIX}EMBEDDED_MODEL_PORT']}"
    try:
        await _ready(process, url)
        model = ChatModel(config.model, f"{url}/v1")
        try:
            yield model
        finally:
            await model.aclose()
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _ready(process: asyncio.subprocess.Process, url: str) -> None:
    import aiohttp  # noqa: PLC0415  as above

    try:
        async with asyncio.timeout(_READY_SECONDS), aiohttp.ClientSession() as session:
            while not await _healthy(session, url):
                if process.returncode is not None:
                    raise ModelUnavailableError(
                        "the embedded model did not start", hint="Get it with: pgparley fetch-model"
                    )
                await asyncio.sleep(_POLL_SECONDS)
    except TimeoutError:
        raise ModelUnavailableError(
            "the embedded model is not ready", hint="Its log says why: run pgparley serve."
        ) from None


async def _healthy(session: aiohttp.ClientSession, url: str) -> bool:
    import aiohttp  # noqa: PLC0415  as above

    try:
        async with session.get(f"{url}/health") as reply:
            return reply.ok
    except aiohttp.ClientError:
        return False
