"""How the engine finds the session of an asker's that it may borrow."""

from __future__ import annotations

from dataclasses import dataclass, field

LOAN_PARAMETER = "pgparley.loan"
"""The startup parameter in which a connection to a `SessionLoan` sends its token."""


@dataclass(frozen=True, slots=True)
class SessionLoan:
    """The address at which the engine borrows the asker's own session.

    `host`: an IP address, or the directory of a Unix socket. `token`: valid until the request is answered; who has it
    may act as the asker. `certificate`: the only one that the address may have, in PEM; empty: it is without TLS.
    """

    host: str
    port: int
    token: str = field(repr=False)
    certificate: str = field(default="", repr=False)
