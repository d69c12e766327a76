"""Host rules: which clients may connect, and by which method: the part of pg_hba.conf that PgBouncer reads.

The first rule that matches decides, else the client is refused. A line that is not understood refuses the whole file: a
skipped `reject` would open what it closes.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from enum import StrEnum

_TOKEN = re.compile(r'"((?:[^"]|"")*)"(,?)|([^\s,"#]+)(,?)|(#.*)|(\s+)')
_ADDRESS_AND_MASK = 2

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Method(StrEnum):
    """How a client is authenticated."""

    PASSTHROUGH = "passthrough"
    TRUST = "trust"
    REJECT = "reject"
    PASSWORD = "password"  # noqa: S105 - the method's name
    MD5 = "md5"
    SCRAM = "scram-sha-256"
    CERT = "cert"
    PEER = "peer"


@dataclass(frozen=True, slots=True)
class ClientOrigin:
    """Where a client comes from. `address` is None for a Unix socket."""

    address: str | None
    tls: bool


@dataclass(frozen=True, slots=True)
class HBAName:
    """A name in a rule; a quoted one is never a keyword."""

    text: str
    quoted: bool

    def is_keyword(self, keyword: str) -> bool:
        """Whether it is this keyword."""
        return not self.quoted and self.text == keyword


@dataclass(frozen=True, slots=True)
class HBARule:
    """One line. `networks` is empty where every address matches."""

    kind: str
    databases: tuple[HBAName, ...]
    users: tuple[HBAName, ...]
    networks: tuple[Network, ...]
    method: Method

    def matches(self, origin: ClientOrigin, database: str, user: str) -> bool:
        """Whether the rule decides about this client."""
        return (
            self._matches_origin(origin)
            and self._matches_database(database, user)
            and self._matches_user(user)
        )

    def _matches_origin(self, origin: ClientOrigin) -> bool:
        if origin.address is None or self.kind == "local":
            return origin.address is None and self.kind == "local"
        if (self.kind == "hostssl" and not origin.tls) or (self.kind == "hostnossl" and origin.tls):
            return False
        address = _unmapped(ipaddress.ip_address(origin.address.partition("%")[0]))
        return not self.networks or any(address in network for network in self.networks)

    def _matches_database(self, database: str, user: str) -> bool:
        return any(
            word.is_keyword("all")
            or (word.is_keyword("sameuser") and database == user)
            or word.text == database
            for word in self.databases
        )

    def _matches_user(self, user: str) -> bool:
        return any(word.is_keyword("all") or word.text == user for word in self.users)


def decide(rules: tuple[HBARule, ...], origin: ClientOrigin, database: str, user: str) -> Method:
    """The method of the first rule that matches; `REJECT` where none does."""
    return next((rule.method for rule in rules if rule.matches(origin, database, user)), Method.REJECT)


def parse_rules(text: str) -> tuple[HBARule, ...]:
    """The rules of a file, in order. Raises `ValueError`, which names a line that cannot be understood."""
    rules = []
    for number, line in enumerate(text.splitlines(), 1):
        fields = _fields(line, number)
        if fields:
            rules.append(_rule(fields, number))
    return tuple(rules)


def _fields(line: str, number: int) -> list[list[HBAName]]:
    """The fields of a line; a field is a list of names with commas between."""
    fields: list[list[HBAName]] = []
    pos, joined = 0, False
    while pos < len(line):
        match = _TOKEN.match(line, pos)
        if match is None:
            raise ValueError(f"line {number}: not understood at column {pos + 1}")
        pos = match.end()
        quoted, comma, bare, comma_of_bare, comment, blank = match.groups()
        if comment is not None:
            break
        if blank is not None:
            continue
        word = (
            HBAName(quoted.replace('""', '"'), quoted=True)
            if quoted is not None
            else HBAName(bare, quoted=False)
        )
        if joined:
            fields[-1].append(word)
        else:
            fields.append([word])
        joined = bool(comma or comma_of_bare)
    return fields


def _rule(fields: list[list[HBAName]], number: int) -> HBARule:
    kind = fields[0][0].text
    if kind not in ("local", "host", "hostssl", "hostnossl"):
        raise ValueError(f'line {number}: "{kind}" is no connection type')
    least = 4 if kind == "local" else 5
    if len(fields) < least:
        raise ValueError(f"line {number}: something is missing")
    _refuse_unsupported([*fields[1], *fields[2]], number)
    rest = fields[3:]
    networks: tuple[Network, ...] = ()
    if kind != "local":
        networks, used = _networks([field[0].text for field in rest], number)
        rest = rest[used:]
    if len(rest) != 1 or len(rest[0]) != 1:
        raise ValueError(f"line {number}: one authentication method is expected, without options")
    try:
        method = Method(rest[0][0].text)
    except ValueError:
        raise ValueError(f'line {number}: "{rest[0][0].text}" is no authentication method') from None
    if method is Method.PEER and kind != "local":
        raise ValueError(f"line {number}: peer works on a Unix socket only")
    if method is Method.CERT and kind != "hostssl":
        raise ValueError(f"line {number}: cert works with hostssl only")
    return HBARule(kind, tuple(fields[1]), tuple(fields[2]), networks, method)


def _refuse_unsupported(words: list[HBAName], number: int) -> None:
    for word in words:
        unsupported = word.text.startswith(("@", "+", "/")) or word.text in (
            "samerole",
            "samegroup",
            "replication",
        )
        if unsupported and not word.quoted:
            raise ValueError(f'line {number}: "{word.text}" is not supported')


def _networks(fields: list[str], number: int) -> tuple[tuple[Network, ...], int]:
    if fields[0] == "all":
        return (), 1
    try:
        if "/" in fields[0]:
            return (ipaddress.ip_network(fields[0], strict=False),), 1
        if len(fields) > _ADDRESS_AND_MASK:
            return (ipaddress.ip_network(f"{fields[0]}/{fields[1]}", strict=False),), 2
    except ValueError:
        pass
    raise ValueError(f'line {number}: "{fields[0]}" is no address; names of hosts are not supported')


def _unmapped(address: Address) -> Address:
    """`address`, or the IPv4 address that it maps (RFC 4291, 2.5.5.2)."""
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
