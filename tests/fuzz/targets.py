"""What is fuzzed, each a function of bytes and a seeded random source that returns where all is well."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise

from engine.values.messages import (
    TOPIC_COLUMNS,
    AnswerRow,
    AskReply,
    Chosen,
    ErrorReply,
    ResultColumn,
    RowKind,
    RowSet,
    TopicRequest,
)
from proxy.protocol import codec, replacement_sql
from proxy.protocol.commands import Close, Command, Consult, Dial, EngineReply, EngineRequest, ToUpstream
from proxy.protocol.encoding import decode, encode
from proxy.protocol.framing import ProtocolViolationError
from proxy.protocol.lexer import dollar_quoted, split, string_value, tokens
from proxy.protocol.nl.classify import examine
from proxy.protocol.session import Session
from proxy.protocol.session_phases import Phase
from tests.fuzz.corpus import READY, STARTUPS

_ACCEPTED = codec.message(b"R", bytes(4)) + READY
_ROW = AnswerRow(1, RowKind.CANDIDATE, "sales", 0.5, "it's $nl0$ \0 \\", "SELECT 1", None, "q1")
_OPTION = AnswerRow(1, RowKind.OPTION, None, 0.5, "Which one? a", None, "NL ANSWER 1 OF 'q4'", "q4")
_ANSWERS: tuple[AskReply | Chosen | ErrorReply, ...] = (
    AskReply("q1", (_ROW,), members=1),
    AskReply("q2", (_ROW, _ROW), members=2),
    AskReply("q3", ()),
    AskReply("q4", (_OPTION, replace(_OPTION, n=2, explanation="Which one? \0 b\nc"))),
    AskReply("q5", (replace(_OPTION, kind=RowKind.ABSTAIN),)),
    Chosen("here", "SELECT 1; -- x", in_place=True),
    Chosen(
        "far",
        "SELECT 1",
        in_place=False,
        columns=(ResultColumn('a"b', "no; type"),),
        rows=(("x",), (None,)),
        truncated=True,
    ),
    ErrorReply("NL003", "no database fits", "None.\0", "Ask otherwise."),
)


class Driver:
    """Stands for `proxy.net`: carries out commands on a session as the real one does, without a socket."""

    def __init__(self, rng: random.Random) -> None:
        self.session = Session(200, 60.0)
        self._rng = rng
        self._waiting: EngineRequest | None = None
        self.closed = False

    def client(self, data: bytes) -> None:
        """The client says; a session that is closed hears nothing, as behind a closed socket."""
        for piece in self._chunks(data):
            if not self.closed and not self.session.relay_frontend(piece):
                self._perform(self.session.receive_frontend(piece))

    def server(self, data: bytes) -> None:
        """The server says, if it has been dialled."""
        for piece in self._chunks(data):
            if self.closed or self.session.phase in (Phase.STARTUP, Phase.DIALLING):
                return
            if not self.session.relay_backend(piece):
                self._perform(self.session.receive_backend(piece))

    def engine(self) -> None:
        """The engine says something that fits what it was asked, if it was asked."""
        request, self._waiting = self._waiting, None
        if request is None or self.closed:
            return
        self._perform(self.session.answered(_reply(request, self._rng)))

    def cancel(self) -> None:
        """Somebody cancels."""
        if not self.closed:
            _, commands = self.session.cancelled()
            self._waiting = None if commands else self._waiting
            self._perform(commands)

    def wait(self) -> None:
        """Time passes."""
        if not self.closed:
            self._perform(self.session.progress(5.0))

    def _perform(self, commands: list[Command]) -> None:
        for command in commands:
            if isinstance(command, Close):
                self.closed = True
            elif isinstance(command, Dial):
                self._perform(self.session.dialled())
            elif isinstance(command, Consult):
                assert self._waiting is None, "two requests at once"
                self._waiting = command.request

    def _chunks(self, data: bytes) -> list[bytes]:
        if self._rng.random() < 0.5 or len(data) < 2:
            return [data] if data else []
        cuts = sorted(self._rng.randrange(1, len(data)) for _ in range(self._rng.randint(1, 5)))
        edges = [0, *cuts, len(data)]
        return [data[a:b] for a, b in pairwise(edges) if a < b]


def _reply(request: EngineRequest, rng: random.Random) -> EngineReply:
    name = type(request).__name__
    if isinstance(request, TopicRequest):
        columns = TOPIC_COLUMNS[request.topic]
        return rng.choice([RowSet(()), RowSet((tuple(None for _ in columns),)), _ANSWERS[-1]])
    wanted = Chosen if name in ("ChooseRequest", "PlanRequest") else AskReply
    return rng.choice([each for each in _ANSWERS if isinstance(each, wanted | ErrorReply)])


def startup(data: bytes, rng: random.Random) -> None:
    """A client that may not even log in."""
    driver = Driver(rng)
    driver.client(data)
    driver.server(_ACCEPTED)
    driver.engine()


def client(data: bytes, rng: random.Random) -> None:
    """A client that has logged in; what it sends without the letters NL must arrive as it was."""
    driver = _logged_in(rng)
    if b"nl" not in data.lower():
        _relays(data)
    driver.client(data)
    for _ in range(4):
        driver.engine()


def _relays(data: bytes) -> None:
    session = _logged_in(random.Random(0)).session  # noqa: S311 - reproducible on purpose
    commands = [] if session.relay_frontend(data) else session.receive_frontend(data)
    sent = b"".join(command.data for command in commands if isinstance(command, ToUpstream))
    assert not commands or data.startswith(sent), "plain bytes were changed"


def server(data: bytes, rng: random.Random) -> None:
    """A server that says anything, while statements of ours are under way."""
    driver = _logged_in(rng)
    driver.client(codec.encode_query(rng.choice([b"NL: x", b"SELECT 1", b"NL CHOOSE 1 OF q1"])))
    driver.engine()
    driver.server(data)
    driver.client(codec.encode_query(b"NL: y"))
    driver.engine()
    driver.server(data)


def dialogue(data: bytes, rng: random.Random) -> None:
    """Everybody in turn: a byte says who, two bytes how much of what follows."""
    driver = Driver(rng) if data[:1] == b"\x05" else _logged_in(rng)
    pos = 0
    while pos + 3 <= len(data):
        side, size = data[pos] % 5, int.from_bytes(data[pos + 1 : pos + 3], "big")
        said = data[pos + 3 : pos + 3 + size]
        pos += 3 + size
        if side == 0:
            driver.client(said)
        elif side == 1:
            driver.server(said)
        elif side == 2:
            driver.engine()
        elif side == 3:
            driver.cancel()
        else:
            driver.wait()


def text(data: bytes, rng: random.Random) -> None:
    """A statement's text in some encoding: parts join to the whole, quoting comes back."""
    encoding = rng.choice(
        ["utf-8", "iso8859_1", "euc_jp", "cp932", "gb18030", "big5", "johab", "gbk", "cp949"]
    )
    decoded = decode(data, encoding)
    assert encode(decoded, encoding) == data
    standard = rng.random() < 0.8
    parts = split(decoded, standard_strings=standard)
    assert ";".join(decoded[part.start : part.end] for part in parts) == decoded
    found = tokens(decoded, standard_strings=standard)
    assert "".join(decoded[token.start : token.end] for token in found) == decoded
    for token in found:
        string_value(decoded, token, standard_strings=standard)
    (token,) = tokens(dollar_quoted(decoded))
    assert string_value(dollar_quoted(decoded), token) == decoded
    seen = examine(decoded, standard_strings=standard, max_chars=100)
    edges = [edge for finding in seen.findings for edge in (finding.start, finding.end)]
    assert edges == sorted(edges)
    replacement_sql.rows_json([_ROW], ascii_only=standard)


def codecs(data: bytes, _rng: random.Random) -> None:
    """Decoders give a value, None, or their documented error; what they give encodes to the same value again."""
    with suppress(ProtocolViolationError):
        codec.decode_first(data if len(data) >= 8 else data.ljust(8, b"\0"))
    parse = codec.decode_parse(data)
    assert parse is None or codec.decode_parse(codec.encode_parse(parse)) == parse
    bind = codec.decode_bind(data)
    assert bind is None or codec.decode_bind(codec.encode_bind(bind)) == bind
    codec.error_fields(data)
    codec.decode_target(data)
    codec.decode_query(data)
    codec.statement_of_bind(data, 0)
    assert encode(decode(data, "utf-8"), "utf-8") == data


def _logged_in(rng: random.Random) -> Driver:
    driver = Driver(rng)
    driver._perform(driver.session.receive_frontend(STARTUPS[0]))
    driver._perform(driver.session.receive_backend(_ACCEPTED))
    return driver


TARGETS: dict[str, Callable[[bytes, random.Random], None]] = {
    "startup": startup,
    "client": client,
    "server": server,
    "dialogue": dialogue,
    "text": text,
    "codec": codecs,
}
"""Name → target."""
