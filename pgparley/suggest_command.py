"""`pgparley catalog suggest`: has the running engine's model propose descriptions and synonyms, table by table."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated

import typer

from engine.client import EngineAddress, EngineClient
from engine.errors import NLError
from engine.suggestions.types import SuggestReply, SuggestRequest
from pgparley.terminal import fail, printable
from schema_catalog.naming import dotted

TABLE_SECONDS = 3600.0
"""For one table: a wide one takes many calls of the model, of which each has a limit of its own."""


def add_suggest_command(app: typer.Typer, socket: Callable[[], str]) -> None:
    """Adds the command to the catalog's. `socket`: where the engine listens."""

    @app.command()
    def suggest(
        name: Annotated[str, typer.Argument(help="The registered database.", show_default=False)],
        table: Annotated[
            str | None, typer.Option(help="Only this table; without it all that lack something.")
        ] = None,
    ) -> None:
        """Have the language model propose descriptions and synonyms; none counts before it is accepted."""
        asyncio.run(_suggest(socket(), name, table))


async def _suggest(socket: str, name: str, table: str | None) -> None:
    request, count = SuggestRequest(name, table=table), 0
    async with EngineClient(EngineAddress(socket)) as client:
        while True:
            try:
                reply = await client.suggest(request, timeout=TABLE_SECONDS)
            except NLError as problem:
                fail(*(text for text in (problem.message, problem.detail, problem.hint) if text))
            if reply.table is None:
                break
            _print(reply)
            count += len(reply.suggestions)
            request = SuggestRequest(name, reply.table, table)
    if count:
        typer.echo(f"{count} suggestions. Accept or decline them on the page, or in psql:")
        typer.echo(
            "  SELECT id, element, kind, suggestion FROM nl_catalog.suggestions WHERE state = 'proposed';"
        )
        typer.echo("  SELECT nl_catalog.accept_suggestion(…); SELECT nl_catalog.decline_suggestion(…);")
    else:
        typer.echo("Nothing to suggest.")


def _print(reply: SuggestReply) -> None:
    typer.echo(
        printable(
            f"{dotted(reply.table or ())}: {len(reply.suggestions)} suggestions, {reply.left} tables left"
        )
    )
    for each in reply.suggestions:
        typer.echo(printable(f"  ? {dotted(each.element)} {each.kind}: {each.text}"))
