"""`pgparley learned …`: what users' choices have taught, and who is answered by it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, TypeVar

import asyncpg
import typer

from pgparley.store_session import run_on_store
from pgparley.terminal import AsJson, print_json, print_table, printable
from schema_catalog.pg import Connection, Pool
from schema_catalog.store import CatalogError

T = TypeVar("T")
Row = Mapping[str, Any]
Run = Callable[[Callable[[Connection], Awaitable[Any]]], Any]

Numbers = Annotated[
    list[int], typer.Argument(help="Numbers of examples, as `list` shows them.", show_default=False)
]

_LEARNED = """
    SELECT * FROM nl_catalog.learned
    WHERE ($1::text IS NULL OR database = $1) AND ($2::text IS NULL OR asker = $2)
      AND (NOT $3 OR approved_at IS NULL AND kind <> 'rejected')
    ORDER BY learned_at DESC, example DESC LIMIT $4
"""

_ADAPTERS = """
    SELECT version, scope, votes, before, after, CASE WHEN withdrawn THEN 'withdrawn' ELSE verdict END AS verdict,
           trained_at, version IS NOT DISTINCT FROM max(version) FILTER (WHERE weights IS NOT NULL AND NOT withdrawn)
                       OVER (PARTITION BY scope) AS used
    FROM pgparley.learned_adapter ORDER BY version DESC
