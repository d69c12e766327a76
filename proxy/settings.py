"""The settings of a gateway worker. Where a key means what PgBouncer's does, it has PgBouncer's name."""

from __future__ import annotations

from dataclasses import MISSING, asdict, dataclass, fields
from enum import StrEnum

import msgspec


class TLSMode(StrEnum):
    """How much a side insists on TLS."""

    DISABLE = "disable"
    ALLOW = "allow"
    PREFER = "prefer"
    REQUIRE = "require"
    VERIFY_CA = "verify-ca"
    VERIFY_FULL = "verify-full"

    @property
    def insists(self) -> bool:
        """Whether a connection without TLS is refused."""
        return self in _INSISTING

    @property
    def verifies(self) -> bool:
        """Whether the other side has to show a certificate that a trusted authority signed."""
        return self in (TLSMode.VERIFY_CA, TLSMode.VERIFY_FULL)


_INSISTING = frozenset({TLSMode.REQUIRE, TLSMode.VERIFY_CA, TLSMode.VERIFY_FULL})


class AuthType(StrEnum):
    """How clients are authenticated, and by whom."""

    PASSTHROUGH = "passthrough"
    SCRAM = "scram-sha-256"
    MD5 = "md5"
    CERT = "cert"
    TRUST = "trust"
    HBA = "hba"


class AuditRedaction(StrEnum):
    """What the audit log leaves out."""

    NONE = "none"
    LITERALS = "literals"
    """Constants of statements; of questions what is quoted, numbers, and words that stand in such a constant."""
    QUESTIONS = "questions"
    """Constants of statements, and whole questions."""


@dataclass(frozen=True, slots=True)
class AuditSettings:
    """`[audit]`: where NL statements are written down, a JSON object a line, and how that is proved.

    `log`: a file, or `syslog`, or `syslog:` and the path of its socket; empty: nowhere. `before`: without its line in
    the log, on the disk, no answer leaves. `key`: the file of the key of the chain; empty: none. `heads`: where each
    minute the chain's head goes, as `log`. `pseudonyms`: roles stand in it as pseudonyms, by a key each in the folder
    `people`.
    """

    log: str = ""
    redact: AuditRedaction = AuditRedaction.LITERALS
    before: bool = False
    key: str = ""
    heads: str = ""
    pseudonyms: bool = False
    people: str = ""

    def __post_init__(self) -> None:
        if self.before and not self.log:
            raise ValueError("before needs log: without one nothing would ever be answered")
        if self.heads and not (self.key and self.log):
            raise ValueError("heads needs log and key: they are of a chain")
        if self.pseudonyms and not (self.key and self.people):
            raise ValueError("pseudonyms needs key and people")


