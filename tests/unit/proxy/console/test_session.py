"""The console's protocol, driven by hand: any bytes, in any chunks, each command, and which numbers are none."""

from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import Any, cast

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from engine.values.messages import ErrorReply
from proxy.console import grammar, views
from proxy.console.grammar import AdminCommand, ConsoleError, Empty, Ignored, Rights, SetSetting, ShowView
from proxy.console.session import CloseConnection, ConsoleAction, ConsoleSession, RunCommand, WriteReply
from proxy.console.tables import ColumnType, Done, ResultTable, columns, row
from proxy.net.console.console_connection import carry_out
from proxy.protocol import codec
from proxy.protocol.codec import Bind, Parse
from proxy.settings import GatewaySettings, assigned


def drive(session: ConsoleSession, chunks: list[bytes]) -> tuple[bytes, list[object]]:
    """What the client gets, and the commands; every command is answered at once with a table or a tag."""
    replies, commands = b"", []

    def take(outputs: list[ConsoleAction]) -> None:
        nonlocal replies
        for output in outputs:
            if isinstance(output, WriteReply):
                replies += output.data
            elif isinstance(output, RunCommand):
                commands.append(output.command)
                shape = (
                    views.columns_of(output.command.view) if isinstance(output.command, ShowView) else None
                )
                take(session.answered(Done("DONE") if shape is None else ResultTable(shape, ())))

    for chunk in chunks:
        take(session.receive(chunk))
    return replies, commands


def kinds(data: bytes) -> str:
    found, pos = "", 0
    while pos < len(data):
        found += chr(data[pos])
        pos += 1 + struct.unpack_from(">I", data, pos + 1)[0]
    return found


SYNC = codec.message(b"S", b"")
EXTENDED = (
    codec.encode_parse(Parse(b"s", b"SHOW VERSION", ()))
    + codec.message(b"D", b"Ss\0")
    + codec.encode_bind(Bind(b"", b"s", (), (), b"\0\1\0\1"))
    + codec.message(b"D", b"P\0")
    + codec.message(b"E", b"\0\0\0\0\0")
    + codec.message(b"C", b"Ss\0")
    + SYNC
)


def test_commands_wait_for_the_one_before() -> None:
    session = ConsoleSession(Rights.ADMIN)
    (ask,) = session.receive(codec.encode_query(b"PAUSE") + codec.encode_query(b"show state;"))
    assert ask == RunCommand(AdminCommand("pause", ""))
    assert session.receive(codec.encode_query(b"RESUME")) == []
    outputs = session.answered(ErrorReply("57014", "cancelled"))
    assert outputs[-1] == RunCommand(ShowView("state"))
    replies, _ = drive(ConsoleSession(Rights.ADMIN), [codec.encode_query(b"BEGIN") * 5000])
    assert kinds(replies) == "CZ" * 5000, "and need no deep stack"


def test_a_malformed_message_is_fatal() -> None:
    told, end = ConsoleSession(Rights.ADMIN).receive(b"\xff\0\0\0\4")
    assert isinstance(told, WriteReply)
    assert (b"08P01" in told.data, end) == (True, CloseConnection())


@given(st.data())
def test_extended_in_any_chunks(data: st.DataObject) -> None:
    whole = EXTENDED + codec.encode_query(b"RELOAD") + codec.encode_query(b"") + codec.encode_query(b"BEGIN")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    chunks = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    replies, commands = drive(ConsoleSession(Rights.ADMIN), chunks)
    assert kinds(replies) == "1tT2TC3ZCZIZCZ"
    assert commands == [ShowView("version"), AdminCommand("reload", "")]


def test_an_error_skips_to_sync() -> None:
    bad = codec.encode_parse(Parse(b"", b"nonsense", ()))
    replies, commands = drive(ConsoleSession(Rights.ADMIN), [bad + EXTENDED + EXTENDED])
    assert kinds(replies) == "EZ1tT2TC3Z"
    assert commands == [ShowView("version")]


