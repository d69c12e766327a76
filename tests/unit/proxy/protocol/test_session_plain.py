"""What is not for us passes untouched and is accounted for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from engine.values.messages import ErrorReply
from proxy.protocol import codec
from proxy.protocol.commands import Close, Dial, KeyKnown
from proxy.protocol.session_phases import Phase


def test_startup_is_relayed_when_the_server_stands(new_transcript: Callable[[], Any], say: Any) -> None:
    t = new_transcript()
    packet = say.startup(user="ann", database="sales")
    t.client(packet)
    assert [type(command) for command in t.commands] == [Dial]
    assert t.to_server == b""
    t._take(t.session.dialled())
    assert t.to_server == packet


def test_authentication_is_end_to_end(new_transcript: Callable[[], Any], say: Any) -> None:
    t = new_transcript()
    t.client(say.startup(user="ann"))
    t._take(t.session.dialled())
    t.forget()
    challenge = b"R" + bytes.fromhex("0000000c 00000005 01020304")
    password = b"p" + bytes.fromhex("00000008") + b"abc\0"
    t.server(challenge).client(password, say.query("SELECT 1"))
    assert (t.to_client, t.to_server) == (challenge, password)
    t.server(say.authenticated, say.key(b"12345678"))
    assert t.to_server == password + say.query("SELECT 1")
    assert t.commands[-1] == KeyKnown(b"12345678")


@pytest.mark.parametrize(
    "packet",
    [
        bytes.fromhex("00000007 000300"),
        bytes.fromhex("00002715 00030000"),
        bytes.fromhex("0000000c 00030000 61626364"),
        bytes.fromhex("0000000b 00030000 610000"),
        # What comes before a startup packet is dealt with before there is a session.
        bytes.fromhex("00000008 04d2162f"),
        bytes.fromhex("00000010 04d2162e 00000001 00000002"),
    ],
)
def test_malformed_startup_ends_the_session(new_transcript: Callable[[], Any], packet: bytes) -> None:
    t = new_transcript().client(packet)
    assert b"C08P01\0" in t.to_client
    assert isinstance(t.commands[-1], Close)
    assert t.session.phase is Phase.CLOSED


def test_longest_startup_packet_is_taken(new_transcript: Callable[[], Any], say: Any) -> None:
    t = new_transcript().client(say.startup(user="a" * (10_000 - 4 - 7)))
    assert [type(command) for command in t.commands] == [Dial]


@pytest.mark.parametrize("kind", [b"?", b"p", b"\xff", b"\0"])
def test_unknown_message_type_ends_the_session(session: Any, kind: bytes) -> None:
    session.client(kind + bytes.fromhex("00000004"))
    assert session.to_client.startswith(b"E")
    assert b"SFATAL\0" in session.to_client
    assert b"C08P01\0" in session.to_client
    assert isinstance(session.commands[-1], Close)


@pytest.mark.parametrize(("kind", "length"), [(b"Q", 3), (b"S", 10_001), (b"B", 0x3FFFFFFF), (b"E", 0)])
def test_impossible_length_ends_the_session(session: Any, kind: bytes, length: int) -> None:
    session.client(kind + length.to_bytes(4, "big"))
    assert b"invalid message length" in session.to_client


def test_violation_inside_of_a_reply_sends_no_message(session: Any, say: Any) -> None:
    session.client(say.query("SELECT 1")).server(say.row(b"x" * 100)[:50])
    session.client(b"?" + bytes.fromhex("00000004"))
    assert b"08P01" not in session.to_client
    assert isinstance(session.commands[-1], Close)


def test_ordinary_messages_pass(session: Any, say: Any) -> None:
    said = [
        say.query('SELECT only, "unload" FROM t -- NLP'),
        say.parse("SELECT $1", "s", (25,)),
        say.bind(b"NL: no question", name="s"),
        say.describe("P"),
        say.execute,
        say.close("S", "s"),
        say.flush,
        say.sync,
    ]
    session.client(*said)
    assert session.to_server == b"".join(said)
    assert session.consulted == []


def test_bind_data_cannot_pose_as_a_statement(session: Any, say: Any) -> None:
    trap = say.query("NL: trap")
    said = [say.parse("SELECT $1"), say.bind(b"x" * 50 + trap), say.copy_data(trap), say.execute, say.sync]
    session.client(*said)
    assert session.to_server == b"".join(said)
    assert session.consulted == []


def test_row_that_looks_like_ready_for_query_is_none(session: Any, say: Any) -> None:
    session.client(say.query("SELECT 1")).server(say.columns(), say.row(b"abc" + say.ready("E")))
    assert session.session.backend.replies.cycles == 1
    session.server(say.done(), say.ready("T"))
    assert session.session.backend.replies.cycles == 2
    assert session.session.backend.replies.status == ord("T")


def test_long_message_streams_through(session: Any, say: Any) -> None:
    session.client(say.parse("SELECT $1"), say.bind(b"x" * 3000, b"y")[:2000])
    assert len(session.to_server) >= 1990
    session.client(say.bind(b"x" * 3000, b"y")[2000:], say.sync)
    assert session.to_server == say.parse("SELECT $1") + say.bind(b"x" * 3000, b"y") + say.sync


def test_failed_dial_is_told(new_transcript: Callable[[], Any], say: Any) -> None:
    t = new_transcript().client(say.startup(user="ann"))
    t._take(t.session.dial_failed(ErrorReply("08001", "no server")))
    assert b"C08001\0" in t.to_client
    assert isinstance(t.commands[-1], Close)


@pytest.mark.parametrize("body", [b"", b"client_encoding", b"client_encoding\0"])
def test_parameter_status_without_a_value_passes(session: Any, say: Any, body: bytes) -> None:
    """Found by the fuzzer: what the server says is the client's to judge."""
    said = codec.message(b"S", body)
    session.server(said)
    assert session.to_client == said