DEFAULT_AUTH_QUERY = (
    "SELECT rolname, CASE WHEN rolvaliduntil < now() THEN NULL ELSE rolpassword END"
    " FROM pg_catalog.pg_authid WHERE rolname = $1 AND rolcanlogin"
)


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    """What one worker is told; `pgparley.config` reads it from file and environment."""

    upstream_host: str
    """Host name of the server, or the directory of its Unix socket where it starts with a slash."""
    upstream_port: int = 5432
    listen_addr: str = "127.0.0.1"
    """Addresses to listen on, separated by commas; `*` for all."""
    listen_port: int = 6432
    """0 lets the system choose a free port."""
    reuse_port: bool = False
    """Whether several workers share the port (`so_reuseport`)."""
    listen_backlog: int = 128
    engine: str = ""
    """The engine: the path of its Unix socket, or a URL; several, separated by commas, over one store. Empty: NL
    statements get 58000."""
    engine_secret_file: str = ""
    """File of the secret that engines on other machines want to be shown."""
    engine_ca_file: str = ""
    """Authorities of their certificates; empty: those that the system trusts."""
    engine_tls_cert_file: str = ""
    """The gateway's own certificate between our parts: engines are shown it, and see it at `lend_addr`."""
    engine_tls_key_file: str = ""
    nl_timeout: float = 60.0
    """Seconds that an NL statement may take where it does not say otherwise itself."""
    nl_progress: float = 5.0
    """Seconds after which a client that waits for an NL statement is told so by a NOTICE, and again each time
    they double. 0 for never."""
    lend_addr: str = ""
    """IP address at which an engine on another machine borrows the sessions that ask; empty: a Unix socket in
    `runtime_dir`. By TLS where `engine_tls_cert_file` is set; else what goes over it is not encrypted."""
    loan_grace: float = 5.0
    """Seconds that a server gets to stop what the engine began in an asker's session; then the session ends."""
    max_question_chars: int = 4000
    server_connect_timeout: float = 15.0
    """Seconds to wait for the upstream's socket."""
    dial_ahead: int = 8
    """Sockets to the server, at most, that a worker dials before their clients come; 0: none. The more clients
    come at once, the more there are; none, where none come."""
    dial_ahead_lifetime: float = 5.0
    """Seconds that such a socket waits at most: less than the server's authentication_timeout. A new
    pg_hba.conf counts for all clients after that time at the latest."""
    shutdown_grace: float = 0.0
    """Seconds after which a shutdown that waits for sessions ends them with 57P01; 0: no limit."""
    log_level: str = "info"
    unix_socket_dir: str = ""
    """Directory of a Unix socket to listen on as well; empty: none."""
    max_client_conn: int = 1000
    """Clients that one worker serves at once; one more gets 53300."""
    max_login_clients: int = 1000
    """Clients of one worker that may be logging in at once; one more gets 53300."""
    client_login_timeout: float = 60.0
    """Seconds from the connection to the end of the login; 0: no limit."""
    runtime_dir: str = ""
    """Directory (mode 700) in which the workers find each other. Empty: the worker stays alone."""
    prometheus_listen: str = ""
    """`address:port` on which `pgparley serve` gives /metrics over HTTP; empty: nowhere."""
    admin_users: str = ""
    """Roles, separated by commas, that may do everything on the console."""
    stats_users: str = ""
    """Roles that may use SHOW on the console, save for what tells about other people."""
    on_behalf_users: str = ""
    """Roles, separated by commas, that may say on whose behalf they ask (`nl.on_behalf`)."""
    transaction_pooler: bool = False
    """Whether a pooler in front has its clients share connections, a transaction each: nl.on_behalf is refused."""
    auth_type: AuthType = AuthType.PASSTHROUGH
    auth_file: str = ""
    """File of `"user" "secret"` lines; a secret is a password, an md5 hash or a SCRAM verifier."""
    auth_hba_file: str = ""
    """File of rules in the manner of pg_hba.conf, for `auth_type = hba`."""
    auth_user: str = ""
    """The role that runs `auth_query`; its own secret is in `auth_file`. Empty: there is no such look-up."""
    auth_query: str = DEFAULT_AUTH_QUERY
    """Gives a role's name and secret for `$1`; a null secret means that the role may not log in."""
    auth_query_ttl: float = 5.0
    """Seconds that the answer about a role is remembered, also that there is none; 0: not at all."""
    auth_query_connections: int = 2
    """Connections for `auth_query` that one worker has at once, at most."""
    auth_dbname: str = "postgres"
    """The database in which `auth_query` runs and to which a console user logs in to be known."""
    client_tls_sslmode: TLSMode = TLSMode.DISABLE
    client_tls_key_file: str = ""
    client_tls_cert_file: str = ""
    client_tls_ca_file: str = ""
    """Authorities of clients' certificates."""
    client_tls_protocols: str = "secure"
    """`secure` (1.2 and newer), or a list of tlsv1.2 and tlsv1.3."""
    client_tls_ciphers: str = "default"
    """`default`, or a list in OpenSSL's notation, for TLS 1.2."""
    server_tls_sslmode: TLSMode = TLSMode.DISABLE
    server_tls_key_file: str = ""
    server_tls_cert_file: str = ""
    server_tls_ca_file: str = ""
    """Authorities of the server's certificate."""
    server_tls_protocols: str = "secure"
    server_tls_ciphers: str = "default"
    server_require_auth: str = ""
    """What the server may ask for: password, md5, gss, sspi, scram-sha-256, oauth, none, or each with ! for what it
    may not. Empty: all but password, md5 and oauth; these too where the server's certificate is verified, on a
    loopback address and on a Unix socket."""


FIXED = frozenset(
    {
        "engine",
        "engine_ca_file",
        "engine_secret_file",
        "engine_tls_cert_file",
        "engine_tls_key_file",
        "lend_addr",
        "listen_addr",
        "listen_backlog",
        "listen_port",
        "log_level",
        "prometheus_listen",
        "reuse_port",
        "runtime_dir",
        "unix_socket_dir",
    }
)
"""Settings that RELOAD does not change; a rolling restart changes those that are not about listening."""


_MOST = 2**31
"""Numbers of the console are below it: no NaN, no infinity."""


def changes(before: GatewaySettings, after: GatewaySettings) -> list[str]:
    """The settings that differ and that RELOAD does not change."""
    return sorted(key for key in FIXED if getattr(before, key) != getattr(after, key))


def assigned(settings: GatewaySettings, key: str, value: str) -> GatewaySettings:
    """`settings` with one changed, read from text.

    Raises:
        ValueError: There is no such setting, it cannot be changed while the gateway runs, or not to that.
    """
    if key in FIXED:
        raise ValueError(f'setting "{key}" cannot be changed while the gateway runs')
    known = asdict(settings)
    if key not in known:
        raise ValueError(f'unknown setting "{key}"')
    try:
        changed = msgspec.convert({**known, key: value}, GatewaySettings, strict=False)
    except msgspec.ValidationError as problem:
        raise ValueError(f"{key}: {problem}") from problem
    number = getattr(changed, key)
    if isinstance(number, int | float) and not abs(number) < _MOST:
        raise ValueError(f"{key}: the number is out of range")
    return changed


def described(settings: GatewaySettings) -> tuple[tuple[str, str, str, str], ...]:
    """(key, value, default, whether RELOAD changes it) of every setting, for SHOW CONFIG."""
    return tuple(
        (
            field.name,
            _shown(getattr(settings, field.name)),
            "" if field.default is MISSING else _shown(field.default),
            "no" if field.name in FIXED else "yes",
        )
        for field in fields(settings)
    )


def _shown(value: object) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)
