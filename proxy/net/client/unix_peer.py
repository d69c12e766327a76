"""The process and user at the other end of a Unix socket (SO_PEERCRED)."""

from __future__ import annotations

import os
import pwd
import socket
import struct
import sys
from typing import Any

_CREDENTIALS = struct.Struct("3i")
"""struct ucred (unix(7)): process, user, group."""


def peer_credentials(sock: Any) -> tuple[int, int] | None:
    """(process id, user id) of the other end; None where the system does not report it."""
    if sys.platform != "linux" or sock is None or sock.family != socket.AF_UNIX:
        return None
    process, user, _ = _CREDENTIALS.unpack(
        sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    )
    return process, user


def user_name(uid: int) -> str | None:
    """The name of a user of this machine."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return None


def is_own_user(uid: int) -> bool:
    """Whether this is the user that the gateway runs as."""
    return uid == os.getuid()
