"""`pgparley store …`: the database that keeps catalog, questions and feedback. For backups see `docs/operations.md`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from pgparley.store_session import run_on_store_as_it_is
from schema_catalog.migrate import migrate, rehearse
from schema_catalog.pg import Pool
from schema_catalog.store_setup import MAKE_DBA_ROLES, dba_roles_made


def store_app(store_dsn: Callable[[], str]) -> typer.Typer:
    """The commands; where the store is, is asked for when one of them runs."""
    app = typer.Typer(help="Bring the store up to date.", no_args_is_help=True)

    # Else typer makes the one command of an app the app itself.
    @app.callback()
    def _group() -> None:
        pass

    @app.command("migrate")
    def migrate_(
        *,
        dry_run: Annotated[
            bool, typer.Option("--dry-run", help="Apply, say what was applied, and take it back.")
        ] = False,
    ) -> None:
        """Apply this version's migrations, as the engine does when it starts."""
        run_on_store_as_it_is(store_dsn(), lambda pool: _migrate(pool, dry_run=dry_run))

    return app


async def _migrate(pool: Pool, *, dry_run: bool) -> None:
    async with pool.acquire() as connection:
        names = await (rehearse if dry_run else migrate)(connection)
        ready = dry_run or await dba_roles_made(connection)
    for name in names:
        typer.echo(f"{'would apply' if dry_run else 'applied'} {name}")
    if not names:
        typer.echo("the store is up to date")
    elif dry_run:
        typer.echo("All of it worked and was taken back. Back the store up, then leave --dry-run out.")
    if not ready:
        typer.echo(
            "The roles of DBAs, nl_admin and nl_steward, are missing."
            f" A superuser runs, in the store's database: {MAKE_DBA_ROLES}"
        )
