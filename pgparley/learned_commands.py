"""`pgparley learned …`: what users' choices have taught, and who is answered by it.

Owns the words of these commands and their exit status (0 done, 1 not done, 2 wrong usage). What an approval means is
`engine.learning`'s.
"""

from __future__ import annotations

import getpass
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from pgparley.store_session import run_on_store
from pgparley.terminal import AsJson, print_json, print_table, printable
from schema_catalog.pg import Pool

if TYPE_CHECKING:
    from engine.learning.feedback import Review, Reviewed, ReviewedAdapter, ReviewedVote

T = TypeVar("T")

Run = Callable[[Callable[["Review"], Awaitable[Any]]], Any]

Numbers = Annotated[
    list[int], typer.Argument(help="Numbers of examples, as `list` shows them.", show_default=False)
]


def learned_app(store_dsn: Callable[[], str]) -> typer.Typer:
    """The commands; the store is asked for when one of them runs."""
    app = typer.Typer(help="See and share what users' choices have taught.", no_args_is_help=True)

    def run(work: Callable[[Review], Awaitable[T]]) -> T:
        async def on(pool: Pool) -> T:
            # Loads the store's driver, which most commands' help does without.
            from engine.learning.feedback import Review  # noqa: PLC0415

            return await work(Review(pool))

        return run_on_store(store_dsn(), on)

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
        _list(run(lambda review: review.examples(db, user, limit, pending=pending)), as_json=as_json)

    @app.command()
    def show(
        number: Annotated[int, typer.Argument(help="Number of an example.", show_default=False)],
        *,
        as_json: AsJson = False,
    ) -> None:
        """Show one example whole, with the preferences that it speaks for."""
        _show(*run(lambda review: review.example(number)), as_json=as_json)

    _add_changes(app, run)

    @app.command()
    def adapters(
        *,
        withdraw: Annotated[int | None, typer.Option(help="Take this version out of use.")] = None,
        as_json: AsJson = False,
    ) -> None:
        """List what the encoder was adapted with, and whether the check kept it; or go back to the version before."""
        if withdraw is not None:
            run(lambda review: review.withdraw(withdraw))
        _adapters(run(lambda review: review.adapters()), as_json=as_json)

    return app


def _add_changes(app: typer.Typer, run: Run) -> None:
    """Adds what changes whose examples count."""

    @app.command()
    def approve(numbers: Numbers) -> None:
        """Let examples answer and guide everybody who can read what they name."""
        run(lambda review: review.approve(numbers, getpass.getuser()))
        typer.echo(f"approved: {_numbered(numbers)}")

    @app.command()
    def revoke(numbers: Numbers) -> None:
        """Take an approval back: the examples count for their users alone again."""
        run(lambda review: review.revoke(numbers))
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
        if user is not None:
            typer.echo(f"forgotten: {run(lambda review: review.forget_user(user))}")
            return
        run(lambda review: review.forget(numbers or []))
        typer.echo(f"forgotten: {_numbered(numbers or [])}")


def _list(examples: Sequence[Reviewed], *, as_json: bool) -> None:
    if as_json:
        print_json(examples)
        return
    if not examples:
        typer.echo("Nothing was learned yet. Users teach with NL CHOOSE, NL CORRECT and NL NONE.")
        return
    headings = ("n", "user", "database", "kind", "votes", "approved", "question", "statement")
    print_table(*headings, rows=map(_listed, examples))


def _listed(each: Reviewed) -> tuple[str, ...]:
    approved = each.approved_by or "yes" if each.approved_at else ""
    whom = (str(each.id), each.asker, each.database, each.kind)
    return (*whom, str(each.votes), approved, each.question, each.sql)


def _show(example: Reviewed, votes: Sequence[ReviewedVote], *, as_json: bool) -> None:
    if as_json:
        print_json({"example": example, "votes": votes})
        return
    approved = f"{example.approved_at} by {example.approved_by}" if example.approved_at else "no"
    lines = {
        "question": example.question,
        "statement": example.sql,
        "database": example.database,
        "user": example.asker,
        "kind": example.kind,
        "learned": example.learned_at,
        "approved": approved,
    }
    for name, text in lines.items():
        typer.echo(f"{name + ':':<11}{printable(text)}")
    for vote in votes:
        typer.echo(
            printable(f'  "{vote.phrase}": {vote.preferred} rather than {vote.rejected} ({vote.weight:g})')
        )


def _adapters(found: Sequence[ReviewedAdapter], *, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    if not found:
        typer.echo("No adapter was trained yet ([learning] adapter_votes says when one is).")
        return
    headings = ("version", "of", "votes", "right before", "right after", "outcome", "in use")
    print_table(*headings, rows=map(_adapter, found))


def _adapter(each: ReviewedAdapter) -> tuple[str, ...]:
    figures = (str(each.votes), f"{each.before:.0%}", f"{each.after:.0%}")
    used = "yes" if each.used else ""
    return (str(each.version), each.scope or "everybody", *figures, each.verdict, used)


def _numbered(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
