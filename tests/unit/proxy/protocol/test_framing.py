"""Where whole messages end, under the bounds of each login."""

from __future__ import annotations

import pytest

from proxy.protocol import codec
from proxy.protocol.framing import (
    HEADER,
    RESPONSE,
    ProtocolViolationError,
    message_end,
    responses,
    unexpected_response,
)

FIRST, SECOND = codec.message(b"p", b"secret\0"), codec.message(b"p", b"more\0")


class UnknownServerError(Exception):
    """What a caller may want raised instead."""


def test_messages_are_found_one_after_another() -> None:
    data = FIRST + SECOND
    assert message_end(data) == len(FIRST)
    assert message_end(data, len(FIRST)) == len(data)
    assert message_end(data, len(data)) is None


@pytest.mark.parametrize("missing", range(1, len(FIRST) + 1))
def test_a_message_that_is_not_whole_has_no_end_yet(missing: int) -> None:
    assert message_end(FIRST[:-missing]) is None


@pytest.mark.parametrize(("length", "fits"), [(3, False), (4, True), (10, True), (11, False)])
def test_a_limit_bounds_the_length_word_before_the_body_has_come(length: int, fits: bool) -> None:  # noqa: FBT001
    head = HEADER.pack(RESPONSE, length)
    if fits:
        assert message_end(head, limit=10) == (len(head) if length == 4 else None)
    else:
        with pytest.raises(ProtocolViolationError, match="invalid message length"):
            message_end(head, limit=10)


def test_without_a_limit_no_length_is_refused() -> None:
    assert message_end(HEADER.pack(ord("R"), 0xFFFF_FFFF)) is None
    assert message_end(HEADER.pack(ord("R"), 0)) == 1


def test_what_is_refused_and_as_what() -> None:
    with pytest.raises(ProtocolViolationError, match="expected a password response"):
        message_end(codec.message(b"Q", b"\0"), kind=RESPONSE, limit=100, error=unexpected_response)
    with pytest.raises(UnknownServerError):
        message_end(HEADER.pack(ord("R"), 11), limit=10, error=UnknownServerError)
    with pytest.raises(ProtocolViolationError, match="invalid message length"):
        responses(FIRST + HEADER.pack(RESPONSE, 65_536))


def test_responses_end_before_another_kind_or_an_incomplete_one() -> None:
    assert responses(FIRST + SECOND + codec.message(b"S", b"")) == len(FIRST + SECOND)
    assert responses(FIRST + SECOND[:-1]) == len(FIRST)
    assert responses(b"") == 0
