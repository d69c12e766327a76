"""Arguments that no request can hold: numbers without end, a NUL, bytes that are not UTF-8; in every NL statement.

The statements are those that `NL HELP` shows, each with every argument in turn replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from engine.values.messages import ErrorReply
from proxy.protocol import codec
from proxy.protocol.codec import Bind, Parse
from proxy.protocol.commands import Close
from proxy.protocol.nl.grammar import COMMANDS
from proxy.protocol.nl.questions import OPTION_NAMES
from proxy.protocol.numbers import decimal, whole

NO_TEXT = (
    rb"E'\u0000'",
    rb"E'a\0b'",
    rb"E'\x00'",
    rb"U&'\0000'",
    rb"E'\udc80'",
    b"'\xff'",
    b"'a\xc3'",
    b"$$\xff$$",
    b"$$\xed\xa0\x80$$",
)
NO_NUMBER = (
    *(b"9" * 4301, b"9" * 20, b"0" * 5000, "٣".encode()),
    *(b"1e999", b"NaN", b"Infinity", b"-1", b"0", b"0.0", b"1_0"),
)
_ROW = re.compile(rb"NL (?:CHOOSE|SHOW|EXPLAIN|PLAN|ANSWER|HISTORY) [^'$]")
REFUSED = {"42601", "22021", "22023", "0A000", "NL004"}


def _forms() -> Iterator[str]:
    """Every statement of `NL HELP` in full, with every option, and the ways to set one."""
    for form, _ in COMMANDS:
        if form == "NL: question":
            continue
        whole_form = (
            form.replace("n [OF", "1 [OF")
            .replace("'qid', n", "'qid', 1")
            .replace("[n]", "1")
            .replace(" n ", " 1 ")
        )
        whole_form = whole_form.replace("[ALL | OF 'qid']", "OF 'qid'")
        yield re.sub(r"[\[\]]", "", whole_form)
    for name in OPTION_NAMES:
        yield f"NL ({name} 'value'): $$question$$"
        yield f"NL RUN ({name} 'value'): $$question$$"
        yield f"SET nl.{name} = 'value'"


def _in_place(argument: str, values: tuple[bytes, ...]) -> list[bytes]:
    """The forms with each of `values` in the place of each match of `argument`."""
    found = []
    for form in dict.fromkeys(_forms()):
        for match in re.finditer(argument, form):
            before, after = form[: match.start()].encode(), form[match.end() :].encode()
            found += [before + value + after for value in values]
    return found


TEXTS = _in_place(r"'\w+'|\$\$\w+\$\$", NO_TEXT)
NUMBERS = _in_place(r"\b[15]\b|'value'", NO_NUMBER + tuple(b"'%b'" % each for each in NO_NUMBER))


def _check(session: Any, say: Any, *, refused: bool) -> None:
    """What was just said was refused with words, or asks what can be asked; and the session goes on."""
    errors = session.failures
    assert {error.sqlstate for error in errors} <= REFUSED
    assert all(error.hint or error.detail for error in errors)
    assert errors or not refused
    assert not any(isinstance(command, Close) for command in session.commands)
    for request in session.consulted:
        assert b"\\u0000" not in msgspec.json.encode(request)
    if session.consulted:
        session.engine(ErrorReply("NL004", "no such question", hint="Ask one."))
    session.server(say.error("22P02"), say.ready()).forget()
    session.client(say.query("SELECT 1"))
    assert session.to_server == say.query("SELECT 1")


@pytest.fixture
def chunk() -> int:
    return 1 << 20


def test_there_are_many_statements() -> None:
    assert len(TEXTS) > 40 * len(NO_TEXT)
    assert len(NUMBERS) > 24 * len(NO_NUMBER)


@pytest.mark.parametrize("extended", [False, True], ids=["simple", "extended"])
def test_a_text_that_is_none_is_refused(new_transcript: Any, say: Any, *, extended: bool) -> None:
    for text in TEXTS:
        session = new_transcript().started()
        _say(session, say, text, extended=extended)
        if text.startswith(b"SET"):
            _check(session, say, refused=b"nl.timeout" in text or b"nl.db" in text)
        else:
            _check(session, say, refused=not text.startswith(b"NL RUN (mode"))


@pytest.mark.parametrize("extended", [False, True], ids=["simple", "extended"])
def test_a_number_that_is_none_is_refused(new_transcript: Any, say: Any, *, extended: bool) -> None:
    for text in NUMBERS:
        session = new_transcript().started()
        _say(session, say, text, extended=extended)
        _check(session, say, refused=_ROW.match(text) is not None)


def _say(session: Any, say: Any, text: bytes, *, extended: bool) -> None:
    """The statement; behind a setting a question, which reads it."""
    if extended:
        session.client(codec.encode_parse(Parse(b"", text, ())), say.bind(), say.execute, say.sync)
    else:
        session.client(codec.encode_query(text))
    if text.startswith(b"SET"):
        session.server(say.parsed, say.bound, say.done("SET"), say.ready()).forget()
        session.client(say.query("NL: x"))


@pytest.mark.parametrize("value", [b"a\0b", b"\xff", b"\xed\xa0\x80"])
def test_a_bound_question_that_is_no_text_is_refused(session: Any, say: Any, value: bytes) -> None:
    session.client(codec.encode_parse(Parse(b"", b"SELECT * FROM nl.ask($1)", (25,))))
    session.client(codec.encode_bind(Bind(b"", b"", (), (value,), b"\0\0")), say.execute, say.sync)
    assert session.sqlstates == ["42601"]
    assert session.consulted == []


@pytest.mark.parametrize("number", ["9" * 4301, "65536", "0"])
def test_a_parameter_that_cannot_be_is_refused(session: Any, say: Any, number: str) -> None:
    session.client(say.parse(f"SELECT * FROM nl.ask(${number})"), say.sync)
    assert session.sqlstates == ["0A000"]
    session.client(say.query(f"SELECT ${number}, 'nl'"))
    assert session.to_server.endswith(say.query(f"SELECT ${number}, 'nl'"))


@pytest.mark.parametrize("timeout", ["9" * 400, "1e999", "nan", "inf", "0", "0.0", ".", "1.2.3", "30 s s"])
def test_a_time_without_end_is_refused(new_transcript: Any, say: Any, timeout: str) -> None:
    session = new_transcript().started(user="ann", **{"nl.timeout": timeout})
    session.client(say.query("NL: x"))
    assert session.sqlstates == ["22023"]


def test_numbers() -> None:
    assert [whole(text, 100) for text in ("1", "007", "100")] == [1, 7, 100]
    assert {whole(text, 100) for text in ("101", "0", "", "1.0", "-1", "9" * 9999, "٣")} == {None}
    assert [decimal(text, 2.0) for text in ("1", ".5", "0.95", "1e-1")] == [1.0, 0.5, 0.95, 0.1]
    assert {decimal(text, 2.0) for text in ("2.1", "nan", "1e999", "", ".", "1_0")} == {None}
