"""What keeps `pgparley serve` from starting is said before anything is started."""

from __future__ import annotations

import datetime as dt
import socket
from pathlib import Path

import pytest
import structlog
import trustme

from pgparley.config import load
from pgparley.processes import PartKind
from pgparley.serve import parts
from pgparley.serve_command import CannotStartError, serve_parts
from proxy.net.tls import certificate_of, expiry


def test_a_runtime_directory_that_no_socket_fits_in(tmp_path: Path) -> None:
    folder = tmp_path / ("d" * 100)
    config = load(None, {"XDG_RUNTIME_DIR": str(folder)})
    with pytest.raises(CannotStartError, match="too long for the sockets in it") as problem:
        serve_parts(config, None, PartKind.GATEWAY)
    assert "runtime_dir" in problem.value.hint


def test_the_model_and_the_engine_share_a_key_of_their_own() -> None:
    keys = [
        [each.environment.get("PGPARLEY_MODEL_API_KEY", "") for each in parts(load(None, environment))]
        for environment in ({}, {}, {"PGPARLEY_MODEL_API_KEY": "mine"})
    ]
    drawn = [{key for key in each if key} for each in keys]
    assert [len(each) for each in drawn] == [1, 1, 1]
    assert drawn[0] != drawn[1]
    assert all(len(key) == 64 for key in drawn[0])
    assert keys[2] == ["", "mine", "mine"]


def certificate(file: Path, ends: dt.datetime | None = None) -> None:
    """Writes one with its key."""
    made = trustme.CA().issue_cert("localhost", not_after=ends)
    made.private_key_and_cert_chain_pem.write_to_path(str(file))
    file.chmod(0o600)


@pytest.mark.parametrize("days", [-1, 1, 365 * 30])
def test_an_expired_certificate_is_warned_of(tmp_path: Path, days: int) -> None:
    """It ends nothing: clients that do not verify it come in. Past 2049 a year has four digits."""
    ends = dt.datetime.now(dt.UTC).replace(microsecond=0) + dt.timedelta(days=days)
    certificate(tmp_path / "own", ends)
    assert expiry(certificate_of(str(tmp_path / "own"))) == ends
    file = tmp_path / "pgparley.toml"
    file.write_text(
        f"""[gateway]
client_tls_sslmode = "require"
client_tls_cert_file = "{tmp_path}/own"
client_tls_key_file = "{tmp_path}/own"
listen_addr = "203.0.113.1"
"""
    )
    with structlog.testing.capture_logs() as logs:
        refused(file, "203.0.113.1|assign requested address")
    assert ("certificate_expired" in {each["event"] for each in logs}) == (days < 0)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('client_tls_sslmode = "require"', "needs client_tls_cert_file"),
        (
            'client_tls_sslmode = "require"\nclient_tls_cert_file = "FILE"\nclient_tls_key_file = "FILE"',
            "cannot be used",
        ),
        ('server_tls_sslmode = "verify-ca"\nserver_tls_ca_file = "FILE"', "cannot be used"),
        ('server_tls_sslmode = "require"\nserver_tls_ciphers = "NONSENSE"', "cannot be used"),
        ('server_tls_sslmode = "require"\nserver_tls_protocols = "ssl3"', "not known"),
        ('auth_type = "scram-sha-256"\nauth_file = "FILE/none"', "cannot read"),
        ('auth_type = "scram-sha-256"\nauth_file = "FILE"', "auth_file: "),
        ('auth_type = "hba"\nauth_hba_file = "FILE"', "auth_hba_file: "),
        ('auth_type = "hba"', "needs auth_hba_file"),
        ('server_require_auth = "md5,!none"', "server_require_auth"),
        ('engine_secret_file = "FILE/none"', "cannot read"),
        ('engine_tls_cert_file = "FILE"', "cannot be used"),
        (
            'client_tls_sslmode = "require"\nclient_tls_cert_file = "OWN"\nclient_tls_key_file = "OTHER"',
            "(?i)key.values.mismatch",
        ),
        (
            'client_tls_sslmode = "require"\nclient_tls_cert_file = "OWN"\nclient_tls_key_file = "FOLDER"',
            "cannot be used",
        ),
        ('auth_type = "scram-sha-256"\nauth_file = "FOLDER"', "cannot read"),
        ("listen_port = BUSY", "already in use"),
        ('listen_addr = "203.0.113.1"', "203.0.113.1|assign requested address"),
        ('lend_addr = "nowhere.invalid"\nlisten_port = 0', "a worker ended with code"),
    ],
)
def test_settings_that_cannot_be_used_end_it(tmp_path: Path, settings: str, said: str) -> None:
    """Without the check a supervisor listened, started worker after worker, and clients hung."""
    (tmp_path / "nonsense").write_text('"alice" nonsense\n')
    file = tmp_path / "pgparley.toml"
    certificate(tmp_path / "own")
    certificate(tmp_path / "other")
    words = {
        "FILE": tmp_path / "nonsense",
        "FOLDER": tmp_path,
        "OWN": tmp_path / "own",
        "OTHER": tmp_path / "other",
    }
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        for word, stands_for in {**words, "BUSY": busy.getsockname()[1]}.items():
            settings = settings.replace(word, str(stands_for))
        file.write_text(f"[gateway]\n{settings}\n")
        refused(file, said)


def refused(file: Path, said: str) -> None:
    """`pgparley serve gateway` ends with it."""
    with pytest.raises(CannotStartError, match=said):
        serve_parts(load(file, {"XDG_RUNTIME_DIR": str(file.parent)}), file, PartKind.GATEWAY)
