"""`pgparley init`: asks six questions, writes a commented configuration, which it reads back, and makes the store.

Where nobody lends it a superuser, it prints the SQL that one has to run.
"""

from __future__ import annotations

import asyncio
import getpass
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import asyncpg
import typer

from pgparley.config import FILE, ConfigError, load
from pgparley.private_file import private
from pgparley.terminal import fail, uri_of
from proxy.protocol.auth.scram import Verifier
from schema_catalog.dsn import (
    STORE_DATABASE,
    as_uri,
    by_socket,
    dbname_of,
    password_of,
    user_of,
    with_dbname,
    with_user,
    without_login,
)
from schema_catalog.login_rights import CATALOG_ROLE, STORE_ROLE
from schema_catalog.naming import quote_ident, quote_literal
from schema_catalog.store_setup import statements, there

_TEMPLATE = """\
# Written by `pgparley init`. Every other key has its default; deploy/pgparley.example.toml has them all.

[gateway]
# The server behind the gateway: a host name, or the directory of its Unix socket.
upstream_host = {server_host}
upstream_port = {server_port}
# Where clients connect. Set client_tls_sslmode with a certificate before other machines may.
listen_addr = {listen_host}
listen_port = {listen_port}
# Roles, separated by commas, that may do everything on the console (the database "pgparley").
admin_users = {admins}

[engine]
# The database that keeps catalog, questions and feedback, under a role that owns it and nothing else.
store = {store}

[catalog]
# By which databases of that server are read: a role with rights on data only where the model may see values.
login = {login}

[model]
{model}
"""

_SERVED = """\
# A server with OpenAI's protocol, the name under which it serves the model, and a file with the key that it wants.
base_url = {url}
#model = "name"
#api_key_file = "/etc/pgparley/model.key\""""

_EMBEDDED = """\
# Without base_url pgparley starts its own model: pgparley fetch-model gets it."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked where no option says it. `default` is what Enter takes."""

    text: str
    default: str

    def answer(self, given: str | None, *, ask: bool) -> str:
        """The option's value, else what the user types, else the default."""
        if given is not None:
            return given
        return str(typer.prompt(self.text, default=self.default)) if ask else self.default


SERVER = Question("PostgreSQL server (host:port, or its socket's directory)", "127.0.0.1:5432")
LISTEN = Question("Where clients connect (address:port)", "127.0.0.1:6432")
STORE = "Database for catalog and questions (connection string)"
_SECONDS = 15.0

SUPERUSER = Question("Superuser who makes roles and store now (role, connection string, or none)", "none")
MODEL = Question("Language model (URL of a server with OpenAI's protocol, or embedded)", "embedded")
ADMINS = Question("Roles that may do everything on the console (comma-separated, or none)", "none")


def add_init_command(app: typer.Typer, chosen: Callable[[], Path | None]) -> None:
    """Adds the command; `chosen`: the configuration file that stands before it on the command line."""

    @app.command()
    def init(
        *,
        server: Annotated[str | None, typer.Option(help=SERVER.text)] = None,
        listen: Annotated[str | None, typer.Option(help=LISTEN.text)] = None,
        store: Annotated[str | None, typer.Option(help=STORE)] = None,
        model: Annotated[str | None, typer.Option(help=MODEL.text)] = None,
        admins: Annotated[str | None, typer.Option(help=ADMINS.text)] = None,
        superuser: Annotated[str | None, typer.Option(help=SUPERUSER.text)] = None,
        yes: Annotated[
            bool,
            typer.Option("--yes", "-y", help="Ask nothing: the default is taken for what no option says."),
        ] = False,
        force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    ) -> None:
        """Ask six questions, write a commented configuration (--config FILE, else ./pgparley.toml), make the store."""
        file = chosen() or Path(FILE)
        if file.exists() and not force:
            fail(
                f"{file} is there already.",
                "To replace it, add --force; for another one: --config FILE init.",
            )
        server = SERVER.answer(server, ask=not yes)
        listen = LISTEN.answer(listen, ask=not yes)
        kept = uri_of(_store_at(server).answer(store, ask=not yes))
        write = partial(
            _text,
            server=server,
            listen=listen,
            model=MODEL.answer(model, ask=not yes),
            admins=ADMINS.answer(admins, ask=not yes),
        )
        logins = (kept, with_user(without_login(kept, proofs=True), CATALOG_ROLE))
        maker = SUPERUSER.answer(superuser, ask=not yes)
        _write(file, write(*logins))
        typer.echo(f"{file} is written.")
        if maker == SUPERUSER.default:
            sql = "\n".join(statements(*_named(kept)))
            typer.echo(f"A superuser makes its roles and its store, once, in psql:\n\n{sql}\n")
        else:
            _write(file, write(*_made(*logins, maker)))
        typer.echo(
            f"See whether it works: pgparley --config {file} check\nStart it: pgparley --config {file} serve"
        )


