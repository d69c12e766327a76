"""What the fuzzer starts from: valid conversations, texts, messages."""

from __future__ import annotations

import struct

from proxy.protocol import codec
from proxy.protocol.codec import Bind, Parse

SYNC = codec.message(b"S", b"")
FLUSH = codec.message(b"H", b"")
EXECUTE = codec.message(b"E", b"\0\0\0\0\0")
READY = codec.message(b"Z", b"I")


def packet(code: int, body: bytes = b"") -> bytes:
    """A packet of the startup phase."""
    return struct.pack(">II", len(body) + 8, code) + body


def parse(text: str, name: bytes = b"", types: tuple[int, ...] = ()) -> bytes:
    """Parse."""
    return codec.encode_parse(Parse(name, text.encode(), types))


def bind(*values: bytes | None, name: bytes = b"") -> bytes:
    """Bind."""
    return codec.encode_bind(Bind(b"", name, (), values, b"\0\1\0\1"))


TEXTS = [
    "NL: how many singers?", "NL: $$what's; up$$;", "NL (db sales, k 5): 'x'", "SELECT * FROM nl.ask('x') LIMIT 1",
    "SELECT * FROM nl.ask($1::text) WHERE n < $2", "NL CHOOSE 1 OF 'q1'", "NL RUN (k 2) $$x$$", "NL SHOW 2",
    "BEGIN; NL: a; SELECT ';NL: b' ; NL WHY", "SELECT * FROM nl.run('q1', 2) AS t JOIN nl.run('q2', 1) USING (a)",
    "SET nl.k = 3; SET LOCAL nl.db TO 'a''b'; RESET ALL", "NL CORRECT $$SELECT 1$$ OF 'q1'", "NL HISTORY 5",
    "NL FORGET ALL", "NL NONE 'why'", "NL MORE", "NL SHOWPROMPT", "NL PLAN 1", "NL EXPLAIN 1 OF q1", "NL HELP",
    "EXPLAIN NL: x", "/* a */ NL: x -- b", "SELECT U&'\\0061', E'\\x41', $a$ nl $a$, \"n\"\"l\", 5, B'01'",
    "NL ANSWER 1", "NL ANSWER $$it's; that$$ OF 'q1'", "NL NONE OF q1; NL (ask off): x", "SET nl.on_abstain = error",
    "CREATE VIEW v AS SELECT * FROM nl.ask('x')", "SET nl.output = 'both'; SET nl.mode = run", "SELECT 1",
]  # fmt: skip
"""Statements of every kind."""

STARTUPS = [
    packet(196608, b"user\0ann\0database\0sales\0options\0-c nl.k=4\0\0"),
    packet(196610, b"user\0ann\0_pq_.x\0y\0\0"),
    packet(80877103) + packet(196608, b"user\0a\0\0"),
    packet(80877104),
    packet(80877102, b"\0\0\0\1key!"),
]

MESSAGES = [
    *(codec.encode_query(text.encode()) for text in TEXTS),
    *(parse(text) + bind(b"x", b"5") + codec.message(b"D", b"S\0") + EXECUTE + SYNC for text in TEXTS),
    parse("NL: x", b"s") + codec.message(b"D", b"Ss\0") + FLUSH + bind(name=b"s") + EXECUTE + SYNC,
    parse("COPY t FROM STDIN")
    + bind()
    + EXECUTE
    + SYNC
    + codec.message(b"d", b"NL: x")
    + codec.message(b"c", b"")
    + SYNC,
    codec.message(b"F", b"\0" * 10) + codec.message(b"C", b"Ss\0") + SYNC + codec.message(b"X", b""),
    codec.message(b"p", b"secret\0"),
]
"""What a client says after its login."""

REPLIES = [
    codec.message(b"R", bytes(4))
    + codec.message(b"S", b"client_encoding\0LATIN1\0")
    + codec.message(b"K", b"\0" * 8)
    + READY,
    codec.message(b"1", b"")
    + codec.message(b"2", b"")
    + codec.message(b"t", b"\0\1\0\0\0\x19")
    + codec.message(b"T", b"\0\0"),
    codec.message(b"D", b"\0\1\0\0\0\1x") + codec.message(b"C", b"SELECT 1\0") + READY,
    codec.message(b"E", b'SERROR\0C22P02\0Mbad: "pgparley_error_1"\0\0') + codec.message(b"Z", b"E"),
    codec.message(b"G", b"\0\0\0")
    + codec.message(b"N", b"SNOTICE\0\0")
    + codec.message(b"A", b"\0\0\0\1x\0y\0"),
    codec.message(b"v", b"\0\3\0\0\0\0\0\0")
    + codec.message(b"s", b"")
    + codec.message(b"I", b"")
    + codec.message(b"3", b""),
]
"""What a server says."""

SEEDS: dict[str, list[bytes]] = {
    "startup": STARTUPS + [one + two for one in STARTUPS[:2] for two in MESSAGES[:4]],
    "client": MESSAGES,
    "server": REPLIES + [one + two for one in REPLIES for two in REPLIES],
    "dialogue": [
        bytes([side]) + struct.pack(">H", len(data)) + data
        for data in MESSAGES + REPLIES
        for side in range(5)
    ],
    "text": [text.encode() for text in TEXTS],
    "codec": MESSAGES + REPLIES,
}
"""Target → inputs."""
