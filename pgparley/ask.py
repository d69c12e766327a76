"""`pgparley ask`: one question to the running engine, its outcome as a table or as JSON."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from engine.client import EngineAddress, EngineClient
from engine.errors import NLError
from engine.types import Asker, AskReply, AskRequest, RowKind
from pgparley.config import Config
from pgparley.terminal import print_error, print_json


async def ask(
    config: Config, question: str, *, db: str | None, k: int | None, user: str, as_json: bool
) -> int:
    """Asks as `user` and prints; returns the exit status: 0 answered, 1 an error, 2 asked back or abstained."""
    request = AskRequest(Asker(user, ""), question, k=k, db=db)
    try:
        async with EngineClient(EngineAddress(str(config.engine.socket))) as client:
            reply = await client.ask(request, timeout=config.limits.timeout)
    except NLError as problem:
        if as_json:
            print_json(problem.reply())
        else:
            print_error(problem.message, problem.detail, problem.hint)
        return 1
    if as_json:
        print_json(reply, indent=True)
    else:
        _print(reply)
    return 0 if reply.rows[0].sql is not None else 2


def _print(reply: AskReply) -> None:
    console = Console()
    table = Table(show_lines=True)
    for heading in ("n", "kind", "database", "confidence", "sql", "explanation"):
        table.add_column(heading, overflow="fold")
    for row in reply.rows:
        confidence = "" if row.confidence is None else f"{row.confidence:.2f}"
        table.add_row(str(row.n), row.kind, row.database, confidence, row.sql, row.explanation)
    console.print(table)
    if reply.rows[0].kind is RowKind.OPTION:
        console.print(f"To answer, connect as the same role: NL ANSWER n OF '{reply.qid}';")
    usage = reply.usage
    timings = ", ".join(f"{timing.stage} {timing.seconds:.2f} s" for timing in reply.timings)
    console.print(
        f"{reply.qid} in {reply.seconds:.2f} s ({timings}); {usage.calls} model calls, {usage.prefilled} tokens read, "
        f"{usage.cached} cached, {usage.generated} written"
    )
