"""What commands ask of the running engine: `pgparley ask`, `pgparley catalog suggest` and `questions`, in steps."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
import yaml
from rich.console import Console
from rich.table import Table

from engine.app.client import EngineAddress, EngineClient
from engine.values.errors import NLError
from engine.values.messages import Asker, AskReply, AskRequest, RowKind
from engine.values.suggestions import AskAheadRequest, AskedAhead, SuggestReply, SuggestRequest
from pgparley.audit_commands import answer, recorded, shown
from pgparley.config import Config
from pgparley.store_session import run_on_store
from pgparley.terminal import fail, print_json, printable
from schema_catalog.naming import dotted, quote_literal
from schema_catalog.pg import Pool

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


def add_questions_command(app: typer.Typer, socket: Callable[[], str], store_dsn: Callable[[], str]) -> None:
    """Adds the command to the catalog's. `socket`: where the engine listens."""

    @app.command()
    def questions(
        name: Annotated[str, typer.Argument(help="The registered database.", show_default=False)],
        seeds: Annotated[
            Path | None,
            typer.Option(
                help="Ask nothing: write what was made to this file, to add SQL for `pgparley eval`."
            ),
        ] = None,
        *,
        yes: Annotated[bool, typer.Option("--yes", help="Do not ask before a service is paid.")] = False,
    ) -> None:
        """Have the language model make questions of a schema, and words that people say for it."""
        if seeds is None:
            asyncio.run(_ask_ahead(socket(), name, yes=yes))
        else:
            _write_seeds(run_on_store(store_dsn(), lambda pool: _made(pool, name)), name, seeds)


async def _ask_ahead(socket: str, name: str, *, yes: bool) -> None:
    async with running_engine(socket) as client:
        reply = await client.ask_ahead(AskAheadRequest(name, estimate=True), timeout=TABLE_SECONDS)
        if not reply.left:
            typer.echo(printable(f"{name}: nothing to ask; its schema has not changed since."))
            return
        cost = f"{reply.tokens:,} tokens{f', {reply.money:.4f} in money' if reply.money else ''}"
        typer.echo(printable(f"{name}: {reply.left} prompts to {reply.model}, at most about {cost}"))
        if reply.unreached:
            typer.echo(f"{reply.unreached} tables are in none of them.")
        if not (yes or reply.own):
            typer.confirm("Ask?", abort=True)
        tokens, money, count, words = 0, 0.0, 0, 0
        while reply.left:
            reply = await client.ask_ahead(AskAheadRequest(name), timeout=TABLE_SECONDS)
            _print_made(reply)
            tokens, money = tokens + reply.tokens, money + reply.money
            count, words = count + len(reply.questions), words + reply.words
    spent = f"{tokens:,} tokens{f', {money:.4f} in money' if money else ''}"
    typer.echo(
        f"{count} questions and {words} words; {spent}. They count from now on; to look at and to mend:"
    )
    typer.echo("  SELECT id, tables, question FROM nl_catalog.made_questions;")
    typer.echo("  SELECT element, phrase FROM nl_catalog.proposed_synonyms;")


def _print_made(reply: AskedAhead) -> None:
    tables = ", ".join(map(dotted, reply.tables))
    typer.echo(printable(f"{tables}: {reply.words} words, {reply.left} prompts left"))
    for question in reply.questions:
        typer.echo(printable(f"  ? {question}"))


async def _made(pool: Pool, name: str) -> list[str]:
    made = "SELECT question FROM nl_catalog.made_questions WHERE database = $1 ORDER BY id"
    return [question for (question,) in await pool.fetch(made, name)]


def _write_seeds(made: list[str], name: str, file: Path) -> None:
    if not made:
        fail(f"no question was made of {name}", f"pgparley catalog questions {name} has the model asked.")
    seeds = [{"question": question, "database": name, "sql": ""} for question in made]
    try:
        file.write_text(yaml.safe_dump(seeds, allow_unicode=True, sort_keys=False), "utf-8")
    except OSError as problem:
        fail(f"cannot write {file}: {problem.strerror}", "Name a file in a folder that you may write to.")
    typer.echo(
        f"{len(seeds)} questions. Correct them, add SQL, and run `pgparley eval {file}`; without SQL none counts."
    )
