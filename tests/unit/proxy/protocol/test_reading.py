"""A statement is read as the server will read it, or not at all."""

from __future__ import annotations

import time
from typing import Any

import pytest

from proxy.protocol import codec
from proxy.protocol.encoding import _PYTHON_NAMES, decode, encode, python_encoding
from proxy.protocol.inspection import READING_LIMIT


@pytest.mark.parametrize("name", sorted(_PYTHON_NAMES))
def test_every_pair_of_bytes_comes_back(name: str) -> None:
    encoding = python_encoding(name)
    for lead in range(0x80, 0x100):
        for tail in range(0x100):
            data = b"a" + bytes([lead, tail]) + b"b'c"
            assert encode(decode(data, encoding), encoding) == data


@pytest.mark.parametrize("name", ["SJIS", "SHIFT_JIS_2004"])
def test_a_second_byte_is_no_backslash(session: Any, say: Any, name: str) -> None:
    """What libpq escaped is a constant to the server, whatever a Python codec makes of its characters."""
    session.server(codec.message(b"S", b"client_encoding\0" + name.encode() + b"\0"))
    for lead in (*range(0x81, 0xA0), *range(0xE0, 0xFD)):
        text = b"SELECT E'" + bytes([lead]) + b"\\' , ' ; NL: x ; '"
        session.forget().client(codec.encode_query(text))
        assert session.to_server == codec.encode_query(text)
        session.server(say.done(), say.ready())
    assert session.consulted == []


@pytest.mark.parametrize("name", ["EUC_TW", "MULE_INTERNAL", "SOMETHING_NEW"])
def test_an_unknown_encoding(session: Any, say: Any, name: str) -> None:
    session.server(say.status("client_encoding", name))
    for text in (b"SELECT '\xa4\xa4 NL'", b"SELECT '\xa4\x5c'; NL: x"):
        session.client(codec.encode_query(text)).server(say.done(), say.ready())
        assert session.to_server == codec.encode_query(text)
        session.forget()
    session.client(codec.encode_query(b"NL: \xa4\xa4"))
    assert session.consulted == []
    assert session.sqlstates == ["0A000"]
    session.client(say.query("NL: plain"))
    assert session.questions == ["plain"]


@pytest.mark.parametrize(
    "before", ["SET standard_conforming_strings = off", "SELECT set_config('client_encoding', 'SJIS', false)"]
)
def test_a_setting_in_flight(session: Any, say: Any, before: str) -> None:
    text = "SELECT 'a\\'; NL: x'"
    session.client(say.query(before), say.query(text))
    assert session.to_server == say.query(before)
    session.server(say.done("SET"), say.status("standard_conforming_strings", "off"), say.ready())
    assert session.to_server == say.query(before) + say.query(text)
    assert session.consulted == []


def test_a_setting_of_the_same_pipeline_is_not_reported(session: Any, say: Any) -> None:
    session.client(say.parse("SET standard_conforming_strings = off"), say.bind(), say.execute)
    session.client(say.parse("NL: a\\b"), say.bind(), say.execute, say.sync)
    session.server(say.parsed, say.bound, say.done("SET"))
    assert session.consulted == []
    assert session.sqlstates == ["0A000"]


def test_a_statement_inside_of_copy_is_the_servers_to_refuse(session: Any, say: Any) -> None:
    session.client(say.query("COPY t FROM STDIN")).server(say.copy_in).forget()
    session.client(say.copy_data(b"1"), say.query("NL: x"))
    assert session.consulted == []
    assert session.to_server == say.copy_data(b"1") + say.query("NL: x")


@pytest.mark.parametrize("text", ["NL: x", "NL CHOOSE 1 OF 'q1'"])
def test_nor_is_one_answered_that_came_before_copy_was_known(session: Any, say: Any, text: str) -> None:
    session.client(say.query("COPY t FROM STDIN"), say.query(text))
    assert len(session.consulted) == 1
    session.forget().server(say.copy_in)
    assert session.to_server[:1] == b"Q"


def test_a_message_of_many_statements_is_refused_at_once(session: Any, say: Any) -> None:
    session.client(say.query("NL HELP;" * 101))
    assert session.consulted == []
    assert session.sqlstates == ["53400"]


_MIB = 1 << 20
_WHOLE = pytest.mark.parametrize("chunk", [_MIB])


@_WHOLE
@pytest.mark.parametrize("text", ["NL HELP;", "NL: x;", "/* c */ ;NL: 'it''s ", "nl $$ x "])
def test_a_long_message_that_begins_with_nl_is_refused(session: Any, say: Any, text: str) -> None:
    session.client(say.query(text * (_MIB // len(text) - 1)))
    assert session.consulted == []
    assert session.sqlstates == ["54000"]


@_WHOLE
@pytest.mark.parametrize(
    "text", ["INSERT INTO t VALUES ('NL');", "SELECT nl.ask('x');", "SELECT 'it''s' AS nl, "]
)
def test_any_other_goes_to_the_server(session: Any, say: Any, text: str) -> None:
    message = say.query(text * (_MIB // len(text) - 1))
    session.client(message)
    assert session.to_server == message
    assert session.consulted == []


_DENSE = (
    "NL: x;",
    "NL HELP;",
    "NL how many ",
    "NL ((((",
    "SELECT nl,",
    "SELECT 1;nl;",
    "nl.run('q',1) a,",
    "NL'a'\n",
    "nl $a$",
)


@_WHOLE
@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("size", [READING_LIMIT - 100, _MIB - 100])
@pytest.mark.parametrize("text", _DENSE)
def test_the_longest_pause(session: Any, say: Any, text: str, size: int) -> None:
    """Processor seconds of the worker's loop for one message; the bound leaves room for a busy machine."""
    message = say.query(text * (size // len(text)))
    began = time.thread_time()
    session.client(message)
    assert time.thread_time() - began < 0.25


@_WHOLE
def test_a_parse_that_streams_ends_the_unnamed_statement(session: Any, say: Any) -> None:
    session.client(say.parse("NL: x"))
    long = say.parse("SELECT 1 -- " + "x" * _MIB)
    session.client(long[:100]).client(long[100:]).forget()
    session.client(say.bind())
    assert session.to_server == say.bind()
