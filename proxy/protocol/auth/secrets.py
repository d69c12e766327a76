"""The secrets of roles, and the file that holds them.

Owns the kinds of secrets and the format of `auth_file`, which is PgBouncer's userlist.txt.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from proxy.protocol.auth.scram import ClientKeys, Verifier

_MD5 = re.compile(r"md5[0-9a-f]{32}")
_LINE = re.compile(r'\s*"((?:[^"]|"")*)"\s+"((?:[^"]|"")*)"')


class UserListError(Exception):
    """`auth_file` cannot be read; the message names the line and never its content."""


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

    Raises:
        UserListError: A line is not two quoted words.
    """
    found: dict[str, Secret | None] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip()[0] in ";#":
            continue
        match = _LINE.match(line)
        if match is None:
            raise UserListError(f'line {number} is not of the form "user" "secret"')
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
