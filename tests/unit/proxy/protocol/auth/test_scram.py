"""SCRAM by the vectors of RFC 7677, and against every way to break it that we know."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.protocol.auth import scram
from proxy.protocol.auth.scram import (
    PLAIN,
    PLUS,
    ClientExchange,
    ClientKeys,
    ScramError,
    ServerExchange,
    Verifier,
)

# RFC 7677, 3.
KEY = "A" * 43 + "="
SALT = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
CLIENT_FIRST = b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
SERVER_NONCE = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
SERVER_FIRST = b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
CLIENT_FINAL = (
    b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
    b"p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
)
SERVER_FINAL = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
VERIFIER = Verifier.of_password("pencil", SALT)


def server(binding: bytes | None = None, *, genuine: bool = True) -> ServerExchange:
    return ServerExchange(VERIFIER, SERVER_NONCE, binding=binding, genuine=genuine)


def answered(ours: ClientExchange, message: bytes, secret: str | ClientKeys) -> bytes:
    salt, iterations = ours.challenged(message)
    if isinstance(secret, str):
        secret = scram.KeyDerivation(secret, salt, iterations).keys()
    return ours.final(secret)


def test_the_rfcs_exchange_and_a_made_up_verifier_that_fails_at_its_end_alone() -> None:
    exchange = server()
    assert exchange.first(PLAIN, CLIENT_FIRST) == SERVER_FIRST
    final, keys = exchange.final(CLIENT_FINAL)
    assert final == SERVER_FINAL
    assert keys == ClientKeys.of_password("pencil", SALT, 4096)
    exchange = server(genuine=False)
    assert exchange.first(PLAIN, CLIENT_FIRST) == SERVER_FIRST
    with pytest.raises(ScramError):
        exchange.final(CLIENT_FINAL)


@pytest.mark.parametrize(("offered", "bound"), [(None, None), (b"hash", b"hash")])
@pytest.mark.parametrize("secret", ["pencil", ClientKeys.of_password("pencil", SALT, 4096)])
def test_both_sides_of_ours_agree(
    offered: bytes | None, bound: bytes | None, secret: str | ClientKeys
) -> None:
    ours, theirs = ClientExchange("abc", binding=bound), server(offered)
    mechanism, first = ours.first(theirs.mechanisms)
    assert mechanism == (PLAIN if bound is None else PLUS)
    final, _ = theirs.final(answered(ours, theirs.first(mechanism, first), secret))
    ours.verify(final)


def test_another_certificate_in_between_or_a_removed_offer_is_noticed() -> None:
    ours, theirs = ClientExchange("abc", binding=b"one"), server(b"other")
    mechanism, first = ours.first(theirs.mechanisms)
    with pytest.raises(ScramError, match="channel binding"):
        theirs.final(answered(ours, theirs.first(mechanism, first), "pencil"))
    ours = ClientExchange("abc", binding=b"one")
    mechanism, first = ours.first((PLAIN,))
    with pytest.raises(ScramError, match="did not see"):
        server(b"one").first(mechanism, first)


@pytest.mark.parametrize(
    "message",
    [
        b"", b"n", b"n,", b"n,,", b"n,,n=user", b"n,,r=abc", b"n,,n=user,r=", b"n,,n=user,r=a b",
        b"n,,n=user,r=\xc3\xa4", b"n,,n=user,r=abc\0", b"n,,m=x,n=user,r=abc", b"n,a=admin,n=user,r=abc",
        b"x,,n=user,r=abc", b"nn,,n=user,r=abc", b"p=tls-unique,,n=user,r=abc",
        b"p=tls-server-end-point,,n=user,r=abc", b"\xff,,n=user,r=abc", b",,n=user,r=abc",
    ],
)  # fmt: skip
def test_malformed_first_messages(message: bytes) -> None:
    with pytest.raises(ScramError):
        server().first(PLAIN, message)


@pytest.mark.parametrize(
    "message",
    [
        b"",
        CLIENT_FINAL[:-1],
        CLIENT_FINAL + b"=",
        CLIENT_FINAL.replace(b"c=biws", b"c=eSws"),
        CLIENT_FINAL.replace(b"c=biws", b"c=biw"),
        CLIENT_FINAL.replace(b"c=biws", b"c= biws"),
        CLIENT_FINAL.replace(b"$k0", b"$k1"),
        CLIENT_FINAL.replace(b"p=dHz", b"p=dHy"),
        CLIENT_FINAL.replace(b",p=", b",p="[:-1]),
        CLIENT_FINAL.partition(b",p=")[0] + b",p=",
        CLIENT_FINAL.partition(b",p=")[0] + b",p=AAAA",
        CLIENT_FINAL.replace(b",p=", b",p=AA,p="),
        CLIENT_FINAL + b",x=1",
    ],
)
def test_malformed_final_messages(message: bytes) -> None:
    exchange = server()
    exchange.first(PLAIN, CLIENT_FIRST)
    with pytest.raises(ScramError):
        exchange.final(message)


@given(st.binary(max_size=80), st.binary(max_size=80))
def test_noise_is_refused_and_nothing_else(first: bytes, final: bytes) -> None:
    exchange = server()
    with pytest.raises(ScramError):
        exchange.final((exchange.first(PLAIN, first), final)[1])


@pytest.mark.parametrize(
    "message",
    [
        b"r=other,s=W22Z,i=4096", b"r=abc,s=W22Z,i=4096", b"r=abcd,s=,i=0", b"r=abcd,s=!,i=1",
        b"r=abcd,s=W22Z,i=99999999", b"r=abcd,s=W22Z,i=-1", b"r=abcd,i=1,s=W22Z", b"m=ext,r=abcd,s=W22Z,i=1", b"",
    ],
)  # fmt: skip
def test_a_servers_malformed_first_message(message: bytes) -> None:
    ours = ClientExchange("abc", binding=None)
    ours.first((PLAIN,))
    with pytest.raises(ScramError):
        ours.challenged(message)


def test_an_impostor_server_is_noticed() -> None:
    ours = ClientExchange("rOprNGfwEbeRWgbNEkqO", binding=None)
    with pytest.raises(ScramError):
        ours.verify(SERVER_FINAL)
    ours.first((PLAIN,))
    answered(ours, SERVER_FIRST, "pencil")
    for message in (b"", b"v=", SERVER_FINAL, b"e=other-error"):
        with pytest.raises(ScramError):
            ours.verify(message)


@pytest.mark.parametrize(
    "text",
    [
        *("", "SCRAM-SHA-256", "SCRAM-SHA-256$4096:c2FsdA==$AAAA:AAAA", "SCRAM-SHA-256$-1:c2FsdA==$x:y"),
        *(
            f"SCRAM-SHA-256${salted}${KEY}:{KEY}"
            for salted in ("0:c2FsdA==", "99999999:c2FsdA==", "4096:****")
        ),
        f"SCRAM-SHA-1$4096:c2FsdA==${KEY}:{KEY}",
    ],
)
def test_what_is_a_verifier(text: str) -> None:
    assert Verifier.parse(text) is None
    key, raw = base64.b64encode(b"k" * 32).decode(), b"k" * 32
    assert Verifier.parse(f"SCRAM-SHA-256$4096:c2FsdA==${key}:{key}") == Verifier(4096, b"salt", raw, raw)


@pytest.mark.parametrize(
    ("password", "prepared"),
    [
        ("I\u00adX", "IX"),
        ("user", "user"),
        ("\u00aa", "a"),
        ("\u2168", "IX"),
        ("a\u00a0b", "a b"),
        ("\u0007", "\u0007"),
        ("\u0627\u0031", "\u0627\u0031"),
        ("wörd", "wörd"),
        ("\u00ad", "\u00ad"),
    ],
)
def test_saslprep(password: str, prepared: str) -> None:
    """RFC 4013, 3; what it prohibits stays as it is, as in PostgreSQL."""
    assert scram.prepare(password) == prepared.encode()
