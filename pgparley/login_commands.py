"""`pgparley catalog login` and `logout`: as whom an asker's statements run in a database. No password is ever shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated

import typer

from pgparley.store_session import SETTINGS, run_on_store
from pgparley.terminal import printable
from schema_catalog.dsn import CLEAR, in_the_clear, redacted, user_of
from schema_catalog.logins import make_login
from schema_catalog.pg import Pool
from schema_catalog.refresh import UnreachableError, try_login
from schema_catalog.store import CatalogStore
from schema_catalog.types import EVERYONE, Database, Login

Name = Annotated[str, typer.Argument(help="The database.", show_default=False)]
AskerName = Annotated[
    str,
    typer.Argument(metavar="ASKER", help="A role that asks; '*' for every other one.", show_default=False),
]


def add_login_commands(app: typer.Typer, store_dsn: Callable[[], str]) -> None:
    """Adds `login` and `logout` to the catalog's commands."""

    @app.command()
    def login(
        name: Name,
        asker: AskerName,
        *,
        dsn: Annotated[
            str | None,
            typer.Option(
                help="Connection string; without it: the registered one, less its user and password."
            ),
        ] = None,
        attempt: Annotated[
            bool,
            typer.Option(
                "--try/--no-try", help="Connect first; not, where only the engine's system user can."
            ),
        ] = True,
    ) -> None:
        """Let an asker's statements run in a database, and say how they log in."""
        run_on_store(store_dsn(), lambda pool: _login(CatalogStore(pool), name, asker, dsn, attempt=attempt))

    @app.command()
    def logout(name: Name, asker: AskerName) -> None:
        """Take that back."""
        run_on_store(store_dsn(), lambda pool: _logout(pool, name, asker))


async def _login(store: CatalogStore, name: str, asker: str, dsn: str | None, *, attempt: bool) -> None:
    database = (await store.get(name)).database
    login = make_login(database, asker, dsn)
    warnings = list(_warnings(database, login))
    outcome = "was not tried"
    if login.asker == EVERYONE:
        outcome = "is tried when one of them asks"
    elif attempt:
        warnings += await _try(database, login)
        outcome = "works"
    await store.add_login(name, login)
    named = f"{login.asker} logs in as {user_of(login.dsn)}"
    who = "every other asker logs in under their own name" if asker == EVERYONE else named
    typer.echo(printable(f"{name}: {who}; the login {outcome}"))
    for warning in warnings:
        typer.echo(printable(f"pgparley: warning: {warning}."), err=True)


def _warnings(database: Database, login: Login) -> Iterator[str]:
    user = user_of(login.dsn)
    if user is not None and user == user_of(database.dsn):
        yield (
            f"{user} is the role that the catalog itself connects with: {login.asker} can read there "
            "whatever the catalog can"
        )
    if in_the_clear(login.dsn):
        yield CLEAR


async def _try(database: Database, login: Login) -> tuple[str, ...]:
    try:
        tried = await try_login(database, login, SETTINGS)
    except UnreachableError as error:
        raise UnreachableError(
            f"{error}; nothing was registered. Check --dsn ({redacted(login.dsn)}); "
            "where only the engine's system user can connect so, add --no-try"
        ) from error
    if tried.unbound:
        return (f"{tried.role} {tried.unbound} there: no privilege bounds what its statements read",)
    return ()


async def _logout(pool: Pool, name: str, asker: str) -> None:
    await CatalogStore(pool).remove_login(name, asker)
    what = "askers without a login of their own have none" if asker == EVERYONE else f"{asker} has no login"
    typer.echo(printable(f"{name}: {what} any more; the roles there were not touched"))


def listed_logins(database: Database) -> list[dict[str, str | None]]:
    """The logins of `database` for the JSON of `list`; the user is None where each asker has their own."""
    return [
        {"asker": login.asker, "user": user_of(login.dsn), "dsn": redacted(login.dsn)}
        for login in database.logins
    ]


def logins_in_short(database: Database) -> str:
    """The askers with a login, three of them by name."""
    most = 3
    askers = [login.asker for login in database.logins]
    more = [f"{len(askers) - most} more"] if len(askers) > most else []
    return ", ".join(askers[:most] + more) or "none"
