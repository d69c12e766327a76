"""Signing in: a connection to the store's server as the role that somebody says they are.

Owns whether the server itself asked for their password: one that lets this machine in without (trust, peer, a
certificate of ours) would let in whoever names a role. Keeps no password.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

import asyncpg

from schema_catalog.dsn import without_login
from schema_catalog.naming import quote_ident
from schema_catalog.pg import CATALOG_PATH, Connection, own_password

CONNECT_SECONDS = 10.0
COMMAND_SECONDS = 20.0

_SYSTEM_USER = 16
"""The first version with SYSTEM_USER: the method by which a session was let in (PostgreSQL docs 9.27)."""

_PASSWORD_METHODS = frozenset({"password", "md5", "scram-sha-256", "ldap", "radius", "pam", "bsd"})


_OPEN = "SELECT coalesce(has_schema_privilege(to_regnamespace('nl_catalog')::oid, 'USAGE'), false)"
# Names in a schema that a role may not use are an error to it.
_RIGHTS = """
    SELECT coalesce(has_function_privilege(to_regprocedure('nl_catalog.is_admin()')::oid, 'EXECUTE'), false),
           coalesce(has_function_privilege(to_regprocedure('nl_catalog.describe(text,text)')::oid, 'EXECUTE'), false)
"""


class SignInError(Exception):
    """Nobody was signed in. `hint`: what to do next."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class WrongLoginError(SignInError):
    """The server did not take role and password."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """What somebody typed."""

    role: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Signed:
    """A connection of a role's own. `admin`: sees everything; `changes`: may call the functions that change things."""

    connection: Connection
    role: str
    admin: bool
    changes: bool


async def sign_in(store: str, given: Credentials) -> Signed:
    """Connects to the server of the URI `store` as the role given; raises `SignInError`."""
    if not given.role or not given.password:
        raise WrongLoginError("Role or password is missing.", "Give both, as to psql.")
    connection = await _connect(store, given)
    try:
        await _check_asked(store, given, connection)
        return await _signed(connection, given.role)
    except BaseException:
        await connection.close(timeout=CONNECT_SECONDS)
        raise


async def _connect(store: str, given: Credentials) -> Connection:
    try:
        bare = without_login(store)
        # Raises where the page's own certificate would be shown.
        own_password(bare)
        return await asyncpg.connect(
            bare,
            user=given.role,
            password=given.password,
            timeout=CONNECT_SECONDS,
            command_timeout=COMMAND_SECONDS,
            statement_cache_size=0,
            server_settings={
                "application_name": "pgparley page",
                "statement_timeout": "15s",
                "search_path": CATALOG_PATH,
            },
        )
    except asyncpg.InvalidAuthorizationSpecificationError:
        # A role that is not there, one that may not log in and a wrong password look alike.
        raise WrongLoginError(
            "The server does not take this role and password.",
            "They are those of psql at the store's server.",
        ) from None
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, ValueError, TimeoutError) as problem:
        raise SignInError(
            f"The store's server cannot be used: {type(problem).__name__}.",
            "Whoever runs pgparley: pgparley check",
        ) from problem


async def _check_asked(store: str, given: Credentials, connection: Connection) -> None:
    if connection.get_server_version().major >= _SYSTEM_USER:
        method = (await connection.fetchval("SELECT system_user") or "").partition(":")[0]
        asked = method in _PASSWORD_METHODS
    else:
        asked = await _refuses_another_password(store, given)
    if not asked:
        raise SignInError(
            "The store's server let this machine in without asking for the password.",
            "Have pg_hba.conf ask for one (scram-sha-256) for roles that use the page.",
        )


async def _refuses_another_password(store: str, given: Credentials) -> bool:
    try:
        other = await _connect(store, Credentials(given.role, secrets.token_urlsafe()))
    except WrongLoginError:
        return True
    await other.close(timeout=CONNECT_SECONDS)
    return False


async def _signed(connection: Connection, role: str) -> Signed:
    try:
        opened = await connection.fetchval(_OPEN)
        asks, changes = (opened and await connection.fetchrow(_RIGHTS)) or (False, False)
        admin = asks and bool(await connection.fetchval("SELECT nl_catalog.is_admin()"))
    except (asyncpg.PostgresError, OSError, TimeoutError) as problem:
        raise SignInError(
            f"The store's server cannot be used: {type(problem).__name__}.",
            "Whoever runs pgparley: pgparley check",
        ) from problem
    if not opened:
        raise SignInError(
            f'Role "{role}" may not read the catalog.',
            f"An administrator of the server can let it: GRANT nl_steward TO {quote_ident(role)}",
        )
    return Signed(connection, role, admin, changes)
