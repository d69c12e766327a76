"""TLS: the settings of both sides as OpenSSL contexts, and the description of an established connection's TLS."""

from __future__ import annotations

import datetime as dt
import hashlib
import ssl
from dataclasses import dataclass, fields
from typing import cast

from proxy.settings import GatewaySettings, TLSMode

ALPN = "postgresql"
"""The protocol name that PostgreSQL registered for direct TLS."""

_VERSIONS = {"tlsv1.2": ssl.TLSVersion.TLSv1_2, "tlsv1.3": ssl.TLSVersion.TLSv1_3}
_SECURE = frozenset({"secure", "default", "all"})


@dataclass(frozen=True, slots=True)
class TLSFiles:
    """The TLS settings of one side, by their names without its own."""

    sslmode: TLSMode
    key_file: str
    cert_file: str
    ca_file: str
    protocols: str
    ciphers: str

    @staticmethod
    def of(settings: GatewaySettings, side: str) -> TLSFiles:
        """Those of `client` or `server`."""
        return TLSFiles(*(getattr(settings, f"{side}_tls_{field.name}") for field in fields(TLSFiles)))


def client_context(settings: GatewaySettings) -> ssl.SSLContext | None:
    """The context for clients; None where TLS is off. Raises `ValueError`: files or settings cannot be used."""
    files = TLSFiles.of(settings, "client")
    if files.sslmode is TLSMode.DISABLE:
        return None
    if not files.cert_file or not files.key_file:
        raise ValueError("client_tls_sslmode needs client_tls_cert_file and client_tls_key_file")
    if files.sslmode.verifies and not files.ca_file:
        raise ValueError(f"client_tls_sslmode = {files.sslmode} needs client_tls_ca_file")
    context = _context(ssl.PROTOCOL_TLS_SERVER, files)
    if files.ca_file:
        context.verify_mode = ssl.CERT_REQUIRED if files.sslmode.verifies else ssl.CERT_OPTIONAL
    return context


def server_context(settings: GatewaySettings) -> ssl.SSLContext | None:
    """The context for the upstream; None where TLS is off. Raises as `client_context` does."""
    files = TLSFiles.of(settings, "server")
    if files.sslmode is TLSMode.DISABLE or settings.upstream_host.startswith("/"):
        return None
    if files.sslmode.verifies and not files.ca_file:
        raise ValueError(f"server_tls_sslmode = {files.sslmode} needs server_tls_ca_file")
    context = _context(ssl.PROTOCOL_TLS_CLIENT, files)
    context.check_hostname = files.sslmode is TLSMode.VERIFY_FULL
    context.verify_mode = ssl.CERT_REQUIRED if files.sslmode.verifies else ssl.CERT_NONE
    return context


@dataclass(frozen=True, slots=True)
class LendingTLS:
    """Of `lend_addr`. `certificate`: in PEM, what the borrower has to see."""

    context: ssl.SSLContext
    certificate: str


def lending(settings: GatewaySettings) -> LendingTLS | None:
    """None where the gateway has no certificate between our parts. Raises as `client_context` does."""
    file = settings.engine_tls_cert_file
    if not file:
        return None
    files = TLSFiles(TLSMode.REQUIRE, settings.engine_tls_key_file, file, "", "secure", "default")
    return LendingTLS(
        _context(ssl.PROTOCOL_TLS_SERVER, files), ssl.DER_cert_to_PEM_cert(certificate_of(file))
    )


def _context(protocol: int, files: TLSFiles) -> ssl.SSLContext:
    context = ssl.SSLContext(protocol)
    context.minimum_version, context.maximum_version = _versions(files.protocols)
    context.set_alpn_protocols([ALPN])
    try:
        if protocol == ssl.PROTOCOL_TLS_CLIENT:
            context.check_hostname = False
        if files.ciphers != "default":
            context.set_ciphers(files.ciphers)
        if files.cert_file:
            context.load_cert_chain(files.cert_file, files.key_file or None, password=_no_password)
        if files.ca_file:
            context.load_verify_locations(files.ca_file)
    except OSError as problem:
        names = ", ".join(name for name in (files.cert_file, files.key_file, files.ca_file) if name)
        raise ValueError(f"TLS files or ciphers cannot be used ({names}): {problem}") from problem
    return context


def _no_password() -> str:
    """A key with a password would otherwise be asked for on the terminal."""
    raise ValueError("the TLS key is protected by a password")


def _versions(text: str) -> tuple[ssl.TLSVersion, ssl.TLSVersion]:
    words = {word.strip().lower() for word in text.split(",")}
    if words <= _SECURE:
        return ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3
    if not words <= _VERSIONS.keys():
        raise ValueError(f'TLS protocols "{text}" are not known; use secure, tlsv1.2, tlsv1.3')
    chosen = sorted(_VERSIONS[word] for word in words)
    return chosen[0], chosen[-1]


def describe(tls: ssl.SSLObject | None) -> str:
    """A connection's TLS for the console, empty where there is none."""
    if tls is None:
        return ""
    cipher = tls.cipher()
    return f"{tls.version()}/{cipher[0] if cipher else '?'}"


def common_name(tls: ssl.SSLObject | None) -> str | None:
    """The common name of the proven certificate; None without one, or with a NUL or several (CVE-2009-4034)."""
    certificate = tls.getpeercert() if tls is not None else None
    if not certificate:
        return None
    subject = cast("tuple[tuple[tuple[str, str], ...], ...]", certificate.get("subject", ()))
    names = [value for part in subject for key, value in part if key == "commonName"]
    return names[0] if len(names) == 1 and "\0" not in names[0] else None


