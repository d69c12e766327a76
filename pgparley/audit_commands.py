"""`pgparley audit …` and `pgparley forget`: the key and the proof of the audit log, and the people in it.

Owns also the lines that commands leave in the log, which ask the engine past the gateway.
"""

from __future__ import annotations

import asyncio
import getpass
import gzip
import os
import secrets
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec
import typer

from engine.values.errors import NLError, ReportedError
from engine.values.messages import Asker, AskReply, AskRequest, ErrorReply
from pgparley.config import Config
from pgparley.store_session import run_on_store_as_it_is
from pgparley.terminal import fail, printable
from proxy.audit_chain import Head, Verification, head_of
from proxy.console.reports import ClientReport
from proxy.net import access
from proxy.net.audit_log import AuditLog, AuditTrail
from proxy.net.pseudonyms import People
from proxy.protocol.meter import Delivered

T = TypeVar("T")

Role = Annotated[str, typer.Argument(help="The role.", show_default=False)]
Person = Annotated[str, typer.Option("--on-behalf", help="The person behind it (nl.on_behalf).")]

_KEY_BYTES = 32


def audit_app(config: Callable[[], Config]) -> typer.Typer:
    """The commands; the configuration is asked for when one of them runs."""
    app = typer.Typer(help="The audit log: its key, its proof, its people.", no_args_is_help=True)

    @app.command()
    def key() -> None:
        """Make the file of the chain's key, and the folder of people, where they are missing."""
        _make_key(config())

    @app.command()
    def verify(
        files: Annotated[list[Path], typer.Argument(help="Files of the log, rotated ones as well.")],
        *,
        heads: Annotated[
            Path | None,
            typer.Option("--heads", help="Lines of the syslog, or the file, that [audit] heads names."),
        ] = None,
    ) -> None:
        """Say whether a line was changed, removed or put elsewhere, or the end cut off.

        Exit code: 0 all lines are what they were, 1 not.
        """
        raise typer.Exit(_verify(_key(config()), files, heads))

    @app.command()
    def person(name: Role, *, on_behalf: Person = "") -> None:
        """Say under which pseudonym a person stands in the log."""
        try:
            found = _people(config()).known(Asker(name, "", person=on_behalf).owner)
        except OSError as problem:
            fail(f"cannot read the person's key: {problem}")
        typer.echo(found or fail(f"{name} has no key: there are no lines of theirs, or they were forgotten"))

    return app


def _make_key(config: Config) -> None:
    settings = config.audit
    if not settings.key:
        fail("no key is configured", "Set key in [audit] to the file that this command is to make.")
    try:
        if settings.people:
            Path(settings.people).mkdir(mode=0o700, exist_ok=True)
        number = os.open(settings.key, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(number, "w", encoding="ascii") as made:
            made.write(secrets.token_hex(_KEY_BYTES) + "\n")
    except FileExistsError:
        typer.echo(f"{settings.key} is there already")
    except OSError as problem:
        fail(f"cannot make {problem.filename}: {problem.strerror}", "Make its folder, as the gateway's user.")
    else:
        typer.echo(f"made {settings.key}: keep a copy where the log is not; without it nothing is proved")


def _verify(key: bytes, files: list[Path], heads: Path | None) -> int:
    try:
        found = Verification(key, () if heads is None else _heads(heads))
        for file, lines in sorted(((file, _lines(file)) for file in files), key=lambda each: _begun(each[1])):
            found.read(str(file), lines)
    except (OSError, EOFError) as problem:
        fail(f"cannot read the log: {problem}")
    flaws = found.finish()
    for each in (*found.notes, *flaws):
        typer.echo(printable(each))
    outcome = f"{len(flaws)} flaws" if flaws else "all as they were written"
    typer.echo(f"{found.lines} lines, {found.chains} chains: {outcome}")
    if heads is None:
        typer.echo("Whether the end was cut off cannot be told without --heads.")
    return int(bool(flaws))


def add_forget_command(app: typer.Typer, config: Callable[[], Config]) -> None:
    """Adds `pgparley forget`."""

    @app.command()
    def forget(person: Role, *, on_behalf: Person = "") -> None:
        """Delete what a person asked and taught, and make their lines of the audit log nobody's."""
        _forget(config(), Asker(person, "", person=on_behalf).owner)


def _forget(config: Config, person: str) -> None:
    # Only here: it brings the engine's libraries.
    from engine.app.question_store import Questions  # noqa: PLC0415

    # First what the store has: where it is away all is left as it was.
    count = run_on_store_as_it_is(config.engine.store, lambda pool: Questions(pool).forget(person, None))
    said = (
        f"deleted {count} questions of {person}, as NL FORGET ALL does: history, and what was learned of them"
    )
    typer.echo(printable(said))
    if not config.audit.pseudonyms:
        typer.echo("The audit log has people's names ([audit] pseudonyms = false): its lines stay.")
        return
    try:
        gone = _people(config).forget(person)
    except OSError as problem:
        fail(f"the key of their pseudonym cannot be destroyed: {problem}")
    lines = "whose lines of the audit log theirs are cannot be told any more"
    typer.echo(f"destroyed the key of their pseudonym: {lines}" if gone else "they have no pseudonym")


def _key(config: Config) -> bytes:
    try:
        key = access.audit_key(config.audit)
    except access.AccessError as problem:
        fail(str(problem))
    return key or fail("no key is configured", "Set key in [audit], and run: pgparley audit key")


def _people(config: Config) -> People:
    if not config.audit.pseudonyms:
        fail("people stand in the audit log by name", "Set pseudonyms, people and key in [audit].")
    return People(Path(config.audit.people), _key(config))


def _lines(file: Path) -> list[bytes]:
    data = file.read_bytes()
    return (gzip.decompress(data) if file.suffix == ".gz" else data).splitlines()


def _begun(lines: list[bytes]) -> bytes:
    """The time of the first line: the oldest file comes first."""
    return lines[0].partition(b'"time":"')[2][:29] if lines else b""


def _heads(file: Path) -> list[Head]:
    return [head for line in _lines(file) if (head := head_of(line)) is not None]


# -- what commands leave in the log


@contextmanager
def recorded(config: Config, command: str) -> Iterator[Callable[[str], AuditTrail]]:
    """Gives the trail of the role that a command asks as."""
    try:
        log = AuditLog(config.audit, _lost)
    except (OSError, access.AccessError) as problem:
        fail(f"the audit log cannot be written: {problem}", "Run: pgparley check gateway")
    address = f"local:{getpass.getuser()}"
    try:
        yield lambda user: AuditTrail(
            ClientReport(os.getpid(), user, "", command, "", address, 0, "", 0, "", 0.0), log
        )
    finally:
        log.close()


def _lost() -> None:
    typer.echo("pgparley: the audit log cannot be written: this question is not in it", err=True)


async def answer(
    trail: AuditTrail, request: AskRequest, asking: Awaitable[T], told: Callable[[T], AskReply]
) -> T:
    """The reply to `request`, which the log tells as `told` says, once its line is there; raises `NLError`."""
    trail.begun(request)
    try:
        reply = await asking
    except NLError as error:
        await trail.answered(error.reply())
        raise
    except asyncio.CancelledError:
        trail.dropped()
        raise
    leaves = await trail.answered(told(reply))
    if isinstance(leaves, ErrorReply):
        raise ReportedError(leaves)
    return reply


def shown(trail: AuditTrail, rows: int, reply: object) -> None:
    """The reply has been printed."""
    trail.delivered(Delivered(1, rows, len(msgspec.json.encode(reply)), None))
