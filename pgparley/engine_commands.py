"""What commands ask of the running engine: `pgparley ask`, and `pgparley catalog suggest`, table by table."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from engine.app.client import EngineAddress, EngineClient
from engine.values.errors import NLError
from engine.values.messages import Asker, AskReply, AskRequest, RowKind
from engine.values.suggestions import SuggestReply, SuggestRequest
from pgparley.audit_commands import answer, recorded, shown
from pgparley.config import Config
from pgparley.terminal import fail, print_json, printable
from schema_catalog.naming import dotted, quote_literal

TABLE_SECONDS = 3600.0
"""For one table: a wide one takes many calls of the model, of which each has a limit of its own."""


@asynccontextmanager
async def running_engine(socket: Path | str) -> AsyncIterator[EngineClient]:
    """The engine that listens at `socket`; its errors end the command."""
    try:
        async with EngineClient(EngineAddress(str(socket))) as client:
            yield client
    except NLError as problem:
        fail(problem.message, problem.detail, problem.hint)


async def ask(
    config: Config, question: str, *, db: str | None, k: int | None, user: str, as_json: bool
) -> int:
    """Asks as `user` and prints; returns the exit status: 0 answered, 1 an error, 2 asked back or abstained."""
    request = AskRequest(Asker(user, ""), question, k=k, db=db)
    with recorded(config, "pgparley ask") as trails:
        trail = trails(user)
        try:
            async with EngineClient(EngineAddress(str(config.engine.socket))) as client:
                asking = client.ask(request, timeout=config.limits.timeout)
                reply = await answer(trail, request, asking, lambda reply: reply)
        except NLError as problem:
            if not as_json:
                fail(problem.message, problem.detail, problem.hint)
            print_json(problem.reply())
            return 1
        if as_json:
            print_json(reply, indent=True)
        else:
            _print(reply)
        shown(trail, len(reply.rows), reply)
    return 0 if reply.rows[0].sql is not None else 2


async def check_prompt(
    config: Config, question: str, *, database: str | None, user: str, as_json: bool
) -> int:
    """Prints what the model would be sent for a question of `user`; returns the exit status."""
    async with running_engine(config.engine.socket) as client:
        request = AskRequest(Asker(user, ""), question, db=database)
        reply = await client.prompt(request, timeout=config.limits.timeout)
    if as_json:
        print_json(reply, indent=True)
        return 0
    typer.echo(printable(f"--- to {reply.to}"))
    for role, text in (("system", reply.system), ("user", reply.user)):
        typer.echo(f"--- {role}")
        typer.echo("\n".join(map(printable, text.splitlines())))
    typer.echo(f"--- about {reply.tokens} tokens")
    for part in reply.personal:
        typer.echo(printable(f"personal data ({part.kind}): {part.text}: {part.why}"))
    if not reply.personal:
        typer.echo("no personal data that is told by its form, or by the name of its column")
    return 0


def _print(reply: AskReply) -> None:
    console = Console()
    table = Table(show_lines=True)
    for heading in ("n", "kind", "database", "confidence", "explanation", "sql"):
        table.add_column(heading, overflow="fold")
    for row in reply.rows:
        confidence = "" if row.confidence is None else f"{row.confidence:.2f}"
        table.add_row(str(row.n), row.kind, row.database, confidence, row.explanation, row.sql)
    console.print(table)
    if reply.rows[0].kind is RowKind.OPTION:
        console.print(f"To answer, connect as the same role: NL ANSWER n OF '{reply.qid}';")
    usage = reply.usage
    timings = ", ".join(f"{timing.stage} {timing.seconds:.2f} s" for timing in reply.timings)
    console.print(
        f"{reply.qid} in {reply.seconds:.2f} s ({timings}); {usage.calls} model calls, {usage.prefilled} tokens read, "
        f"{usage.cached} cached, {usage.generated} written{f', {usage.money:.4f} spent' if usage.money else ''}"
    )


def add_suggest_command(app: typer.Typer, socket: Callable[[], str]) -> None:
    """Adds the command to the catalog's. `socket`: where the engine listens."""

    @app.command()
    def suggest(
        name: Annotated[str, typer.Argument(help="The registered database.", show_default=False)],
        table: Annotated[
            str | None, typer.Option(help="Only this table; without it all that lack something.")
        ] = None,
        *,
        missed: Annotated[
            bool, typer.Option("--missed", help="Only what questions came near to and did not understand.")
        ] = False,
    ) -> None:
        """Have the language model propose descriptions and synonyms; none counts before it is accepted."""
        asyncio.run(_suggest(socket(), SuggestRequest(name, table=table, missed=missed)))


async def _suggest(socket: str, request: SuggestRequest) -> None:
    count = 0
    async with running_engine(socket) as client:
        while (reply := await client.suggest(request, timeout=TABLE_SECONDS)).table is not None:
            _print_suggestions(reply)
            count += len(reply.suggestions)
            request = replace(request, after=reply.table)
    if count:
        typer.echo(f"{count} suggestions. Decline what is wrong and accept the rest, on the page or in psql:")
        typer.echo(
            "  SELECT id, element, kind, suggestion FROM nl_catalog.suggestions WHERE state = 'proposed';"
        )
        accept = f"accept_suggestions({quote_literal(request.database)})"
        typer.echo(printable(f"  SELECT nl_catalog.decline_suggestion(…); SELECT nl_catalog.{accept};"))
    else:
        typer.echo("Nothing to suggest.")


def _print_suggestions(reply: SuggestReply) -> None:
    typer.echo(
        printable(
            f"{dotted(reply.table or ())}: {len(reply.suggestions)} suggestions, {reply.left} tables left"
        )
    )
    for each in reply.suggestions:
        typer.echo(printable(f"  ? {dotted(each.element)} {each.kind}: {each.text}"))
