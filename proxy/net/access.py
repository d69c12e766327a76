"""Access rules: the settings of logins and TLS with the files that they name, read and checked. They never change."""

from __future__ import annotations

import contextlib
import datetime as dt
import hashlib
import hmac
import os
import secrets
import ssl
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from engine.app.client import EngineAddress
from proxy.net import tls
from proxy.net.peers import is_loopback
from proxy.protocol.auth.client_login import ChallengeInputs
from proxy.protocol.auth.hba import ClientOrigin, HBARule, Method, decide, parse_rules
from proxy.protocol.auth.scram import Verifier
from proxy.protocol.auth.secrets import MockRole, Secret, VisibleTraits, parse_user_list
from proxy.protocol.auth.server_methods import Requirement, parse_requirement
from proxy.protocol.nl.persons import BehalfRules
from proxy.settings import AuditSettings, AuthType, GatewaySettings

CONSOLE_DATABASES = frozenset({"pgparley", "pgbouncer"})
"""Names of the virtual database behind which the console is."""

_NONCE_BYTES = 18
_KEY_BYTES = 32


_LEAST_KEY = 32
"""Characters of a key."""


class AccessError(Exception):
    """The settings of logins, TLS or the audit log cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Access:
    """The rules of logins, on both sides. `traits`: of the secrets in `users`. `lending`: the TLS of `lend_addr`.

    `binding`, `expires`: of our certificate.
    """

    auth_type: AuthType
    rules: tuple[HBARule, ...]
    users: Mapping[str, Secret | None]
    traits: Counter[VisibleTraits]
    admins: frozenset[str]
    statisticians: frozenset[str]
    behalf: BehalfRules
    client_tls: ssl.SSLContext | None
    server_tls: ssl.SSLContext | None
    lending: tls.LendingTLS | None
    requirement: Requirement
    binding: bytes | None
    expires: dt.datetime | None
    mock_key: bytes
    """From which the verifiers of roles without one are made up, the same for every worker."""

    def method(self, origin: ClientOrigin, database: str, user: str) -> Method:
        """The authentication method for this client."""
        if self.auth_type is AuthType.HBA:
            return decide(self.rules, origin, database, user)
        return Method(self.auth_type.value)

    def challenge_inputs(self, user: str, mock_role: MockRole) -> ChallengeInputs:
        """Random values for one login, and a verifier that stays the same for each name, as a real one does."""
        name = user.encode("utf-8", "surrogateescape")
        stored, server = (
            hmac.digest(self.mock_key, word + name, "sha256") for word in (b"stored", b"server")
        )
        # A salt of any size; a sponge needs no construction around its key (FIPS 202).
        salt = hashlib.shake_256(self.mock_key + b"salt" + name).digest(mock_role.salt_size)
        return ChallengeInputs(
            secrets.token_urlsafe(_NONCE_BYTES),
            secrets.token_bytes(4),
            Verifier(mock_role.iterations, salt, stored, server),
            mock_role.asks_scram,
            mock_role.derives_keys,
        )


def load(settings: GatewaySettings) -> Access:
    """Reads the files that `settings` name. Raises `AccessError`."""
    _check(settings)
    with _explained("auth_file: "):
        users = parse_user_list(_text(settings.auth_file)) if settings.auth_file else {}
    with _explained("auth_hba_file: "):
        rules = parse_rules(_text(settings.auth_hba_file)) if settings.auth_hba_file else ()
    with _explained("server_require_auth: "):
        requirement = parse_requirement(settings.server_require_auth)
    with _explained():
        client_tls, server_tls = tls.client_context(settings), tls.server_context(settings)
        lending = tls.lending(settings)
        certificate = None if client_tls is None else tls.certificate_of(settings.client_tls_cert_file)
    return Access(
        auth_type=settings.auth_type,
        rules=rules,
        users=users,
        traits=Counter(VisibleTraits.of(secret) for secret in users.values() if secret is not None),
        admins=_names(settings.admin_users),
        statisticians=_names(settings.stats_users),
        behalf=BehalfRules(_names(settings.on_behalf_users), settings.transaction_pooler),
        client_tls=client_tls,
        server_tls=server_tls,
        lending=lending,
        requirement=requirement,
        binding=None if certificate is None else tls.end_point(certificate),
        expires=None if certificate is None else tls.expiry(certificate),
        mock_key=_mock_key(settings.runtime_dir),
    )


@contextlib.contextmanager
def _explained(where: str = "") -> Iterator[None]:
    """A `ValueError` of the block as an `AccessError`, which says where."""
    try:
        yield
    except ValueError as problem:
        raise AccessError(f"{where}{problem}") from problem


def _check(settings: GatewaySettings) -> None:
    if settings.auth_type is AuthType.HBA and not settings.auth_hba_file:
        raise AccessError("auth_type = hba needs auth_hba_file")
    if settings.auth_type is AuthType.CERT and not settings.client_tls_sslmode.verifies:
        raise AccessError("auth_type = cert needs client_tls_sslmode = verify-ca or verify-full")
    if settings.auth_type in (AuthType.SCRAM, AuthType.MD5) and not (
        settings.auth_file or settings.auth_user
    ):
        raise AccessError(f"auth_type = {settings.auth_type} needs auth_file or auth_user")
    if settings.auth_user and not settings.auth_query:
        raise AccessError("auth_user needs auth_query")
    if settings.auth_query_connections < 1:
        raise AccessError("auth_query_connections is at least 1")
    if settings.max_login_clients < 1:
        raise AccessError("max_login_clients is at least 1")


def _text(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise AccessError(f"cannot read {file}: {problem}") from problem


def _names(text: str) -> frozenset[str]:
    return frozenset(name.strip() for name in text.split(",") if name.strip())


def _mock_key(runtime_dir: str) -> bytes:
    """A random key that all workers share, made by the first. A worker without a runtime directory has its own."""
    fresh = secrets.token_bytes(_KEY_BYTES)
    if not runtime_dir:
        return fresh
    folder = Path(runtime_dir)
    draft, shared = folder / f"mock.key.{os.getpid()}", folder / "mock.key"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft.touch(mode=0o600)
        draft.write_bytes(fresh)
        # Linked when it is complete: no worker reads half a key, and the first link wins.
        with contextlib.suppress(FileExistsError):
            os.link(draft, shared)
        return shared.read_bytes()
    except OSError as problem:
        raise AccessError(f"runtime_dir cannot be used: {problem}") from problem
    finally:
        draft.unlink(missing_ok=True)


def readable_by_others(settings: GatewaySettings) -> list[str]:
    """The gateway's files with secrets that others on this machine can read."""
    keys = (settings.client_tls_key_file, settings.server_tls_key_file, settings.engine_tls_key_file)
    return exposed((settings.auth_file, settings.engine_secret_file, *keys))


