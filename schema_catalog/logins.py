"""Whose login a statement of an asker uses in a registered database.

Owns the rules: a DBA names each asker, or all of them with `*`, for each database; an asker who is not named has no
login there, since the same name on another cluster need not be the same person. Does not connect and stores nothing.
"""

from __future__ import annotations

from schema_catalog.dsn import (
    DSNError,
    as_uri,
    dbname_of,
    password_of,
    user_of,
    with_dbname,
    with_user,
    without_login,
)
from schema_catalog.store import CatalogError
from schema_catalog.types import EVERYONE, Database, Login


class LoginError(CatalogError):
    """A login that cannot be as asked for; the message holds no connection string."""


def make_login(database: Database, asker: str, dsn: str | None = None) -> Login:
    """The login of `asker` in `database`, raising `LoginError` where it cannot be one.

    Args:
        database: the registered database.
        asker: a role of the gateway's, or `EVERYONE`.
        dsn: in either notation of libpq. None: as the catalog connects, less its user and all that proves it. A user
            that it lacks is the asker, a database that it lacks the registered one.
    """
    if not asker or "\0" in asker:
        raise LoginError("an asker is the name of a role, or * for every asker")
    try:
        uri = without_login(database.dsn) if dsn is None else as_uri(dsn)
    except DSNError as error:
        raise LoginError(f"--dsn: {error}") from error
    if dbname_of(uri) is None:
        uri = with_dbname(uri, database.dbname)
    if asker != EVERYONE:
        return Login(asker, with_user(uri, user_of(uri) or asker))
    if user_of(uri) is not None or password_of(uri):
        raise LoginError(
            "with * every asker logs in under their own name: leave user and password out of --dsn, "
            "or register each asker by name"
        )
    return Login(asker, uri)


def login_for(database: Database, asker: str) -> str | None:
    """The URI with which statements of `asker` log in to `database`; None where nobody allowed that.

    It always names a user: without one the driver would take the engine's own.
    """
    dsns = {login.asker: login.dsn for login in database.logins if login.asker in {asker, EVERYONE}}
    if asker != EVERYONE and asker in dsns:
        return with_user(dsns[asker], user_of(dsns[asker]) or asker)
    if EVERYONE in dsns:
        return with_user(without_login(dsns[EVERYONE], proofs=True), asker)
    return None
