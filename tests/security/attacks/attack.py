"""What an attack is: objects that role_a plants, and statements that make PostgreSQL run them unasked."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Moment(StrEnum):
    """When the planted code runs, where somebody types the statement into psql."""

    PLANNED = "planned"
    """EXPLAIN alone is enough."""
    RUN = "run"


@dataclass(frozen=True, slots=True)
class Attack:
    """One way to have planted code run by a statement that names only tables and built-ins.

    `plant`: SQL that role_a runs; `a.spy` and its kin are there already (`planted.sql`). `admin`: what a superuser
    adds, where PostgreSQL reserves a part of the trap for one. `victim`: what role_b builds on role_a's objects in
    good faith; such an attack needs role_b to ask. `statements` each reach the trap. `first`, `last`: the major
    versions on which they do. `setting`: what role_a's or role_b's own session needs for that, for example.
    """

    name: str
    plant: str
    statements: tuple[str, ...]
    moment: Moment = Moment.RUN
    admin: str = ""
    victim: str = ""
    first: int = 13
    last: int = 18

    def on(self, version: int) -> bool:
        """Whether the attack works on that major version."""
        return self.first <= version <= self.last
