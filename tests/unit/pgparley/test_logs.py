"""What logs say of errors: classes, SQLSTATEs and frames, and no message, whoever writes them."""

from __future__ import annotations

import ast
import inspect
import json
import re
import subprocess
import sys
from typing import TypeGuard

import asyncpg
import pytest

from engine.values.errors import DatabaseUnavailableError, for_log
from tests.unit.test_imports import BESIDE, modules

SECRET = "zanzibar"

LOGGED = {
    "caught": "structlog.get_logger().exception('caught', exc_info=failed())",
    "process failed": "raise failed()",
    "Task exception was never retrieved": "asyncio.run(forgotten())",
    "Exception in callback failing": "asyncio.run(called_back())",
    "a library's": "logging.getLogger('library').warning('a library\\'s', exc_info=failed())",
}
"""Event → what writes it, in a process whose logs are set up."""

CODE = f"""
import asyncio, gc, logging, asyncpg, structlog
from pgparley.logs import configure

def failed():
    try:
        try:
            raise asyncpg.InvalidTextRepresentationError('invalid input syntax: "{SECRET}"')
        except asyncpg.PostgresError as error:
            raise ExceptionGroup("{SECRET}", [ValueError("{SECRET}")]) from error
    except ExceptionGroup as group:
        return group

async def forgotten():
    async def fail():
        raise failed()
    task = asyncio.create_task(fail())
    await asyncio.wait([task])
    del task
    gc.collect()

def failing(_):
    raise failed()

async def called_back():
    asyncio.get_running_loop().call_soon(failing, "{SECRET}")
    await asyncio.sleep(0)

configure("info")
"""

KEPT = {"reload_failed", "reload failed", "auth_query_failed", "router version not taken up"}
"""Events with the message of an error, which is of files of ours or in words of ours."""

ALLOWED = re.compile(r"for_log\(\w+\)|type\(\w+\)\.__name__|\w+\.(sqlstate|sent)\b")
"""What a log call may say of an error."""


@pytest.mark.parametrize("event", LOGGED)
def test_an_error_in_a_log_has_no_message(event: str) -> None:
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", CODE + LOGGED[event]], capture_output=True, text=True, check=False
    )
    entry = json.loads(done.stderr)
    assert entry["event"] == event
    assert "InvalidTextRepresentationError 22P02" in entry["exception"]
    assert "ValueError" in entry["exception"]
    assert "in failed" in entry["exception"]
    assert SECRET not in done.stderr


def test_what_an_error_is_called() -> None:
    server = asyncpg.InvalidTextRepresentationError(SECRET)
    assert for_log(server) == "InvalidTextRepresentationError 22P02"
    behind = DatabaseUnavailableError(SECRET, detail=SECRET)
    behind.__cause__ = asyncpg.InterfaceError(SECRET)
    assert for_log(behind) == "DatabaseUnavailableError 58000: InterfaceError"
    assert for_log(FileNotFoundError(2, "No such file", "/a")) == (
        "FileNotFoundError [Errno 2] No such file: '/a'"
    )


def test_the_systems_errors_are_no_servers() -> None:
    classes = [each for _, each in inspect.getmembers(asyncpg, inspect.isclass)]
    servers = [each for each in classes if issubclass(each, asyncpg.PostgresError | asyncpg.InterfaceError)]
    assert servers
    assert not [each for each in servers if issubclass(each, OSError)]


def test_no_call_logs_the_message_of_an_error() -> None:
    for file in [file for name, file in modules().items() if name.split(".")[0] not in BESIDE]:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        caught = {each.name for each in ast.walk(tree) if isinstance(each, ast.ExceptHandler)}
        for call in filter(_logs, ast.walk(tree)):
            for word in call.keywords:
                told = ALLOWED.sub("", ast.unparse(word.value))
                names = set(re.findall(r"\w+", told)) if word.arg not in ("exc_info", "hint") else set()
                assert not names & caught, f"{file}: {ast.unparse(call)}"


def _logs(node: ast.AST) -> TypeGuard[ast.Call]:
    """Whether it is a call of a logger above DEBUG, with another event than those of `KEPT`."""
    if not isinstance(node, ast.Call) or not node.args:
        return False
    words = ast.unparse(node.func).lower().split(".")
    levels = {"info", "warning", "error", "critical", "exception"}
    logs = len(words) > 1 and words[-1] in levels and words[-2].strip("_") == "log"
    return logs and getattr(node.args[0], "value", "") not in KEPT
