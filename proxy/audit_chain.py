"""The keyed chain of an audit log: each line carries its place and an HMAC-SHA-256 over the MAC before it and itself.

Every worker has a chain of its own, which goes on in the next file where the log is rotated. Owns the form of a sealed
line and what is wrong with files of them; who writes and reads files is elsewhere.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Sequence
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


@dataclass(slots=True)
class _Seen:
    """Of one chain: the file, the place and the MAC of its last line; `wanted`: MACs at the places of heads."""

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
        self._places = {(head.chain, head.place) for head in heads}
        self._chains: dict[str, _Seen] = {}
        self._since = ""
        self.flaws: list[str] = []
        self.notes: list[str] = []
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
                self.flaws.append(f"{file}:{number}: changed: no line with a place and a MAC")
                continue
            self._since = self._since or _time(match[1])
            problem = self._problem(file, match)
            if problem:
                self.flaws.append(f"{file}:{number}: {problem}")

    def _problem(self, file: str, match: re.Match[bytes]) -> str:
        name, place, mac = match[2].decode(), int(match[3]), bytes.fromhex(match[4].decode())
        if name not in self._chains:
            self._chains[name] = _Seen(file)
            if place > 1 and (previous := _previous(match[1] + b"}")) is not None:
                self.notes.append(f"{file}: chain {name} goes on from place {place - 1} of a file not given")
                self._chains[name] = _Seen(file, place - 1, previous)
        seen = self._chains[name]
        last, body = seen.place, match[0][: match.start(4) - len(b',"mac":"')]
        fits = hmac.compare_digest(_mac(self._key, seen.mac, body), mac)
        # What follows is measured by what stands here: one flaw is told once.
        seen.file, seen.place, seen.mac = file, place, mac
        if (name, place) in self._places:
            seen.wanted[place] = mac
        if place > last + 1:
            missing = place - last - 1
            lines = "1 line" if missing == 1 else f"{missing} lines"
            return f"{lines} of chain {name} missing before place {place}, or in another order"
        if place <= last:
            return f"in another order: place {place} of chain {name} stands behind place {last}"
        return "" if fits else f"changed: the MAC at place {place} of chain {name} is another"

    def finish(self) -> list[str]:
        """Compares with the heads; returns all flaws."""
        for head in self._heads:
            seen = self._chains.get(head.chain)
            what = f"chain {head.chain} had come to place {head.place}"
            if seen is None:
                # One that ended before the first of the files is in a file that was not given.
                if self._since and head.time >= self._since:
                    self.flaws.append(f"cut off: {what}, and is in none of the files")
            elif head.place > seen.place:
                self.flaws.append(f"{seen.file}: cut off: {what}, and ends at place {seen.place}")
            elif (mac := seen.wanted.get(head.place)) is not None and mac.hex() != head.mac:
                self.flaws.append(f"{seen.file}: changed: {what} with another MAC")
        return self.flaws


def _time(body: bytes) -> str:
    return "" if (found := _TIME.search(body)) is None else found[1].decode()


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
