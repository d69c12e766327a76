"""The NL surface as values: what the grammar finds in a text."""

from __future__ import annotations

from dataclasses import dataclass

from engine.types import ErrorReply

Option = tuple[str, str]
"""(name, value as written) of an option or a setting."""


@dataclass(frozen=True, slots=True)
class Question:
    """`NL (options): text`."""

    text: str
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class Choose:
    """`NL CHOOSE n [OF 'qid']`."""

    n: int
    qid: str | None = None


@dataclass(frozen=True, slots=True)
class Show:
    """`NL SHOW [n] [OF 'qid']`."""

    n: int | None = None
    qid: str | None = None


@dataclass(frozen=True, slots=True)
class Help:
    """`NL HELP`."""


NLStatement = Question | Choose | Show | Help


@dataclass(frozen=True, slots=True)
class Parameter:
    """The parameter `$number` as the argument of a call."""

    number: int


@dataclass(frozen=True, slots=True)
class AskCall:
    """`nl.ask(argument)`. `named`: an alias follows the call."""

    argument: str | Parameter
    named: bool


@dataclass(frozen=True, slots=True)
class Finding:
    """`text[start:end]` is for us: a statement, a call, or something that has to be refused."""

    start: int
    end: int
    what: NLStatement | AskCall | ErrorReply
    first: bool
    """Whether nothing that the server would carry out stands before it in the text."""


@dataclass(frozen=True, slots=True)
class SettingChange:
    """`SET [LOCAL] nl.name = value`; `value` None resets it, `name` None resets all."""

    name: str | None
    value: str | None
    local: bool = False


@dataclass(frozen=True, slots=True)
class Examination:
    """What a text holds. `statements` counts those that are not empty; `parameters` is the highest `$n`."""

    findings: tuple[Finding, ...]
    changes: tuple[SettingChange, ...]
    statements: int
    parameters: int
