"""The console's commands: text to values, and the rights that each needs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto

from engine.values.messages import ErrorReply


class Rights(Enum):
    """The rights of a console user."""

    ADMIN = auto()
    STATS = auto()


@dataclass(frozen=True, slots=True)
class ShowView:
    """SHOW of a view, in lower case."""

    view: str


@dataclass(frozen=True, slots=True)
class AdminCommand:
    """A command that changes something; `argument` is empty where there is none."""

    verb: str
    argument: str


@dataclass(frozen=True, slots=True)
class Ignored:
    """A command of drivers that has no effect. `status`: the transaction status after it, None: as before."""

    tag: str
    status: str | None = None


@dataclass(frozen=True, slots=True)
class Empty:
    """Nothing but white space and comments."""


@dataclass(frozen=True, slots=True)
class SetSetting:
    """SET of one of our settings."""

    key: str
    value: str


ConsoleCommand = ShowView | AdminCommand | SetSetting | Ignored | Empty

ADMIN_COMMANDS = {
    "disable": True,
    "enable": True,
    "kill": None,
    "kill_client": True,
    "pause": None,
    "reconnect": None,
    "reload": False,
    "resume": None,
    "shutdown": None,
    "wait_close": None,
}
"""Verb → whether it has an argument; None: it may."""

SETTINGS_OF_DRIVERS = {
    "application_name": "",
    "client_encoding": "UTF8",
    "datestyle": "ISO",
    "default_transaction_isolation": "read committed",
    "extra_float_digits": "2",
    "standard_conforming_strings": "on",
    "timezone": "GMT",
    "transaction_isolation": "read committed",
}
"""Settings of PostgreSQL that drivers set or read when they connect → value that SHOW gives."""

_SPACE = r"(?:\s|--[^\n]*(?:\n|$)|/\*.*?\*/)"
_WORD = r'("(?:[^"]|"")*"|[\w.$-]+)'
_COMMAND = re.compile(
    rf"{_SPACE}*([a-zA-Z_]+)(?:{_SPACE}+{_WORD})?(?:{_SPACE}+{_WORD})?{_SPACE}*;?{_SPACE}*", re.DOTALL
)
_EMPTY = re.compile(rf"{_SPACE}*;?{_SPACE}*", re.DOTALL)
_SET = re.compile(
    rf"{_SPACE}*set{_SPACE}+(?:session{_SPACE}+)?{_WORD}{_SPACE}*(?:=|to){_SPACE}*(.*)",
    re.DOTALL | re.IGNORECASE,
)
_VALUE = re.compile(rf"(?:('(?:[^']|'')*')|([^\s';]+)){_SPACE}*;?{_SPACE}*", re.DOTALL)
_TRANSACTIONS = {"begin": "T", "start": "T", "commit": "I", "end": "I", "rollback": "I", "abort": "I"}
_TAGS = {"start": "BEGIN", "end": "COMMIT", "abort": "ROLLBACK"}


_NOT_HERE = {
    "suspend": ErrorReply(
        "0A000",
        "SUSPEND is not supported",
        hint="PAUSE lets no new session begin. A new version needs neither: pgparley restart takes over the sockets.",
    ),
    "show fds": ErrorReply(
        "0A000",
        "SHOW FDS is not supported",
        hint="Nobody has to ask for the sockets: pgparley restart hands the listening ones to new workers.",
    ),
}
"""Commands of PgBouncer's console that ours refuses → error."""


_ELSEWHERE = (
    "This is the gateway's console. SQL and questions go to a database of the server (psql: \\c NAME),"
    " nl_catalog to the store's (pgparley_store, unless [engine] store says otherwise)."
)


class ConsoleError(Exception):
    """The command cannot be carried out; `reply` goes to the client."""

    def __init__(self, reply: ErrorReply) -> None:
        super().__init__(reply.message)
        self.reply = reply


def parse(text: str, views: frozenset[str]) -> ConsoleCommand:
    """The command that `text` holds; `views` are the names that SHOW knows. Raises `ConsoleError`: it is none."""
    if _EMPTY.fullmatch(text):
        return Empty()
    if (setting := _SET.fullmatch(text)) is not None:
        return _set(_name(setting[1]).lower(), setting[2])
    match = _COMMAND.fullmatch(text)
    if match is None:
        raise _unknown(text)
    verb = match[1].lower()
    argument, more = _name(match[2]), _name(match[3])
    refused = _NOT_HERE.get(f"{verb} {argument.lower()}" if verb == "show" else verb)
    if refused is not None:
        raise ConsoleError(refused)
    if verb in ("show", "select"):
        return _show(argument.lower(), more, views)
    if verb in _TRANSACTIONS:
        return Ignored(_TAGS.get(verb, verb.upper()), _TRANSACTIONS[verb])
    if verb in ("discard", "reset", "deallocate"):
        return Ignored(verb.upper())
    takes = ADMIN_COMMANDS.get(verb)
    fits = not more and (bool(argument) is takes if takes is not None else True)
    if verb not in ADMIN_COMMANDS or not fits:
        raise _unknown(text)
    if verb == "shutdown" and argument.lower() not in ("", "wait_for_clients", "wait_for_servers"):
        raise _unknown(text)
    return AdminCommand(verb, argument)


def _show(view: str, more: str, views: frozenset[str]) -> ShowView:
    # pgjdbc and others ask in PostgreSQL's words.
    known = {"transaction": "transaction_isolation", "time": "timezone"}
    name = known.get(view, view) if more else view
    if name not in views and name not in SETTINGS_OF_DRIVERS:
        raise _unknown(f"SHOW {view}")
    return ShowView(name)


def _set(key: str, rest: str) -> ConsoleCommand:
    if key in SETTINGS_OF_DRIVERS or key in ("session", "names"):
        return Ignored("SET")
    value = _VALUE.fullmatch(rest)
    if value is None:
        raise _unknown(f"SET {key}")
    quoted = value[1]
    return SetSetting(key, value[2] or "" if quoted is None else quoted[1:-1].replace("''", "'"))


def check_rights(command: ConsoleCommand, rights: Rights, for_admins: frozenset[str]) -> None:
    """Refuses what `rights` do not cover: all but SHOW, and the views `for_admins`. Raises `ConsoleError`."""
    wants = isinstance(command, AdminCommand | SetSetting) or (
        isinstance(command, ShowView) and command.view in for_admins
    )
    if wants and rights is not Rights.ADMIN:
        raise ConsoleError(
            ErrorReply(
                "42501", "admin access needed", hint="The operator lists administrators in admin_users."
            )
        )


def _name(text: str | None) -> str:
    if text is None:
        return ""
    return text[1:-1].replace('""', '"') if text.startswith('"') else text


def _unknown(text: str) -> ConsoleError:
    shown = text.strip()[:100]
    return ConsoleError(ErrorReply("42601", f"invalid command '{shown}', use SHOW HELP;", hint=_ELSEWHERE))
