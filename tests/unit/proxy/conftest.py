"""Sessions as transcripts: what client, server and engine say, and what comes out on both sides."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from engine.values.messages import AnswerRow, AskReply, AskRequest, ErrorReply, RowKind
from proxy.protocol import codec
from proxy.protocol.codec import Bind, Parse
from proxy.protocol.commands import (
    Command,
    Consult,
    EngineReply,
    EngineRequest,
    StatementFailed,
    ToClient,
    ToUpstream,
)
from proxy.protocol.session import Session


class Say:
    """Messages of both sides."""

    sync = codec.message(b"S", b"")
    flush = codec.message(b"H", b"")
    execute = codec.message(b"E", b"\0\0\0\0\0")
    copy_done = codec.message(b"c", b"")
    parsed = codec.message(b"1", b"")
    bound = codec.message(b"2", b"")
    closed = codec.message(b"3", b"")
    authenticated = codec.message(b"R", bytes(4))
    copy_in = codec.message(b"G", b"\0\0\0")

    @staticmethod
    def startup(**parameters: str) -> bytes:
        """StartupMessage."""
        words = b"".join(k.encode() + b"\0" + v.encode() + b"\0" for k, v in parameters.items())
        body = struct.pack(">I", 196608) + words + b"\0"
        return struct.pack(">I", len(body) + 4) + body

    @staticmethod
    def query(text: str, encoding: str = "utf-8") -> bytes:
        """Query."""
        return codec.encode_query(text.encode(encoding))

    @staticmethod
    def parse(text: str, name: str = "", types: tuple[int, ...] = ()) -> bytes:
        """Parse."""
        return codec.encode_parse(Parse(name.encode(), text.encode(), types))

    @staticmethod
    def bind(
        *parameters: bytes | None, name: str = "", portal: str = "", formats: tuple[int, ...] = ()
    ) -> bytes:
        """Bind with binary results."""
        bind = Bind(portal.encode(), name.encode(), formats, parameters, b"\0\1\0\1")
        return codec.encode_bind(bind)

    @staticmethod
    def describe(kind: str = "S", name: str = "") -> bytes:
        """Describe."""
        return codec.message(b"D", kind.encode() + name.encode() + b"\0")

    @staticmethod
    def close(kind: str = "S", name: str = "") -> bytes:
        """Close."""
        return codec.message(b"C", kind.encode() + name.encode() + b"\0")

    @staticmethod
    def copy_data(data: bytes) -> bytes:
        """CopyData."""
        return codec.message(b"d", data)

    @staticmethod
    def ready(status: str = "I") -> bytes:
        """ReadyForQuery."""
        return codec.message(b"Z", status.encode())

    @staticmethod
    def done(tag: str = "SELECT 1") -> bytes:
        """CommandComplete."""
        return codec.message(b"C", tag.encode() + b"\0")

    @staticmethod
    def described(*types: int) -> bytes:
        """ParameterDescription."""
        return codec.message(b"t", struct.pack(f">H{len(types)}I", len(types), *types))

    @staticmethod
    def columns(name: str = "n") -> bytes:
        """RowDescription of one column."""
        return codec.message(b"T", b"\0\1" + name.encode() + b"\0" + bytes(18))

    @staticmethod
    def row(value: bytes) -> bytes:
        """DataRow of one value."""
        return codec.message(b"D", struct.pack(">HI", 1, len(value)) + value)

    @staticmethod
    def status(name: str, value: str) -> bytes:
        """ParameterStatus."""
        return codec.message(b"S", f"{name}\0{value}\0".encode())

    @staticmethod
    def key(key: bytes = b"\0\0\0\1key!") -> bytes:
        """BackendKeyData."""
        return codec.message(b"K", key)

    @staticmethod
    def error(sqlstate: str = "42601", message: str = "syntax error", detail: str | None = None) -> bytes:
        """ErrorResponse."""
        return codec.encode_error(ErrorReply(sqlstate, message, detail), "utf-8")

    @staticmethod
    def answer(explanation: str = "because", qid: str = "q1", kind: RowKind = RowKind.CANDIDATE) -> AskReply:
        """An answer of one row."""
        return AskReply(qid, (AnswerRow(1, kind, "sales", 0.5, explanation, "SELECT 1", None, qid),))


@dataclass
class Transcript:
    """One session; every side's bytes are cut into chunks of `chunk` bytes."""

    chunk: int
    session: Session = field(default_factory=lambda: Session(4000, 60.0))
    to_server: bytes = b""
    to_client: bytes = b""
    consulted: list[EngineRequest] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)

    def started(self, **parameters: str) -> Transcript:
        """A session that has logged in; what was said so far is forgotten."""
        self.client(Say.startup(**(parameters or {"user": "ann", "database": "sales"})))
        self._take(self.session.dialled())
        self.server(Say.authenticated, Say.key(), Say.ready())
        self.to_server = self.to_client = b""
        self.commands.clear()
        return self

    def client(self, *messages: bytes) -> Transcript:
        """The client says."""
        for piece in self._cut(messages):
            if self.session.relay_frontend(piece):
                self.to_server += piece
            else:
                self._take(self.session.receive_frontend(piece))
        return self

    def server(self, *messages: bytes) -> Transcript:
        """The server says."""
        for piece in self._cut(messages):
            if self.session.relay_backend(piece):
                self.to_client += piece
            else:
                self._take(self.session.receive_backend(piece))
        return self

    def engine(self, reply: EngineReply) -> Transcript:
        """The engine says."""
        self._take(self.session.answered(reply))
        return self

    def answered(self, qid: str = "q5") -> Transcript:
        """A question was asked and answered; what was said so far is forgotten."""
        self.client(Say.query("NL: x")).engine(Say.answer(qid=qid))
        return self.server(Say.done(), Say.ready()).forget()

    def cancelled(self) -> list[Command]:
        """The client cancels what the server does not hear of."""
        forward, commands = self.session.cancelled()
        assert forward is False
        self._take(commands)
        return commands

    @property
    def failures(self) -> list[ErrorReply]:
        """The errors of statements for us."""
        return [each.error for each in self.commands if isinstance(each, StatementFailed)]

    @property
    def sqlstates(self) -> list[str]:
        """Those of `failures`."""
        return [error.sqlstate for error in self.failures]

    @property
    def questions(self) -> list[str]:
        """What the engine was asked."""
        return [each.question for each in self.consulted if isinstance(each, AskRequest)]

    def forget(self) -> Transcript:
        """What came out so far is not looked at again."""
        self.to_server = self.to_client = b""
        return self

    def _cut(self, messages: tuple[bytes, ...]) -> list[bytes]:
        data = b"".join(messages)
        return [data[i : i + self.chunk] for i in range(0, len(data), self.chunk)]

    def _take(self, commands: list[Command]) -> None:
        for command in commands:
            if isinstance(command, ToUpstream):
                self.to_server += command.data
            elif isinstance(command, ToClient):
                self.to_client += command.data
            else:
                self.commands.append(command)
                if isinstance(command, Consult):
                    self.consulted.append(command.request)


@pytest.fixture(params=[1, 7, 1 << 20], ids=["bytes", "sevens", "whole"])
def chunk(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def session(chunk: int) -> Transcript:
    """A session that has logged in, in every chunking."""
    return Transcript(chunk).started()


@pytest.fixture
def new_transcript(chunk: int) -> Callable[[], Transcript]:
    """Sessions that have said nothing yet."""
    return lambda: Transcript(chunk)


@pytest.fixture
def say() -> type[Say]:
    return Say
