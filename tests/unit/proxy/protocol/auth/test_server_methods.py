"""What the server may ask for, by setting and by what vouches for it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.values.messages import ErrorReply
from proxy.protocol import codec
from proxy.protocol.auth.server_methods import (
    MethodCheck,
    ServerMethod,
    UpstreamRefusedError,
    parse_requirement,
)


def asks(code: int, data: bytes = b"") -> bytes:
    return codec.message(b"R", code.to_bytes(4, "big") + data)


OK = asks(0)
CODES = {
    ServerMethod.PASSWORD: asks(3),
    ServerMethod.MD5: asks(5, b"salt"),
    ServerMethod.GSS: asks(7),
    ServerMethod.SSPI: asks(9),
    ServerMethod.SCRAM: asks(10, b"SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0"),
    ServerMethod.OAUTH: asks(10, b"OAUTHBEARER\0\0"),
    ServerMethod.NONE: OK,
}
ALL = frozenset(ServerMethod)
REVEALING = frozenset({ServerMethod.PASSWORD, ServerMethod.MD5, ServerMethod.OAUTH})


def allowed(text: str, *, trusted: bool) -> frozenset[ServerMethod]:
    """The methods that a server may ask for under `text`."""
    return frozenset(method for method in CODES if refusal(method, text, trusted=trusted) is None)


def refusal(method: ServerMethod, text: str, *, trusted: bool) -> ErrorReply | None:
    method_check = MethodCheck(parse_requirement(text))
    method_check.bind(trusted=trusted)
    try:
        method_check.check(CODES[method])
    except UpstreamRefusedError as problem:
        return problem.reply
    return None


@pytest.mark.parametrize(
    ("text", "untrusted", "trusted"),
    [
        ("", ALL - REVEALING, ALL),
        ("scram-sha-256", {ServerMethod.SCRAM}, {ServerMethod.SCRAM}),
        (" md5 , none", {ServerMethod.MD5, ServerMethod.NONE}, {ServerMethod.MD5, ServerMethod.NONE}),
        ("!password, ! md5", ALL - {"password", "md5"}, ALL - {"password", "md5"}),
        ("!none", ALL - {"none"}, ALL - {"none"}),
    ],
)
def test_what_may_be_asked_for(text: str, untrusted: frozenset[str], trusted: frozenset[str]) -> None:
    assert allowed(text, trusted=False) == untrusted
    assert allowed(text, trusted=True) == trusted


@pytest.mark.parametrize(("method", "text"), [(ServerMethod.MD5, ""), (ServerMethod.NONE, "md5")])
def test_a_refusal_says_what_to_do(method: ServerMethod, text: str) -> None:
    reply = refusal(method, text, trusted=False)
    assert reply is not None
    assert reply.sqlstate == "28000"
    assert f'"{method}"' in reply.message
    assert "server_require_auth" in (reply.hint or "")


@pytest.mark.parametrize("text", ["plain", "md5,", "md5,!none", "!", ",", "SCRAM"])
def test_a_list_that_is_not_understood(text: str) -> None:
    with pytest.raises(ValueError, match=r"list|valid"):
        parse_requirement(text)


@pytest.mark.parametrize("code", [2, 4, 6, 13, 99])
def test_an_unknown_request_is_refused(code: int) -> None:
    method_check = MethodCheck(None)
    method_check.bind(trusted=True)
    with pytest.raises(UpstreamRefusedError, match=f"method {code}"):
        method_check.check(asks(code))


def test_a_second_request_counts_too_and_scram_without_an_end_is_no_login() -> None:
    """A server may not begin with SCRAM and go on with a request for the password."""
    method_check = MethodCheck(None)
    method_check.check(CODES[ServerMethod.SCRAM])
    method_check.check(asks(11, b"r=x"))
    with pytest.raises(UpstreamRefusedError, match="password"):
        method_check.check(asks(3))
    method_check = MethodCheck(parse_requirement("scram-sha-256"))
    method_check.check(CODES[ServerMethod.SCRAM])
    with pytest.raises(UpstreamRefusedError, match="proved itself"):
        method_check.check(OK)


@pytest.mark.parametrize(
    ("messages", "requested"),
    [
        ([OK], None),
        ([asks(3), OK], ServerMethod.PASSWORD),
        ([CODES[ServerMethod.SCRAM], asks(11), asks(12), OK], ServerMethod.SCRAM),
        ([CODES[ServerMethod.OAUTH], OK], ServerMethod.OAUTH),
    ],
)
def test_what_was_asked(messages: list[bytes], requested: ServerMethod | None) -> None:
    method_check = MethodCheck(None)
    method_check.bind(trusted=True)
    for message in messages:
        assert not method_check.ended
        method_check.check(message)
    assert method_check.ended
    assert method_check.requested is requested


@given(st.lists(st.binary(max_size=30).map(lambda body: codec.message(b"R", body)), max_size=5))
def test_noise_never_gets_a_password(messages: list[bytes]) -> None:
    method_check = MethodCheck(None)
    try:
        for message in messages:
            method_check.check(message)
    except UpstreamRefusedError:
        return
    assert method_check.requested not in REVEALING
