"""Mutations of byte strings: of bytes, of length words, of messages as wholes."""

from __future__ import annotations

import random
import struct

_INTERESTING = (0, 1, 3, 4, 5, 8, 0x7F, 0x80, 0xFF, 0x3FFF_FFFE, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF)
_WORDS = (
    b"NL", b"nl:", b"nl.ask(", b"nl.run('q1',1)", b"$1", b"$$", b"'", b'"', b";", b"--", b"/*", b"*/", b"\\", b"E'",
    b"U&'", b"'-- c\n'", b"\x81\\", b"CHOOSE 1", b"OF 'q1'", b"RUN $$x$$", b"BEGIN", b"SET nl.k=1", b"RESET ALL",
    b"\0", b"\xff", b"pgparley_error_1",
    b"S\0\0\0\4", b"H\0\0\0\4", b"E\0\0\0\x09\0\0\0\0\0", b"Z\0\0\0\5I", b"Z\0\0\0\5E", b"1\0\0\0\4", b"2\0\0\0\4",
)  # fmt: skip
_MOST = 6000


def mutated(data: bytes, corpus: list[bytes], rng: random.Random) -> bytes:
    """One to six mutations of `data`, at most 6,000 bytes."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        rng.choice(_MUTATIONS)(changed, corpus, rng)
    return bytes(changed[:_MOST])


def _flip(data: bytearray, _corpus: list[bytes], rng: random.Random) -> None:
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _insert(data: bytearray, _corpus: list[bytes], rng: random.Random) -> None:
    place = rng.randint(0, len(data))
    data[place:place] = rng.choice(_WORDS)


def _remove(data: bytearray, _corpus: list[bytes], rng: random.Random) -> None:
    place = rng.randint(0, len(data))
    del data[place : place + rng.choice((1, 1, 2, 4, 5, 16, 64))]


def _number(data: bytearray, _corpus: list[bytes], rng: random.Random) -> None:
    place = rng.randint(0, len(data))
    data[place : place + 4] = struct.pack(">I", rng.choice(_INTERESTING))


def _splice(data: bytearray, corpus: list[bytes], rng: random.Random) -> None:
    other = rng.choice(corpus)
    start, place = rng.randint(0, len(other)), rng.randint(0, len(data))
    data[place : place + rng.randint(0, 20)] = other[start : start + rng.randint(0, 200)]


def _repeat(data: bytearray, _corpus: list[bytes], rng: random.Random) -> None:
    place = rng.randint(0, len(data))
    data[place:place] = data[place : place + rng.randint(1, 60)] * rng.randint(1, 3)


_MUTATIONS = (_flip, _insert, _remove, _number, _splice, _repeat)
