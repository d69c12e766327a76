"""Problems with a statement's names, as values whose messages help a user or a repairing model.

Owns the wording. Names come as PostgreSQL holds them and are shown as SQL writes them.
"""

from __future__ import annotations

from dataclasses import dataclass

from schema_catalog.naming import dotted, quote_ident

Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnknownTable:
    """No such table is visible. `similar`: names to write instead, closest first."""

    name: Names
    similar: Names = ()

    @property
    def message(self) -> str:
        """One sentence without a full stop."""
        return f"table {dotted(self.name)} does not exist{_instead(self.similar)}"


@dataclass(frozen=True, slots=True)
class UnknownColumn:
    """No table in scope has the column.

    `name`: with its qualifier, where written. `similar`: columns in scope with a close name. `elsewhere`: columns of
    exactly this name in tables that are not in FROM. `output`: an output column has this name, which the clause cannot
    see.
    """

    name: Names
    similar: Names = ()
    elsewhere: Names = ()
    output: bool = False

    @property
    def message(self) -> str:
        """One sentence without a full stop."""
        text = f"column {dotted(self.name)} does not exist here"
        if self.output:
            return f"{text}: an output name is visible only to ORDER BY and GROUP BY, repeat the expression"
        if self.elsewhere and not self.similar:
            return f"{text}; there is {_listed(self.elsewhere)}, whose table is not in FROM"
        return text + _instead(self.similar)


@dataclass(frozen=True, slots=True)
class AmbiguousColumn:
    """The name means several columns. `choices`: each, qualified; none where no qualifier tells them apart."""

    name: str
    choices: Names

    @property
    def message(self) -> str:
        """One sentence without a full stop."""
        text = f"column {quote_ident(self.name)} is ambiguous"
        if self.choices:
            return f"{text}: write {_listed(self.choices)}"
        return f"{text}: give the columns that it may mean different names with AS"


@dataclass(frozen=True, slots=True)
class NotInFrom:
    """A qualifier that FROM does not hold. `called`: the alias that hides the table of this name."""

    name: Names
    called: Names = ()
    similar: Names = ()

    @property
    def message(self) -> str:
        """One sentence without a full stop."""
        text = f"{dotted(self.name)} is not in FROM"
        if self.called:
            return f"{text} under this name: it is called {_listed(self.called)} there"
        return text + _instead(self.similar)


@dataclass(frozen=True, slots=True)
class DuplicateName:
    """Two entries of one FROM have the same name."""

    name: str

    @property
    def message(self) -> str:
        """One sentence without a full stop."""
        return f"name {quote_ident(self.name)} is given twice in FROM: give one of them another alias"


@dataclass(frozen=True, slots=True)
class NoSuchOutput:
    """ORDER BY or GROUP BY names an output column that does not exist, by number or by name."""

    name: str
    outputs: int

    @property
    def message(self) -> str:
        """One sentence without a full stop."""
        return f"there is no output column {self.name}: the query gives {self.outputs}"


@dataclass(frozen=True, slots=True)
class WholeRow:
    """All columns of a table at once, unnamed or by position, where some of them are kept from questions."""

    name: str

    @property
    def message(self) -> str:
        """One sentence without a full stop."""
        return f"the columns of {quote_ident(self.name)} are named one by one here, without * and NATURAL"


Problem = UnknownTable | UnknownColumn | AmbiguousColumn | NotInFrom | DuplicateName | NoSuchOutput | WholeRow


def _listed(choices: Names) -> str:
    return " or ".join(choices)


def _instead(similar: Names) -> str:
    return f"; did you mean {_listed(similar)}?" if similar else ""
