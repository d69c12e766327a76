"""The compiled scans agree with the Python ones, which are their reference, on every input."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.protocol import codec, framing, scan
from proxy.protocol.backend import Backend
from proxy.protocol.framing import ANY_LENGTH, FRONTEND_LIMITS, passes

compiled = pytest.importorskip("proxy.protocol._scan", reason="the extension was not built")
scanner = compiled.Scanner(scan.NO_TEXT, scan.TO_SYNC, scan.BACKEND_PLAIN)

frontend_kinds = st.sampled_from([bytes([kind]) for kind in FRONTEND_LIMITS])
backend_kinds = st.sampled_from([bytes([kind]) for kind in b"ZESGRK123CDIsTntANHdcWv"])
plain_kinds = st.sampled_from([bytes([kind]) for kind in b"123CDTnIsANc"])
bodies = st.one_of(st.binary(max_size=30), st.text("nNlL_$ aé9\0", max_size=12).map(str.encode))
ready = st.sampled_from(b"ITE").map(lambda status: codec.message(b"Z", bytes([status])))
sync = st.just(codec.message(b"S", b""))
said_by_client = st.lists(st.one_of(st.builds(codec.message, frontend_kinds, bodies), sync), max_size=6)
said_by_server = st.lists(st.one_of(st.builds(codec.message, backend_kinds, bodies), ready), max_size=6)


def cut(draw: st.DataObject, stream: bytes) -> bytes:
    """Any part of a stream, its beginning more often than not."""
    start = draw.draw(st.one_of(st.just(0), st.integers(0, len(stream))))
    return stream[start : draw.draw(st.one_of(st.just(len(stream)), st.integers(start, len(stream))))]


@given(said_by_client, st.data())
def test_frontend(said: list[bytes], data: st.DataObject) -> None:
    chunk = cut(data, b"".join(said))
    assert scanner.frontend(chunk) == scan.frontend(chunk)


@given(st.binary(max_size=60))
def test_frontend_of_garbage(chunk: bytes) -> None:
    assert scanner.frontend(chunk) == scan.frontend(chunk)
    query = codec.message(b"Q", chunk)
    assert scanner.frontend(query) == scan.frontend(query)


@given(said_by_server, st.integers(0, 80), st.data())
def test_backend(said: list[bytes], rest: int, data: st.DataObject) -> None:
    chunk = cut(data, b"".join(said))
    assert scanner.backend(chunk, rest) == scan.backend(chunk, rest)
    assert scanner.backend(chunk, 0) == scan.backend(chunk, 0)


@given(st.binary(max_size=60), st.integers(0, 2**33))
def test_backend_of_garbage(chunk: bytes, rest: int) -> None:
    assert scanner.backend(chunk, rest) == scan.backend(chunk, rest)


@given(st.binary(max_size=60), st.integers(0, 80), st.binary(max_size=10))
def test_hop(chunk: bytes, pos: int, stops: bytes) -> None:
    for table in (passes(FRONTEND_LIMITS, stops), passes(ANY_LENGTH, stops)):
        assert compiled.hop(chunk, pos, table) == framing.hop(chunk, pos, table)


@given(st.lists(st.one_of(st.builds(codec.message, plain_kinds, bodies), ready), max_size=6), st.data())
def test_any_chunking_ends_in_the_same_account(said: list[bytes], data: st.DataObject) -> None:
    """Whether a piece passes by the scan or by the general path: nothing is lost, every cycle is counted."""
    stream = b"".join(said)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=5)))
    made = Backend()
    for _ in said:
        made.replies.forwarded_boundary(ord("Q"))
    got = b""
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        piece = stream[start:end]
        got += piece if made.relay(piece) else b"".join(made.receive(piece))
    assert got == stream
    assert made.replies.cycles == sum(message[:1] == b"Z" for message in said)


def test_a_table_has_its_size() -> None:
    short = array("I", [0] * 255)
    with pytest.raises(ValueError, match="256 entries"):
        compiled.hop(b"", 0, short)
    with pytest.raises(ValueError, match="256 entries"):
        compiled.Scanner(scan.NO_TEXT, short, scan.BACKEND_PLAIN)


def test_positions_are_not_negative() -> None:
    with pytest.raises(ValueError, match="not negative"):
        compiled.hop(b"", -1, scan.NO_TEXT)
    with pytest.raises(ValueError, match="not negative"):
        scanner.backend(b"", -1)
