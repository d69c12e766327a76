"""The values of understanding: what nothing in a schema stands for, and literals that do not occur."""

from __future__ import annotations

from dataclasses import dataclass

from schema_catalog.types import ColumnKey


@dataclass(frozen=True, slots=True)
class UnknownPhrase:
    """A word of the question that nothing stands for. `nearest`: the closest element, and its `cosine` in [-1, 1].

    `looked`: the columns of text in whose rows it was looked for as well, in any case; `unlooked`: how many others the
    asker may read.
    """

    text: str
    nearest: ColumnKey | None
    cosine: float
    looked: tuple[ColumnKey, ...] = ()
    unlooked: int = 0


@dataclass(frozen=True, slots=True)
class Literal:
    """A text that a statement compares a column with. `pattern`: as LIKE (or ILIKE, `any_case`) does, else equal.

    `negated`: rows with the text are left out.
    """

    column: ColumnKey
    text: str
    pattern: bool = False
    any_case: bool = False
    negated: bool = False


@dataclass(frozen=True, slots=True)
class LiteralCheck:
    """Which of a statement's literals its columns hold. `unknown`: those that could not be looked for.

    `in_any_case`: of the missing ones those that are a stored text but for capital letters.
    """

    present: tuple[Literal, ...] = ()
    missing: tuple[Literal, ...] = ()
    unknown: tuple[Literal, ...] = ()
    in_any_case: tuple[Literal, ...] = ()

    @property
    def all_invented(self) -> bool:
        """Whether there are texts that rows are to have and none of them occurs."""
        wanted = [each for each in self.missing if not each.negated]
        return bool(wanted) and all(each.negated for each in self.present)
