"""One psql that is typed into, line by line. Owns its process, and what it printed for each line."""

from __future__ import annotations

import asyncio
import re
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

SECONDS = 300.0
"""For one line: a question to a small model on a busy machine."""

_END = "end of this line's output"


class UnexpectedError(Exception):
    """A line printed something else than it has to."""


@dataclass(frozen=True, slots=True)
class Psql:
    """A running psql."""

    process: asyncio.subprocess.Process

    async def type(self, text: str, shows: str = "") -> str:
        """What psql prints for `text`.

        Raises `UnexpectedError` where that is an error, or does not match `shows`, and `TimeoutError`.
        """
        if self.process.stdin is None or self.process.stdout is None:
            raise UnexpectedError("psql was started without pipes")
        # A command of the shell: psql writes out all that it has before it runs one.
        self.process.stdin.write(f'{text}\n\\! echo "{_END}"\n'.encode())
        await self.process.stdin.drain()
        printed = await asyncio.wait_for(_until_end(self.process.stdout), SECONDS)
        if "ERROR:" in printed or "FATAL:" in printed or not re.search(shows, printed, re.DOTALL):
            raise UnexpectedError(f"{text}\n{printed}\n-- expected: {shows or 'no error'}")
        return printed


async def _until_end(output: asyncio.StreamReader) -> str:
    lines = []
    while (line := await output.readline()).decode().rstrip() != _END:
        if not line:
            raise UnexpectedError("psql has ended:\n" + "".join(lines))
        lines.append(line.decode())
    return "".join(lines)


@asynccontextmanager
async def psql(program: Path, uri: str, environment: Mapping[str, str], folder: Path) -> AsyncIterator[Psql]:
    """A session at `uri`, in `folder`, until the end of the block."""
    process = await asyncio.create_subprocess_exec(
        *(str(program), "-X", "--set=SHOW_CONTEXT=never", "--pset=expanded=auto", "--pset=columns=130", uri),
        stdin=PIPE,
        stdout=PIPE,
        stderr=STDOUT,
        env=dict(environment),
        cwd=folder,
        limit=2**20,
    )
    try:
        yield Psql(process)
    finally:
        if process.stdin is not None:
            process.stdin.close()
        await process.wait()