"""
"""Every training, newest first. `scope`: a role, or nothing for everybody."""


def learned_app(store_dsn: Callable[[], str]) -> typer.Typer:
    """The commands; the store is asked for when one of them runs."""
    app = typer.Typer(help="See and share what users' choices have taught.", no_args_is_help=True)

    def run(work: Callable[[Connection], Awaitable[T]]) -> T:
        async def whole(pool: Pool) -> T:
            async with pool.acquire() as connection, connection.transaction():
                return await work(connection)

        return run_on_store(store_dsn(), whole)

    @app.command("list")
    def list_(
        *,
        db: Annotated[str | None, typer.Option(help="Only of this database.")] = None,
        user: Annotated[str | None, typer.Option(help="Only what this user taught.")] = None,
        pending: Annotated[bool, typer.Option("--pending", help="Only what awaits approval.")] = False,
        limit: Annotated[int, typer.Option(min=1, help="Lines at most.")] = 50,
        as_json: AsJson = False,
    ) -> None:
        """List questions with the statements that users chose, wrote or rejected, newest first."""
        found = run(lambda connection: _rows(connection, _LEARNED, db, user, pending, limit))
        empty = "Nothing was learned yet. Users teach with NL CHOOSE, NL CORRECT and NL NONE."
        headings = ("n", "user", "database", "kind", "preferences", "approved", "question", "statement")
        _show_all(found, headings, _listed, empty, as_json=as_json)

    @app.command()
    def show(
        number: Annotated[int, typer.Argument(help="Number of an example.", show_default=False)],
        *,
        as_json: AsJson = False,
    ) -> None:
        """Show one example whole, with the preferences that it speaks for."""
        _show(run(lambda connection: _example(connection, number)), as_json=as_json)

    _add_changes(app, run)

    @app.command()
    def adapters(
        *,
        withdraw: Annotated[int | None, typer.Option(help="Take this version out of use.")] = None,
        as_json: AsJson = False,
    ) -> None:
        """List what the encoder was adapted with, and whether the check kept it; or go back to the version before."""
        if withdraw is not None:
            run(lambda connection: _withdraw(connection, withdraw))
        found = run(lambda connection: _rows(connection, _ADAPTERS))
        empty = "No adapter was trained yet ([learning] adapter_votes says when one is)."
        headings = ("version", "of", "votes", "right before", "right after", "outcome", "in use")
        _show_all(found, headings, _adapter, empty, as_json=as_json)

    return app


def _add_changes(app: typer.Typer, run: Run) -> None:

    @app.command()
    def approve(numbers: Numbers) -> None:
        """Let examples answer and guide everybody who can read what they name."""
        run(lambda connection: _each(connection, "SELECT nl_catalog.approve($1)", numbers))
        typer.echo(f"approved: {_numbered(numbers)}")

    @app.command()
    def revoke(numbers: Numbers) -> None:
        """Take an approval back: the examples count for their users alone again."""
        run(lambda connection: _each(connection, "SELECT nl_catalog.revoke_approval($1)", numbers))
        typer.echo(f"revoked: {_numbered(numbers)}")

    @app.command()
    def forget(
        numbers: Annotated[
            list[int] | None, typer.Argument(help="Numbers of examples.", show_default=False)
        ] = None,
        *,
        user: Annotated[str | None, typer.Option(help="All that this user taught.")] = None,
    ) -> None:
        """Delete examples, for their users as well."""
        if bool(numbers) == (user is not None):
            typer.echo("pgparley: give either numbers or --user", err=True)
            raise typer.Exit(2)
        done = run(lambda connection: _forget(connection, numbers or [], user))
        typer.echo(f"forgotten: {done if numbers is None else _numbered(numbers)}")


async def _rows(connection: Connection, query: str, *values: object) -> list[Row]:
    return [dict(row) for row in await connection.fetch(query, *values)]


async def _example(connection: Connection, number: int) -> Row:
    found = await _rows(connection, "SELECT * FROM nl_catalog.learned WHERE example = $1", number)
    if not found:
        raise CatalogError(f"there is no example {number}")
    return found[0]


async def _each(connection: Connection, call: str, numbers: Sequence[int]) -> None:
    try:
        for number in numbers:
            await connection.execute(call, number)
    except asyncpg.UndefinedObjectError as error:
        raise CatalogError(f"{error.message}; nothing was changed") from error


async def _forget(connection: Connection, numbers: Sequence[int], user: str | None) -> int:
    """How many examples were deleted, with every adapter that they may have trained."""
    rows = await connection.fetch(
        "DELETE FROM pgparley.learned_example WHERE id = ANY ($1::bigint[]) OR asker = $2 RETURNING id",
        *(numbers, user),
    )
    if missing := set(numbers) - {row["id"] for row in rows}:
        raise CatalogError(f"there is no example {_numbered(sorted(missing))}; nothing was changed")
    return len(rows)


async def _withdraw(connection: Connection, version: int) -> None:
    """Takes an adapter out of use; the one before it of the same scope is used again."""
    withdrawn = "UPDATE pgparley.learned_adapter SET withdrawn = true WHERE version = $1"
    if await connection.execute(withdrawn, version) == "UPDATE 0":
        raise CatalogError(f"there is no adapter {version}")


def _show_all(
    found: Sequence[Row],
    headings: Iterable[str],
    cells: Callable[[Row], tuple[str, ...]],
    empty: str,
    *,
    as_json: bool,
) -> None:
    if as_json:
        print_json(found)
    elif found:
        print_table(*headings, rows=map(cells, found))
    else:
        typer.echo(empty)


def _listed(each: Row) -> tuple[str, ...]:
    approved = each["approved_by"] or "yes" if each["approved_at"] else ""
    whom = (str(each["example"]), each["asker"], each["database"], each["kind"])
    return (*whom, str(len(each["preferences"])), approved, each["question"], each["sql"])


def _show(example: Row, *, as_json: bool) -> None:
    if as_json:
        print_json(example)
        return
    approved = f"{example['approved_at']} by {example['approved_by']}" if example["approved_at"] else "no"
    shown = {
        "question": "question",
        "statement": "sql",
        "database": "database",
        "user": "asker",
        "kind": "kind",
    }
    lines = {name: example[column] for name, column in shown.items()}
    for name, text in (lines | {"learned": example["learned_at"], "approved": approved}).items():
        typer.echo(f"{name + ':':<11}{printable(str(text))}")
    for preference in example["preferences"]:
        typer.echo(printable(f"  {preference}"))


def _adapter(each: Row) -> tuple[str, ...]:
    figures = (str(each["votes"]), f"{each['before']:.0%}", f"{each['after']:.0%}")
    used = "yes" if each["used"] else ""
    return (str(each["version"]), each["scope"] or "everybody", *figures, each["verdict"], used)


def _numbered(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