@given(st.lists(st.binary(max_size=40), max_size=6))
def test_noise_ends_the_console_and_nothing_else(chunks: list[bytes]) -> None:
    session = ConsoleSession(Rights.STATS)
    replies, commands = drive(session, chunks)
    assert all(isinstance(command, ShowView) for command in commands)
    assert "Z" not in kinds(replies) or "E" in kinds(replies) or any(chunk for chunk in chunks)


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("SHOW STATS", ShowView("stats")),
        ("  show  Stats ; ", ShowView("stats")),
        ("/* exporter */ SHOW STATS;-- done", ShowView("stats")),
        ("SHOW TRANSACTION ISOLATION LEVEL", None),
        ("SHOW TRANSACTION ISOLATION", ShowView("transaction_isolation")),
        ("show standard_conforming_strings", ShowView("standard_conforming_strings")),
        ("PAUSE", AdminCommand("pause", "")),
        ('PAUSE "My ""db"""', AdminCommand("pause", 'My "db"')),
        ("KILL_CLIENT 12", AdminCommand("kill_client", "12")),
        ("KILL_CLIENT", None),
        ("RELOAD now", None),
        ("DISABLE", None),
        ("SHUTDOWN WAIT_FOR_CLIENTS", AdminCommand("shutdown", "WAIT_FOR_CLIENTS")),
        ("SHUTDOWN soon", None),
        ("SET extra_float_digits = 3", Ignored("SET")),
        ("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", None),
        ("SET max_client_conn = 1", SetSetting("max_client_conn", "1")),
        ("set auth_query to 'SELECT ''x''';", SetSetting("auth_query", "SELECT 'x'")),
        ("SET max_client_conn = 1; KILL", None),
        ("SUSPEND", None),
        ("SHOW FDS", None),
        ("RECONNECT sales", AdminCommand("reconnect", "sales")),
        ("BEGIN", Ignored("BEGIN", "T")),
        ("ROLLBACK", Ignored("ROLLBACK", "I")),
        (" ; ", Empty()),
        ("-- nothing", Empty()),
        ("DROP TABLE users", None),
        ("SHOW CLIENTS; KILL", None),
    ],
)
def test_the_grammar(text: str, command: object) -> None:
    if command is None:
        with pytest.raises(ConsoleError):
            grammar.parse(text, views.NAMES)
    else:
        assert grammar.parse(text, views.NAMES) == command


@pytest.mark.parametrize(
    ("value", "digits"),
    [
        (0, "0000000000000000"),
        (1, "00010000000000000001"),
        (10000, "00010001000000000001"),
        (1.5, "000200000000000100011388"),
        (-12345678, "000200014000000004d2162e"),
    ],
)
def test_numeric_in_binary(value: float, digits: str) -> None:
    """numeric_send of PostgreSQL gives the same bytes."""
    shape = columns("N", "v")
    assert shape[0][1] is ColumnType.NUMERIC
    assert row((value,), shape, (1,))[11:].hex() == digits


SETTINGS = GatewaySettings("127.0.0.1")


@pytest.mark.parametrize("number", ["9" * 4301, "9" * 20, "0", "0" * 5000, "-1", "1.5", "٣", "NaN"])
async def test_there_is_no_such_client(number: str) -> None:
    nobody = cast("Any", SimpleNamespace(log=structlog.stdlib.get_logger("proxy")))
    outcome = await carry_out(nobody, AdminCommand("kill_client", number), "ann")
    assert outcome == ErrorReply("22023", "invalid client id", hint="SHOW CLIENTS shows it in the column id.")


@pytest.mark.parametrize("key", ["nl_timeout", "max_client_conn"])
@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1e999", "9" * 20, "9" * 5000])
def test_a_setting_is_no_number_without_end(key: str, number: str) -> None:
    with pytest.raises(ValueError, match=key):
        assigned(SETTINGS, key, number)


def test_other_numbers_are_taken() -> None:
    assert assigned(SETTINGS, "nl_timeout", "1.5").nl_timeout == 1.5
    assert assigned(SETTINGS, "max_client_conn", "10").max_client_conn == 10
