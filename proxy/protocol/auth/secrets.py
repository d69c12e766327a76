"""The secrets of roles, the format of `auth_file` (PgBouncer's userlist.txt), and what a login shows of a role.

A role that does not exist looks like most of the real ones (PostgreSQL's mock authentication).
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from proxy.protocol.auth.scram import ITERATIONS, SALT_SIZE, ClientKeys, Verifier

_MD5 = re.compile(r"md5[0-9a-f]{32}")
_LINE = re.compile(r'\s*"((?:[^"]|"")*)"\s+"((?:[^"]|"")*)"')


@dataclass(frozen=True, slots=True)
class Password:
    """A password as it is."""

    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class MD5Hash:
    """`md5` and the hash of password and role name."""

    text: str = field(repr=False)


Secret = Password | MD5Hash | Verifier
Credentials = Password | MD5Hash | ClientKeys | None
"""The credentials for a login at the upstream in the name of a client; None: there are none."""


def secret_of(text: str) -> Secret | None:
    """The secret that `text` stands for, by its form; an empty text is none (it allows no login)."""
    if not text:
        return None
    if _MD5.fullmatch(text):
        return MD5Hash(text)
    return Verifier.parse(text) or Password(text)


def parse_user_list(text: str) -> Mapping[str, Secret | None]:
    """Role name → secret. Empty lines and lines that start with `;` or `#` do not count.

    Raises `ValueError`, which names the line and never its content.
    """
    found: dict[str, Secret | None] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip()[0] in ";#":
            continue
        match = _LINE.match(line)
        if match is None:
            raise ValueError(f'line {number} is not of the form "user" "secret"')
        name, secret = (word.replace('""', '"') for word in match.groups())
        found[name] = secret_of(secret)
    return found


def md5_hash(user: str, password: str) -> str:
    """The hash that PostgreSQL keeps: md5 of password and role name."""
    return "md5" + _md5(password.encode("utf-8", "surrogateescape") + user.encode("utf-8", "surrogateescape"))


def md5_response(stored: str, salt: bytes) -> str:
    """The response to AuthenticationMD5Password (PostgreSQL docs, 54.2)."""
    return "md5" + _md5(stored.removeprefix("md5").encode() + salt)


def same(left: str, right: str) -> bool:
    """Whether two secrets are equal, in a time that does not tell where they differ."""
    return hmac.compare_digest(
        left.encode("utf-8", "surrogateescape"), right.encode("utf-8", "surrogateescape")
    )


def _md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


@dataclass(frozen=True, slots=True)
class VisibleTraits:
    """The visible traits of one role's secret; `iterations` and `salt_size` are 0 where it is no verifier."""

    iterations: int = 0
    salt_size: int = 0
    is_password: bool = False

    @staticmethod
    def of(secret: Secret) -> VisibleTraits:
        """The visible traits of `secret`."""
        if isinstance(secret, Verifier):
            return VisibleTraits(secret.iterations, len(secret.salt))
        return VisibleTraits(is_password=isinstance(secret, Password))


@dataclass(frozen=True, slots=True)
class MockRole:
    """A role that does not exist. `asks_scram`: method `md5` does; `derives_keys`: SCRAM begins with a derivation."""

    iterations: int = ITERATIONS
    salt_size: int = SALT_SIZE
    asks_scram: bool = True
    derives_keys: bool = False


def typical_role(traits: Counter[VisibleTraits]) -> MockRole:
    """The most common traits; PostgreSQL's defaults where there are no roles."""
    verifiers = Counter({trait: count for trait, count in traits.items() if trait.iterations})
    common = verifiers.most_common(1)[0][0] if verifiers else VisibleTraits(ITERATIONS, SALT_SIZE)
    return MockRole(
        iterations=common.iterations,
        salt_size=common.salt_size,
        asks_scram=2 * verifiers.total() >= traits.total(),
        derives_keys=any(trait.is_password for trait in traits),
    )
