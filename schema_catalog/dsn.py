"""Connection strings: libpq's two notations brought to one, and shown without their secrets.

Owns text alone: whether a server answers there is found out by whoever connects.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit

STORE_DATABASE = "pgparley_store"
"""The name that is proposed: the database "pgparley" is the gateway's console."""

_SCHEMES = ("postgresql", "postgres")
_PAIR = re.compile(
    r"\s*(?P<key>\w+)\s*=\s*(?:'(?P<quoted>(?:[^'\\]|\\.)*)'|(?P<bare>(?:[^\s'\\]|\\.)*))(?=\s|\Z)"
)
_SECRET = ("password", "sslpassword", "oauth_client_secret")


class DSNError(Exception):
    """A connection string that cannot be understood; never repeated, since it may hold a password."""


def as_uri(dsn: str) -> str:
    """`dsn`, a libpq URI or keyword string (PostgreSQL docs 32.1.1), as a URI; raises `DSNError`."""
    if "://" in dsn.split("=", 1)[0]:
        if dsn.partition("://")[0] not in _SCHEMES:
            raise DSNError("a connection URI starts with postgresql://")
        if not _is_whole(dsn):
            raise DSNError(
                "the connection URI falls apart: in a password / @ : ? # [ ] % are written "
                "%2F %40 %3A %3F %23 %5B %5D %25, and PGPASSWORD takes any"
            )
        return dsn
    values: dict[str, str] = {}
    rest = dsn.strip()
    while rest:
        match = _PAIR.match(rest)
        if match is None:
            raise DSNError("a connection string is a postgresql:// URI or pairs such as host=… dbname=…")
        raw = match["bare"] if match["quoted"] is None else match["quoted"]
        values[match["key"]] = re.sub(r"\\(.)", r"\1", raw)
        rest = rest[match.end() :].lstrip()
    return _uri(values)


def _is_whole(uri: str) -> bool:
    """Whether `uri` falls into its parts in one way: a mark of the syntax within a password would end it early."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return False
    login, _, server = parts.netloc.rpartition("@")
    stray = "@" in login or login.count(":") > 1 or "@" in parts.path or "#" in uri
    escapes = re.fullmatch(r"(?:[^%]|%[0-9A-Fa-f]{2})*", uri) is not None
    # Hosts may be several, and each may have a port (docs 32.1.1.2).
    ports = [each.rpartition(":")[2] for each in re.sub(r"\[[^]]*\]", "h", server).split(",") if ":" in each]
    return escapes and not stray and all(port.isdecimal() or not port for port in ports)


def _uri(values: dict[str, str]) -> str:
    user, password, dbname = (quote(values.pop(key, ""), safe="") for key in ("user", "password", "dbname"))
    login = user + (f":{password}" if password else "")
    query = urlencode(values, quote_via=quote)
    # A path of "/" alone would be a database without a name to the driver, and hide the one of a service.
    path = f"/{dbname}" if dbname else ""
    return _joined(SplitResult("postgresql", f"{login}@" if login else "", path, query, ""))


def _joined(parts: SplitResult) -> str:
    # urlunsplit() drops the // of an empty server part, which libpq needs.
    return f"{parts.scheme}://{parts.netloc}{parts.path}" + (f"?{parts.query}" if parts.query else "")


def with_dbname(uri: str, dbname: str) -> str:
    """`uri` for another database of the same server."""
    parts = urlsplit(uri)
    return _joined(parts._replace(path=f"/{quote(dbname, safe='')}", query=_without(parts, "dbname")))


def redacted(uri: str) -> str:
    """`uri` to be shown: its passwords are three asterisks; one that no driver could read is one altogether."""
    if not _is_whole(uri):
        return "postgresql://***"
    parts = urlsplit(uri)
    login, at, server = parts.netloc.rpartition("@")
    user, colon, _ = login.partition(":")
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    shown = [(key, "***" if key in _SECRET else value) for key, value in pairs]
    netloc = user + (":***" if colon else "") + at + server
    return _joined(parts._replace(netloc=netloc, query=urlencode(shown, quote_via=quote, safe="*/")))


def dbname_of(uri: str) -> str | None:
    """The database that `uri` names, None where it leaves that to the server."""
    parts = urlsplit(uri)
    return dict(parse_qsl(parts.query)).get("dbname") or unquote(parts.path.lstrip("/")) or None


def user_of(uri: str) -> str | None:
    """The user that `uri` names, None where it leaves that to the client's environment."""
    parts = urlsplit(uri)
    written = parts.netloc.rpartition("@")[0].partition(":")[0]
    return unquote(written) or dict(parse_qsl(parts.query)).get("user")


