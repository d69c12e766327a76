"""The keyed chain of an audit log: each line carries its place and an HMAC-SHA-256 over the MAC before it and itself.

Every worker has a chain of its own, which goes on in the next file where the log is rotated. Owns the form of a sealed
line and what is wrong with files of them; who writes and reads files is elsewhere.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

_SEALED = re.compile(rb'(\{.*),"chain":"([0-9a-f]+)","place":([0-9]+),"mac":"([0-9a-f]{64})"\}')
_TIME = re.compile(rb'"time":"([0-9T:.+-]+)"')
_FIRST = b""
"""The MAC before the first line."""

CONTINUED = "continued"
"""The event of the line that a chain opens its next file with."""


@dataclass(frozen=True, slots=True)
class Continued:
    """The first line of a chain in a file that is not its first. `previous`: the MAC of its last line before."""

    time: str
    previous: str
    event: str = CONTINUED


@dataclass(frozen=True, slots=True)
class Head:
    """How far a chain has come, kept elsewhere, so that a tail that is cut off is missed. `time`: of its last line."""

    chain: str
    place: int
    mac: str
    time: str
    event: str = "head"


@dataclass(slots=True)
class Chain:
    """The chain of one writer, as far as it has come."""

    key: bytes = field(repr=False)
    name: str
    place: int = 0
    mac: bytes = _FIRST
    told: int = 0
    """The place of the last head that was told."""

    def sealed(self, line: bytes) -> tuple[bytes, bytes]:
        """`line`, a JSON object, with its place behind the last one and its MAC; and the MAC, for `advance`."""
        body = line[:-1] + f',"chain":"{self.name}","place":{self.place + 1}'.encode()
        mac = _mac(self.key, self.mac, body)
        return body + b',"mac":"' + mac.hex().encode() + b'"}', mac

    def advance(self, mac: bytes) -> None:
        """The line with `mac` has been written."""
        self.place, self.mac = self.place + 1, mac


def _mac(key: bytes, previous: bytes, body: bytes) -> bytes:
    return hmac.digest(key, previous + body, hashlib.sha256)


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong with a line, from 1; with the file as a whole: 0."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}" if self.line else f"{self.file}: {self.text}"


@dataclass(slots=True)
class _Seen:
    """Of one chain: the place and the MAC of its last line, and the MACs of the places that were asked for."""

    file: str
    place: int = 0
    mac: bytes = _FIRST
    wanted: dict[int, bytes] = field(default_factory=dict)


class Verification:
    """Reads the files of a log, the oldest first. `flaws`: in the order in which they were found."""

    def __init__(self, key: bytes, heads: Sequence[Head] = ()) -> None:
        """`heads`: of the chains in these files, as they were kept elsewhere."""
        self._key = key
        self._heads = heads
        self._places: Mapping[str, set[int]] = {
            name: {head.place for head in heads if head.chain == name} for name in {h.chain for h in heads}
        }
        self._chains: dict[str, _Seen] = {}
        self._since = ""
        self.flaws: list[Flaw] = []
        self.notes: list[Flaw] = []
        """No flaws: what the files alone do not tell."""
        self.lines = 0

    @property
    def chains(self) -> int:
        """The number of chains found."""
        return len(self._chains)

    def read(self, file: str, lines: Iterable[bytes]) -> None:
        """Takes in the lines of the next file."""
        for number, line in enumerate(lines, 1):
            self.lines += 1
            match = _SEALED.fullmatch(line.rstrip(b"\n"))
            if match is None:
                self.flaws.append(Flaw(file, number, "changed: no line with a place and a MAC"))
            else:
                self._since = self._since or _time(match[1])
                self._line(Flaw(file, number, ""), match)

    def _line(self, at: Flaw, match: re.Match[bytes]) -> None:
        name, place, mac = match[2].decode(), int(match[3]), bytes.fromhex(match[4].decode())
        seen = self._chains.get(name)
        if seen is None:
            seen = self._chains[name] = _Seen(at.file)
            if place > 1 and (previous := _previous(match[1] + b"}")) is not None:
                self._note(at, f"chain {name} goes on from place {place - 1} of a file that was not given")
                seen.place, seen.mac = place - 1, previous
        if place != seen.place + 1:
            self._misplaced(at, name, place, seen)
        elif not hmac.compare_digest(_mac(self._key, seen.mac, match[0][: match.start(4) - 8]), mac):
            self._flaw(at, f"changed: the MAC at place {place} of chain {name} is another")
        if place in self._places.get(name, ()):
            seen.wanted[place] = mac
        # What follows is measured by what stands here: one flaw is told once.
        seen.file, seen.place, seen.mac = at.file, place, mac

    def _misplaced(self, at: Flaw, name: str, place: int, seen: _Seen) -> None:
        if place > seen.place + 1:
            missing = place - seen.place - 1
            lines = "1 line" if missing == 1 else f"{missing} lines"
            text = f"{lines} of chain {name} missing before place {place}, or in another order"
        else:
            text = f"in another order: place {place} of chain {name} stands behind place {seen.place}"
        self._flaw(at, text)

    def finish(self) -> list[Flaw]:
        """Compares with the heads; returns all flaws."""
        for head in self._heads:
            seen = self._chains.get(head.chain)
            if seen is None:
                # One that ended before the first of the files is in a file that was not given.
                if self._since and head.time >= self._since:
                    text = f"cut off: chain {head.chain} had come to place {head.place}, and is in none of the files"
                    self.flaws.append(Flaw("heads", 0, text))
            elif head.place > seen.place:
                text = f"cut off: chain {head.chain} ends at place {seen.place}, and had come to {head.place}"
                self.flaws.append(Flaw(seen.file, 0, text))
            elif (mac := seen.wanted.get(head.place)) is not None and mac.hex() != head.mac:
                text = f"changed: place {head.place} of chain {head.chain} is not what it was"
                self.flaws.append(Flaw(seen.file, 0, text))
        return self.flaws

    def _flaw(self, at: Flaw, text: str) -> None:
        self.flaws.append(Flaw(at.file, at.line, text))

    def _note(self, at: Flaw, text: str) -> None:
        self.notes.append(Flaw(at.file, at.line, text))


def _time(body: bytes) -> str:
    found = _TIME.search(body)
    return "" if found is None else found[1].decode()


def _previous(body: bytes) -> bytes | None:
    try:
        line = msgspec.json.decode(body, type=Continued)
        return bytes.fromhex(line.previous) if line.event == CONTINUED else None
    except (msgspec.DecodeError, ValueError):
        return None


def head_of(line: bytes) -> Head | None:
    """The head that a line of a syslog, or of a file of heads, ends with; None where it has none."""
    start = line.find(b'{"chain":"')
    if start < 0:
        return None
    try:
        return msgspec.json.decode(line[start:].strip(), type=Head)
    except msgspec.DecodeError:
        return None
