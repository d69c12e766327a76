"""Prewarmed sockets: how many are dialled, which first replies go to the client, and which end in a new socket."""

from __future__ import annotations

import asyncio

import pytest

from engine.values.messages import ErrorReply
from proxy.net.session.server_connection import FirstReplyFilter
from proxy.net.upstream.prewarmed import MIN_AGE, RETRY_SECONDS, PrewarmTarget
from proxy.protocol import codec

REQUEST = codec.message(b"R", bytes(4))
FULL = codec.encode_error(ErrorReply("53300", "sorry, too many clients already"), "utf-8", severity=b"FATAL")
STARTING = codec.encode_error(ErrorReply("57P03", "the database system is starting up"), "utf-8")
NO_ENTRY = codec.encode_error(ErrorReply("28000", "no pg_hba.conf entry"), "utf-8", severity=b"FATAL")


class Transport(asyncio.Transport):
    """Keeps what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.protocol: asyncio.BaseProtocol | None = None
        self.closed = False

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self.protocol = protocol

    def close(self) -> None:
        self.closed = True


class Sink(asyncio.Protocol):
    """The session's own protocol, and who tries."""

    def __init__(self) -> None:
        self.events: list[str | bytes] = []

    def data_received(self, data: bytes) -> None:
        self.events.append(data)

    def server_replied(self) -> None:
        self.events.append("replied")

    def server_silent(self) -> None:
        self.events.append("silent")


def tried(*chunks: bytes) -> tuple[Transport, Sink, FirstReplyFilter]:
    transport, sink = Transport(), Sink()
    reply_filter = FirstReplyFilter(sink, sink)
    reply_filter.connection_made(transport)
    for chunk in chunks:
        reply_filter.data_received(chunk)
    return transport, sink, reply_filter


@pytest.mark.parametrize("word", [REQUEST, NO_ENTRY, REQUEST + FULL])
def test_an_answer_goes_to_the_session_which_stands_alone_from_then_on(word: bytes) -> None:
    transport, sink, _ = tried(word)
    assert sink.events == ["replied", word]
    assert transport.protocol is sink
    assert not transport.closed


@pytest.mark.parametrize("word", [FULL, STARTING])
@pytest.mark.parametrize("cut", [1, 4, 9, 0])
def test_what_may_be_over_by_now_is_not_told(word: bytes, cut: int) -> None:
    """However it is cut into chunks."""
    transport, sink, reply_filter = tried(*([word[:cut], word[cut:]] if cut else [word]))
    reply_filter.connection_lost(None)
    assert sink.events == ["silent"]
    assert transport.closed


@pytest.mark.parametrize("words", [(), (FULL[:20],)])
def test_the_end_without_a_whole_word(words: tuple[bytes, ...]) -> None:
    _, sink, reply_filter = tried(*words)
    reply_filter.connection_lost(None)
    assert sink.events == ["silent"]


def test_nothing_for_nobody_and_none_where_none_are_allowed() -> None:
    assert PrewarmTarget(8).missing(0, 0.0) == 0
    target = PrewarmTarget(0)
    target.served(None)
    assert target.missing(0, 0.0) == 0


def test_it_grows_with_clients_that_came_too_early_and_stops_at_the_most() -> None:
    target = PrewarmTarget(3)
    seen = []
    for age in (None, None, MIN_AGE / 2, None):
        target.served(age)
        seen.append(target.missing(0, 0.0))
    assert seen == [1, 2, 3, 3]


def test_it_stays_where_a_socket_had_waited_long_enough_and_shrinks_with_each_unused() -> None:
    target = PrewarmTarget(8)
    target.served(None)
    target.served(MIN_AGE)
    assert target.count == 1
    assert target.missing(1, 0.0) == 0
    assert target.missing(0, 0.0) == 1
    target = PrewarmTarget(8)
    target.served(None)
    target.served(None)
    seen = []
    for _ in range(3):
        target.unused()
        seen.append(target.count)
    assert seen == [1, 0, 0]


def test_after_a_failure_there_is_a_pause_whatever_comes() -> None:
    target = PrewarmTarget(8)
    target.served(None)
    target.failed(now=100.0)
    target.served(None)
    assert target.missing(0, 100.0 + RETRY_SECONDS / 2) == 0
    assert target.missing(0, 100.0 + RETRY_SECONDS) == 1