def password_of(uri: str) -> str:
    """The password that `uri` holds itself; empty where it is elsewhere, such as in a file that it names."""
    parts = urlsplit(uri)
    written = parts.netloc.rpartition("@")[0].partition(":")[2]
    return unquote(written) or dict(parse_qsl(parts.query)).get("password", "")


_PROOFS = ("passfile", "sslcert", "sslkey", "sslpassword")
"""Where a DSN has what proves a user, besides the password."""


def without_login(uri: str, *, proofs: bool = False) -> str:
    """`uri` without its user and its password, nor its password file and client certificate but with `proofs`."""
    parts = urlsplit(uri)
    kept = _without(parts, "user", "password", *(() if proofs else _PROOFS))
    return _joined(parts._replace(netloc=parts.netloc.rpartition("@")[2], query=kept))


def only_named(uri: str, environment: Mapping[str, str], home: Path | None) -> str | None:
    """The driver's `password` with which a connection shows no secret but those that `uri` names.

    Raises `DSNError` where the driver would show one all the same: it looks in `environment`, then below `home`.
    """
    query = dict(parse_qsl(urlsplit(uri).query))
    named = bool({"passfile", "service"} & query.keys())
    if named and not password_of(uri) and environment.get("PGPASSWORD"):
        raise DSNError(
            "PGPASSWORD would go before what the connection string names: it belongs to the store alone"
        )
    certificate = environment.get("PGSSLCERT") or (home and (home / ".postgresql/postgresql.crt").exists())
    encrypted = query.get("sslmode", environment.get("PGSSLMODE", "prefer")) != "disable" and not by_socket(
        uri
    )
    if certificate and encrypted and not {"sslcert", "service"} & query.keys():
        raise DSNError(
            "the service's own client certificate (PGSSLCERT, ~/.postgresql) would be shown: name it by sslcert in "
            "the connection strings that need it, and keep it elsewhere"
        )
    return None if named or password_of(uri) else ""


def with_user(uri: str, user: str, password: str = "") -> str:
    """`uri` for another user; without a new `password` the one that it has stays."""
    parts = urlsplit(uri)
    login, _, server = parts.netloc.rpartition("@")
    kept = quote(password, safe="") or login.partition(":")[2]
    netloc = f"{quote(user, safe='')}{':' if kept else ''}{kept}@{server}"
    return _joined(parts._replace(netloc=netloc, query=_without(parts, "user")))


def by_socket(uri: str) -> bool:
    """Whether `uri` leads to a Unix socket, or leaves to the client's environment where it leads."""
    parts = urlsplit(uri)
    host = parts.hostname or dict(parse_qsl(parts.query)).get("host") or "/"
    return host.startswith("/")


_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
CLEAR = "the password may cross the network unencrypted: sslmode=verify-full (with sslrootcert) or require keeps it"
"""What a warning says where `in_the_clear`."""

_ENCRYPTED = frozenset({"require", "verify-ca", "verify-full"})


def in_the_clear(uri: str) -> bool:
    """Whether a password may go to another machine unencrypted: a `sslmode` that does without TLS (docs 32.19.3)."""
    if by_socket(uri) or urlsplit(uri).hostname in _LOCAL:
        return False
    query = dict(parse_qsl(urlsplit(uri).query))
    return query.get("host") not in _LOCAL and query.get("sslmode", "prefer") not in _ENCRYPTED


def _without(parts: SplitResult, *keys: str) -> str:
    kept = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair[0] not in keys]
    return urlencode(kept, quote_via=quote)
