"""Settings that are of single databases and roles."""

from __future__ import annotations

from dataclasses import dataclass

EVERY = "*"
"""Any database, or any role."""


@dataclass(frozen=True, slots=True)
class _Whose:
    database: str = EVERY
    role: str = EVERY

    def fits(self, database: str, role: str) -> bool:
        """Whether it is for `role` in `database`."""
        return self.database in (EVERY, database) and self.role in (EVERY, role)


@dataclass(frozen=True, slots=True)
class ResultCaps(_Whose):
    """How much a statement that runs may give, in `database` (its registered name) to `role`; both `*` for any.

    `value_bytes`: of one value; a longer one is cut. `answer_bytes`: of all values together; rows beyond it are
    left out. `rows`: at most, also where `[limits]` allows more.
    """

    value_bytes: int = 1 << 20
    answer_bytes: int = 16 << 20
    rows: int = 100_000

    def __post_init__(self) -> None:
        for name in ("value_bytes", "answer_bytes", "rows"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is at least 1, not {getattr(self, name)}")


@dataclass(frozen=True, slots=True)
class ChooseCost(_Whose):
    """From which `cost` on, by the planner, a statement does not run for `role` in `database`; 0: any runs.

    `anyway`: whether `NL CHOOSE n ANYWAY` runs it. Database (its registered name) and role are `*` for any.
    """

    cost: float = 0.0
    anyway: bool = True