def end_point(certificate: bytes) -> bytes | None:
    """The binding `tls-server-end-point` of a certificate in DER (RFC 5929, 4.1); None where none is defined.

    It is the certificate's hash by the function of its signature; MD5 and SHA-1 become SHA-256. Signatures without such
    a function, as Ed25519 and Ed448, have none: libpq cannot log in where channel binding is offered then.
    """
    name = _signature_hash(certificate)
    return None if name is None else hashlib.new(name, certificate).digest()


def expiry(certificate: bytes) -> dt.datetime:
    """When a certificate in DER ends: tbsCertificate's validity, behind version, number, algorithm and issuer."""
    pos, _ = _der(certificate, _der(certificate, 0)[0])
    for _ in range(4 if certificate[pos] == _FIRST_FIELD else 3):
        pos = _der(certificate, pos)[1]
    last = _der(certificate, _der(certificate, pos)[0])[1]
    start, end = _der(certificate, last)
    text = certificate[start:end].decode("ascii")
    if certificate[last] == _UTC_TIME:
        text = ("20" if text < "50" else "19") + text
    return dt.datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=dt.UTC)


_SHA2 = ("sha224", "sha256", "sha384", "sha512")
_SHA3 = ("sha3_224", "sha3_256", "sha3_384", "sha3_512")
_RSA_PSS = bytes.fromhex("2a864886f70d01010a")


def _numbered(prefix: str, first: int, names: tuple[str, ...]) -> dict[bytes, str]:
    """Object identifiers in DER that differ in their last number, which counts up from `first`."""
    return {bytes.fromhex(prefix) + bytes([number]): name for number, name in enumerate(names, first)}


_SIGNATURE_HASHES = {
    # RSA (RFC 8017, A.2.4): 4 is MD5, 5 is SHA-1.
    **_numbered("2a864886f70d0101", 4, ("sha256", "sha256")),
    **_numbered("2a864886f70d0101", 11, ("sha256", "sha384", "sha512", "sha224", "sha512_224", "sha512_256")),
    # ECDSA (RFC 5758, 3.2) and DSA, with SHA-1 and SHA-2.
    **_numbered("2a8648ce3d04", 1, ("sha256",)),
    **_numbered("2a8648ce3d0403", 1, _SHA2),
    **_numbered("2a8648ce3804", 3, ("sha256",)),
    # NIST's: DSA with SHA-2; DSA, ECDSA and RSA with SHA-3.
    **_numbered("6086480165030403", 1, (*_SHA2, *_SHA3, *_SHA3, *_SHA3)),
}
"""Algorithm of a signature → the hash of the binding."""

_DIGESTS = {
    **_numbered("2b0e0302", 26, ("sha256",)),
    **_numbered("2a864886f70d02", 5, ("sha256",)),
    **_numbered(
        "6086480165030402", 1, ("sha256", "sha384", "sha512", "sha224", "sha512_224", "sha512_256", *_SHA3)
    ),
}
"""Hash function, as RSASSA-PSS names it → the hash of the binding."""


def _signature_hash(certificate: bytes) -> str | None:
    """Certificate ::= SEQUENCE { tbsCertificate, signatureAlgorithm SEQUENCE { OID, parameters }, … } (RFC 5280)."""
    body, _ = _der(certificate, 0)
    _, after = _der(certificate, body)
    oid, parameters, end = _algorithm(certificate, after)
    if oid != _RSA_PSS:
        return _SIGNATURE_HASHES.get(oid)
    # RSASSA-PSS-params ::= SEQUENCE { [0] AlgorithmIdentifier DEFAULT sha1, … } (RFC 4055, 3.1)
    if parameters < end:
        field, end = _der(certificate, parameters)
        if field < end and certificate[field] == _FIRST_FIELD:
            oid, _, _ = _algorithm(certificate, _der(certificate, field)[0])
            return _DIGESTS.get(oid)
    return "sha256"


_FIRST_FIELD = 0xA0
"""The tag [0] of a constructed value."""

_UTC_TIME = 0x17
"""The tag of a time whose year has two digits, up to 2049."""


def _algorithm(data: bytes, pos: int) -> tuple[bytes, int, int]:
    """The OID of an AlgorithmIdentifier, where its parameters begin, and where it ends."""
    inside, end = _der(data, pos)
    start, after = _der(data, inside)
    return data[start:after], after, end


def _der(data: bytes, pos: int) -> tuple[int, int]:
    length = data[pos + 1]
    if length < 0x80:  # noqa: PLR2004 - X.690, 8.1.3: the short form
        return pos + 2, pos + 2 + length
    size = length & 0x7F
    start = pos + 2 + size
    return start, start + int.from_bytes(data[pos + 2 : start], "big")


def certificate_of(file: str) -> bytes:
    """The first certificate of a PEM file, in DER. Raises `ValueError`: there is none."""
    try:
        with open(file, encoding="ascii") as source:  # noqa: PTH123 - one read, no path arithmetic
            text = source.read()
        begin = text.index("-----BEGIN CERTIFICATE-----")
        end = text.index("-----END CERTIFICATE-----") + len("-----END CERTIFICATE-----")
    except (OSError, ValueError) as problem:
        raise ValueError(f"{file} holds no certificate: {problem}") from problem
    return ssl.PEM_cert_to_DER_cert(text[begin:end] + "\n")
