"""MCP servers for PostgreSQL over stdio, as an agent drives them: tool calls that run SQL."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from clients.ends import DATABASE, USER, Case, Ends, same

_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pgparley" / "compat"

_HELLO = {
    "protocolVersion": "2024-11-05",
    "capabilities": {},
    "clientInfo": {"name": "agent", "version": "1"},
}

_URL = "the address"
"""Stands for the connection string in a command."""

_COMMANDS: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "postgres-mcp": ("mcp/bin/postgres-mcp", "execute_sql", ("--access-mode=unrestricted", _URL)),
    "DBHub": ("node/node_modules/.bin/dbhub", "execute_sql", ("--transport", "stdio", "--dsn", _URL)),
    "MCP server-postgres": ("node/node_modules/.bin/mcp-server-postgres", "query", (_URL,)),
}
"""Server → its program in the cache, the tool that runs a statement, its words."""


@functools.cache
def said(server: str, port: int, *statements: str) -> tuple[str, ...]:
    """What the tool answers to each statement, by one process of the server."""
    program, tool, words = _COMMANDS[server]
    command = _CACHE / program
    if not command.exists() or (program.startswith("node") and shutil.which("node") is None):
        pytest.skip(f"{server} is not installed: make compat installs it, postgres-mcp with Python 3.12")
    address = f"postgres://{USER}@127.0.0.1:{port}/{DATABASE}?sslmode=disable"
    calls = [("tools/call", {"name": tool, "arguments": {"sql": each}}) for each in statements]
    with subprocess.Popen(  # noqa: S603 - a program that make compat installed
        [str(command), *(address if word is _URL else word for word in words)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            _called(process, 0, "initialize", _HELLO)
            _send(process, {"method": "notifications/initialized"})
            answers = [_called(process, number, *call) for number, call in enumerate(calls, 1)]
        finally:
            process.kill()
    return tuple("\n".join(part["text"] for part in answer["content"]) for answer in answers)


def _send(process: subprocess.Popen[str], message: dict[str, Any]) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    process.stdin.flush()


def _called(process: subprocess.Popen[str], number: int, method: str, params: object) -> dict[str, Any]:
    _send(process, {"id": number, "method": method, "params": params})
    assert process.stdout is not None
    for line in process.stdout:
        message = json.loads(line) if line.startswith("{") else {}
        if message.get("id") == number:
            assert "result" in message, message
            result: dict[str, Any] = message["result"]
            return result
    raise AssertionError("the server has ended")


def _plain(server: str) -> Case:
    def case(ends: Ends) -> None:
        sql = "SELECT g, repeat('x', g) AS x FROM generate_series(1, 20) g"
        through = said(server, ends.gateway, sql)
        assert "xxxx" in through[0]
        same(through, said(server, ends.direct, sql))

    return case


def _holds(server: str, sql: str, *texts: str) -> Case:
    def case(ends: Ends) -> None:
        (text,) = said(server, ends.gateway, sql)
        assert all(each in text for each in texts), text

    return case


def _cases(server: str) -> Mapping[str, Callable[[Ends], None]]:
    rows = ("how many singers?", "NL CHOOSE 1")
    return {
        "plain SQL": _plain(server),
        "question": _holds(server, "NL: $$how many singers?$$", *rows),
        "function call": _holds(server, "SELECT * FROM nl.ask('how many singers?')", *rows),
        "follow-up": _holds(server, "NL CHOOSE 1 OF 'q1'", "1", "3"),
    }


CASES: dict[str, dict[str, Case]] = {server: dict(_cases(server)) for server in _COMMANDS}
