"""`pgparley init`: asks five questions and writes a commented configuration, which it reads back."""

from __future__ import annotations

import getpass
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from pgparley.config import FILE, ConfigError, load
from pgparley.private_file import private
from pgparley.terminal import fail, uri_of
from schema_catalog.dsn import dbname_of, user_of, with_user, without_login
from schema_catalog.login_rights import CATALOG_ROLE, STORE_ROLE
from schema_catalog.naming import quote_ident

_TEMPLATE = """\
# Written by `pgparley init`. Every other key has its default; docs/operations.md says what there is.

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
STORE = Question(
    "Database for catalog and questions (connection string)", f"postgresql://{STORE_ROLE}@/pgparley"
)
MODEL = Question("Language model (URL of a server with OpenAI's protocol, or embedded)", "embedded")
ADMINS = Question("Roles that may do everything on the console (comma-separated, or none)", "none")


def add_init_command(app: typer.Typer, chosen: Callable[[], Path | None]) -> None:
    """Adds the command; `chosen`: the configuration file that stands before it on the command line."""

    @app.command()
    def init(
        *,
        server: Annotated[str | None, typer.Option(help=SERVER.text)] = None,
        listen: Annotated[str | None, typer.Option(help=LISTEN.text)] = None,
        store: Annotated[str | None, typer.Option(help=STORE.text)] = None,
        model: Annotated[str | None, typer.Option(help=MODEL.text)] = None,
        admins: Annotated[str | None, typer.Option(help=ADMINS.text)] = None,
        yes: Annotated[
            bool,
            typer.Option("--yes", "-y", help="Ask nothing: the default is taken for what no option says."),
        ] = False,
        force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    ) -> None:
        """Ask five questions and write a commented configuration (--config FILE, else ./pgparley.toml)."""
        file = chosen() or Path(FILE)
        if file.exists() and not force:
            fail(
                f"{file} is there already.",
                "To replace it, add --force; for another one: --config FILE init.",
            )
        text = _text(
            server=SERVER.answer(server, ask=not yes),
            listen=LISTEN.answer(listen, ask=not yes),
            store=(uri := uri_of(STORE.answer(store, ask=not yes))),
            model=MODEL.answer(model, ask=not yes),
            admins=ADMINS.answer(admins, ask=not yes),
        )
        _write(file, text)
        typer.echo(
            f"{file} is written. A superuser makes its roles and its store, once, in psql:\n\n{_sql(uri)}\n"
        )
        typer.echo(f"See whether it works: pgparley --config {file} check")


def _text(*, server: str, listen: str, store: str, model: str, admins: str) -> str:
    server_host, server_port = _address(server, 5432)
    listen_host, listen_port = _address(listen, 6432)
    return _TEMPLATE.format(
        server_host=_string(server_host),
        server_port=server_port,
        listen_host=_string(listen_host),
        listen_port=listen_port,
        store=_string(store),
        login=_string(with_user(without_login(store), CATALOG_ROLE)),
        model=_EMBEDDED if model == MODEL.default else _SERVED.format(url=_string(model)),
        admins=_string("" if admins == ADMINS.default else admins),
    )


def _sql(store: str) -> str:
    role, database = quote_ident(user_of(store) or getpass.getuser()), dbname_of(store) or STORE_ROLE
    return (
        f"CREATE ROLE {role} LOGIN; CREATE ROLE {CATALOG_ROLE} LOGIN; CREATE ROLE nl_admin; CREATE ROLE nl_steward;\n"
        f"CREATE DATABASE {quote_ident(database)} OWNER {role};"
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
