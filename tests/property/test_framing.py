"""Framing and lexing hold for every input: no chunking matters, nothing crashes, nothing is lost."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from proxy.protocol import codec, replacement_sql, scan
from proxy.protocol.commands import ToUpstream
from proxy.protocol.framing import FRONTEND_LIMITS, hop, kinds, passes
from proxy.protocol.lexer import dollar_quoted, quoted_name, split, string_value, tokens
from proxy.protocol.nl.classify import examine
from proxy.protocol.session import Session
from proxy.protocol.session_phases import Phase

LOGIN = bytes.fromhex("00000010 00030000 7573657200610000")
READY = bytes.fromhex("52 00000008 00000000 5a 00000005 49")

kind_bytes = st.sampled_from([bytes([kind]) for kind in FRONTEND_LIMITS])
messages = st.builds(codec.message, kind_bytes, st.binary(max_size=40))
quotes = st.text(st.sampled_from("nNlL:;'\"$\\/*-() \nEeUu&aq01.,ü"), max_size=40)
texts = st.one_of(st.text(max_size=40), quotes)


def session() -> Session:
    made = Session(4000, 60.0)
    made.receive_frontend(LOGIN)
    made.dialled()
    made.receive_backend(READY)
    return made


def relayed(made: Session, data: bytes) -> bytes:
    if made.relay_frontend(data):
        return data
    return b"".join(c.data for c in made.receive_frontend(data) if isinstance(c, ToUpstream))


@given(st.lists(messages, max_size=8), st.data())
def test_chunking_does_not_matter(said: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(said)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    whole, pieces = session(), session()
    expected = relayed(whole, stream) if stream else b""
    edges = [0, *cuts, len(stream)]
    got = b"".join(relayed(pieces, stream[a:b]) for a, b in pairwise(edges) if a < b)
    assert got == expected
    assert pieces.phase is whole.phase
    assert pieces.backend.replies.cycles_forwarded == whole.backend.replies.cycles_forwarded
    if whole.phase is Phase.RELAYING and b"nl" not in stream.lower():
        assert expected == stream


@given(st.binary(max_size=200))
def test_garbage_never_raises(data: bytes) -> None:
    made = Session(4000, 60.0)
    made.receive_frontend(data)
    other = session()
    if not other.relay_frontend(data):
        other.receive_frontend(data)
    server = session()
    if not server.relay_backend(data):
        server.receive_backend(data)


@given(st.lists(messages, max_size=8))
def test_hop_finds_every_boundary(said: list[bytes]) -> None:
    stream = b"".join(said)
    open_table = passes(dict.fromkeys(range(256), 2**31), b"")
    assert hop(stream, 0, open_table) == len(stream)
    assert kinds(stream, 0, len(stream)) == b"".join(message[:1] for message in said)


@given(st.lists(messages, min_size=1, max_size=8))
def test_plain_chunk_is_one_cycle_without_nl(said: list[bytes]) -> None:
    boundary = scan.frontend(b"".join(said))
    if boundary:
        found = b"".join(message[:1] for message in said)
        assert found[-1] == boundary
        assert sum(found.count(kind) for kind in (b"Q", b"S", b"F")) == 1
        assert not any(scan.NL_WORD.search(message[5:]) for message in said if message[:1] in b"QP")


@given(texts, st.booleans())
def test_statements_join_to_the_text(text: str, standard_strings: bool) -> None:  # noqa: FBT001 - drawn
    parts = split(text, standard_strings=standard_strings)
    assert ";".join(text[part.start : part.end] for part in parts) == text
    found = tokens(text, standard_strings=standard_strings)
    assert "".join(text[token.start : token.end] for token in found) == text


@given(texts, st.booleans())
def test_examination_never_raises(text: str, standard_strings: bool) -> None:  # noqa: FBT001 - drawn
    found = examine("NL" + text, standard_strings=standard_strings, max_chars=50)
    edges = [edge for finding in found.findings for edge in (finding.start, finding.end)]
    assert edges == sorted(edges)


@given(texts)
def test_quoting_round_trip(value: str) -> None:
    quoted = dollar_quoted(value)
    (token,) = tokens(quoted)
    assert string_value(quoted, token) == value
    (name,) = tokens(quoted_name(value))
    assert name.closed


@given(st.binary(max_size=60), st.lists(st.none() | st.binary(max_size=9), max_size=4))
def test_bind_round_trip(name: bytes, parameters: list[bytes | None]) -> None:
    name = name.replace(b"\0", b"")
    bind = codec.Bind(b"", name, (1,), tuple(parameters), b"\0\0")
    assert codec.decode_bind(codec.encode_bind(bind)) == bind


@given(texts)
def test_rows_never_hold_a_null_character(text: str) -> None:
    made = replacement_sql._json([{"a": text + "\0" + text, "b": "\\\0"}], ascii_only=True)
    assert "\\u0000" not in made.replace("\\\\", "")