def exposed(files: Iterable[str]) -> list[str]:
    """Those of `files` that others can read: a group may what root owns, as of PostgreSQL's key (docs 18.9.1)."""
    return [file for file in files if file and _is_exposed(Path(file))]


def _is_exposed(file: Path) -> bool:
    try:
        about = file.stat()
    except OSError:
        return False
    return bool(about.st_mode & (0o007 if about.st_uid == 0 else 0o077))


def audit_key(settings: AuditSettings) -> bytes:
    """The key of the audit log's chain, empty where there is none; raises `AccessError` where it cannot be used."""
    if not settings.key:
        return b""
    text = _text(settings.key).strip()
    if len(text) < _LEAST_KEY:
        raise AccessError(f"{settings.key} is no key: run `pgparley audit key`, which makes one")
    return text.encode()


def engine_addresses(settings: GatewaySettings) -> tuple[EngineAddress, ...]:
    """Those that `engine` names, in its order; raises `AccessError` where the secret cannot be read."""
    secret = _text(settings.engine_secret_file).strip() if settings.engine_secret_file else ""
    files = (settings.engine_ca_file, settings.engine_tls_cert_file, settings.engine_tls_key_file)
    return tuple(EngineAddress(each, secret, *files) for each in _targets(settings))


def in_the_clear(settings: GatewaySettings) -> list[str]:
    """Where questions, rows and secrets travel between this machine and an engine's without TLS."""
    clear = (each for each in _targets(settings) if each.startswith("http://"))
    open_ = [each for each in clear if not _is_here(urlsplit(each).hostname)]
    lending = settings.lend_addr and not settings.engine_tls_cert_file and not _is_here(settings.lend_addr)
    return [*open_, *([f"lend_addr = {settings.lend_addr}"] if lending else [])]


def _targets(settings: GatewaySettings) -> list[str]:
    return [each.strip() for each in settings.engine.split(",") if each.strip()]


def _is_here(host: str | None) -> bool:
    return host == "localhost" or is_loopback(host or "")
