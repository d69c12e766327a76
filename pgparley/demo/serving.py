"""The command line and `pgparley serve` as processes over a site: started, waited for, ended."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from rich.console import Console

from engine.app.client import EngineAddress, EngineClient
from engine.values.python_process import python_command
from pgparley.demo.site import Site
from pgparley.private_file import private

READY_TIMEOUT = 300.0
"""Seconds for the model and the engine to start."""


async def pgparley(site: Site, *arguments: str) -> str:
    """The output of a command under the site's configuration; raises `RuntimeError` where it fails."""
    process = await asyncio.create_subprocess_exec(
        *python_command("pgparley.cli", "--config", str(site.config), *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output = (await process.communicate())[0].decode()
    if process.returncode != 0:
        raise RuntimeError(f"pgparley {' '.join(arguments[:2])} failed: {output}")
    return output


@asynccontextmanager
async def serving(
    site: Site, console: Console, *, keep: bool, taken: int | None = None
) -> AsyncIterator[None]:
    """`pgparley serve`, from ready until the end, or for good where `keep` and nothing failed.

    `taken`: a file that stays open as long as it runs.
    """
    output = await asyncio.to_thread(private(site.log).open, "wb")
    with output:
        process = await asyncio.create_subprocess_exec(
            *python_command("pgparley.cli", "--config", str(site.config), "serve"),
            stdout=output,
            stderr=output,
            start_new_session=keep,
            pass_fds=() if taken is None else (taken,),
        )
    site.pid_file.write_text(str(process.pid), encoding="utf-8")
    kept = False
    try:
        began = time.monotonic()
        with console.status(
            "starting; the model reads the schemas, which takes a minute or two the first time"
        ):
            await _until_ready(site, process)
        console.print(f"Ready in {time.monotonic() - began:.1f} s; the log is {site.log}")
        yield
        kept = keep
    finally:
        if not kept:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            await process.wait()


async def _until_ready(site: Site, process: asyncio.subprocess.Process) -> None:
    async with EngineClient(EngineAddress(str(site.engine_socket))) as client, asyncio.timeout(READY_TIMEOUT):
        while not await client.ready():
            if process.returncode is not None:
                raise RuntimeError(f"pgparley serve ended at once{_why(site)}; see {site.log}")
            await asyncio.sleep(0.25)


def _why(site: Site) -> str:
    """What it said last of why it could not start."""
    said = site.log.read_text("utf-8", "replace").splitlines()
    return next(
        (f": {line.partition(': ')[2]}" for line in reversed(said) if line.startswith("pgparley: ")), ""
    )
