"""The values of understanding: what nothing in a schema stands for, and literals that do not occur."""

from __future__ import annotations

from dataclasses import dataclass

from schema_catalog.types import ColumnKey


@dataclass(frozen=True, slots=True)
class UnknownPhrase:
    """A word of the question that nothing stands for. `nearest`: the closest element, and its `cosine` in [-1, 1]."""

    text: str
    nearest: ColumnKey | None
    cosine: float


@dataclass(frozen=True, slots=True)
class Literal:
    """A text that a statement compares a column with. `pattern`: as LIKE (or ILIKE, `any_case`) does, else equal."""

    column: ColumnKey
    text: str
    pattern: bool = False
    any_case: bool = False


@dataclass(frozen=True, slots=True)
class LiteralCheck:
    """Which of a statement's literals its columns hold; those that could not be looked for are in neither."""

    present: tuple[Literal, ...] = ()
    missing: tuple[Literal, ...] = ()

    @property
    def all_invented(self) -> bool:
        """Whether there are literals and none of them occurs."""
        return bool(self.missing) and not self.present