def _store_at(server: str) -> Question:
    """With the store on the server behind the gateway, unless somebody says otherwise."""
    host, port = _address(server, 5432)
    if host.startswith("/"):
        return Question(STORE, as_uri(f"host={host} port={port} user={STORE_ROLE} dbname={STORE_DATABASE}"))
    host = f"[{host}]" if ":" in host else host
    return Question(STORE, f"postgresql://{STORE_ROLE}@{host}:{port}/{STORE_DATABASE}")


def _named(store: str) -> tuple[str, str]:
    """The store's role and database."""
    return user_of(store) or getpass.getuser(), dbname_of(store) or STORE_ROLE


def _made(store: str, login: str, maker: str) -> tuple[str, str]:
    """Makes what is missing and says so; the two logins, with a password where a role that needs one is new."""
    role, database = _named(store)
    try:
        made, passwords = asyncio.run(_make(store, maker))
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, ValueError) as error:
        words = ("A superuser makes them, in psql:\n", *statements(role, database))
        fail(f"roles and store are not made: {error}", *words)
    typer.echo("\n".join(f"made: {each}" for each in made) or "Its roles and its store are there already.")
    if not by_socket(store) and len(passwords) < len({role, CATALOG_ROLE}):
        typer.echo(
            "A role that was there keeps its password: write it into the file, or into a password file."
        )
    return (
        with_user(store, role, passwords.get(role, "")),
        with_user(login, CATALOG_ROLE, passwords.get(CATALOG_ROLE, "")),
    )


async def _make(store: str, maker: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """What was made, and the passwords of new roles that log in by TCP, of which the server gets verifiers."""
    role, database = _named(store)
    bare = with_user(with_dbname(without_login(store, proofs=True), "postgres"), maker)
    uri = as_uri(maker) if {"=", ":"} & set(maker) else bare
    connection = await asyncpg.connect(uri, timeout=_SECONDS, command_timeout=_SECONDS)
    try:
        known = await there(connection)
        new = [each for each in (role, CATALOG_ROLE) if f"role {each}" not in known and not by_socket(store)]
        passwords = {each: secrets.token_urlsafe(24) for each in new}
        if role in passwords:
            passwords[role] = password_of(store) or passwords[role]
        for statement in (made := statements(role, database, known)):
            await connection.execute(statement)
        for name, password in passwords.items():
            verifier = Verifier.of_password(password, secrets.token_bytes(16)).text
            await connection.execute(f"ALTER ROLE {quote_ident(name)} PASSWORD {quote_literal(verifier)}")
    finally:
        await connection.close(timeout=_SECONDS)
    return made, passwords


def _text(store: str, login: str, *, server: str, listen: str, model: str, admins: str) -> str:
    server_host, server_port = _address(server, 5432)
    listen_host, listen_port = _address(listen, 6432)
    return _TEMPLATE.format(
        server_host=_string(server_host),
        server_port=server_port,
        listen_host=_string(listen_host),
        listen_port=listen_port,
        store=_string(store),
        login=_string(login),
        model=_EMBEDDED if model == MODEL.default else _SERVED.format(url=_string(model)),
        admins=_string("" if admins == ADMINS.default else admins),
    )


def _address(text: str, default: int) -> tuple[str, int]:
    """Host and port; the port may be missing, and an IPv6 address with one stands in brackets."""
    host, colon, port = text.strip().rpartition(":")
    if not colon or (":" in host and not host.endswith("]")):
        return text.strip(), default
    if not port.isdecimal():
        fail(f"{text} is no address: write host:port.")
    return host.strip("[]"), int(port)


def _string(text: str) -> str:
    """`text` as TOML's basic string, whose escapes JSON's are among."""
    return json.dumps(text, ensure_ascii=False)


def _write(file: Path, text: str) -> None:
    """Puts the file in place once it has been understood; nobody but its owner reads it."""
    new = file.with_name(f"{file.name}.new")
    try:
        private(new).write_text(text, encoding="utf-8")
        load(new, {})
        new.replace(file)
    except ConfigError as error:
        new.unlink()
        fail(f"{error}.", "Nothing was written: answer the question again.")
    except OSError as error:
        fail(f"{file} cannot be written: {error}.")
