"""The pseudonyms of people in the audit log: an HMAC of the name by a key of the person's own, a file each.

Without the key nobody can tell whose lines they are. No file names its person: its name is an HMAC by the log's key.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from pathlib import Path

_LENGTH = 20
"""Hexadecimal digits of a pseudonym."""


class People:
    """Those whose keys are in `folder`. Keys are read each time: one that was destroyed is nowhere else."""

    def __init__(self, folder: Path, key: bytes) -> None:
        self._folder = folder
        self._key = key

    def _file(self, person: str) -> Path:
        return self._folder / hmac.digest(self._key, b"person:" + _encoded(person), hashlib.sha256).hex()

    def pseudonym(self, person: str) -> str:
        """As `p-3f0c…`; the person's key is made where there is none. Raises `OSError`."""
        found = self.known(person)
        return found or _pseudonym(self._made(self._file(person)), person)

    def known(self, person: str) -> str | None:
        """The pseudonym of a person who has a key. Raises `OSError`."""
        try:
            return _pseudonym(self._file(person).read_bytes(), person)
        except FileNotFoundError:
            return None

    def forget(self, person: str) -> bool:
        """Destroys the person's key; returns whether there was one. Raises `OSError`."""
        try:
            self._file(person).unlink()
        except FileNotFoundError:
            return False
        return True

    def _made(self, file: Path) -> bytes:
        # Two workers may meet the same person at once: the first link counts, and no file is ever half a key.
        draft = self._folder / f".{secrets.token_hex(8)}"
        number = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(number, "wb") as made:
                made.write(secrets.token_bytes(32))
                made.flush()
                os.fsync(number)
            os.link(draft, file)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
        return file.read_bytes()


def _encoded(person: str) -> bytes:
    # A role's name may be of any bytes.
    return person.encode("utf-8", "surrogateescape")


def _pseudonym(key: bytes, person: str) -> str:
    return f"p-{hmac.digest(key, _encoded(person), hashlib.sha256).hex()[:_LENGTH]}"
