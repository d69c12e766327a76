"""The NL surface as values."""

from __future__ import annotations

from dataclasses import dataclass

from engine.values.messages import (
    AnswerRequest,
    Asker,
    ChooseRequest,
    CorrectRequest,
    ErrorReply,
    MoreRequest,
    NoneRequest,
    PlanRequest,
    ShowRequest,
    Topic,
)

Option = tuple[str, str]
"""(name, value as written) of an option or a setting."""


@dataclass(frozen=True, slots=True)
class NLQuestion:
    """`NL (options): text`; `new`: `NL NEW`, which no dialogue is read with."""

    text: str
    options: tuple[Option, ...] = ()
    new: bool = False


@dataclass(frozen=True, slots=True)
class RunQuestion:
    """`NL RUN question`: answered by the result where its set has one member, by its candidates otherwise."""

    question: NLQuestion


FollowUpRequest = ShowRequest | MoreRequest | AnswerRequest | NoneRequest | CorrectRequest
"""Answered by rows of the fixed shape of an answer."""

SqlRequest = ChooseRequest | PlanRequest
"""Answered by SQL of the engine's."""

NOBODY = Asker("", "")
"""Who asks, in a statement: its session knows."""


@dataclass(frozen=True, slots=True)
class FollowUp:
    """`NL SHOW`, `MORE`, `ANSWER`, `NONE` or `CORRECT`; `request`: what it asks of the engine about the answer `qid`.

    In the request itself the session puts who asks, the answer, and the time. `qid` None: the session's last answer.
    """

    request: FollowUpRequest
    qid: str | None = None


@dataclass(frozen=True, slots=True)
class SqlStatement:
    """`NL CHOOSE n` or `NL PLAN n`, as `FollowUp`."""

    request: SqlRequest
    qid: str | None = None


@dataclass(frozen=True, slots=True)
class AnswerTopic:
    """`NL EXPLAIN n`, `NL WHY`, `NL SHOWPROMPT`, `NL FORGET`, each `[OF 'qid']`."""

    topic: Topic
    qid: str | None = None
    n: int | None = None


@dataclass(frozen=True, slots=True)
class HistoryTopic:
    """`NL HISTORY [n]`, `NL FORGET ALL`: about all of the asker's questions. `NL HELP`: about none."""

    topic: Topic
    n: int | None = None


AnswerStatement = NLQuestion | FollowUp
"""Statements whose rows have the fixed shape of an answer."""

TableStatement = AnswerTopic | HistoryTopic
"""Statements whose rows have the fixed columns of their topic."""

NLStatement = AnswerStatement | TableStatement | SqlStatement | RunQuestion


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
class RunCall:
    """`nl.run('qid', n)`. `named`: an alias follows the call."""

    qid: str
    n: int
    named: bool


NLCall = AskCall | RunCall


@dataclass(frozen=True, slots=True)
class RefusedQuestion(ErrorReply):
    """The error for a question that cannot be understood: the connection's last question has no answer then."""


Question = NLQuestion | RunQuestion | AskCall | RefusedQuestion
"""Whatever asks anew."""


MOST_FINDINGS = 100
"""NL statements and calls of one message that are worth reading on: each is a request to the engine."""


@dataclass(frozen=True, slots=True)
class Finding:
    """`text[start:end]` is an NL statement, a call of ours, or refused with an error."""

    start: int
    end: int
    content: NLStatement | NLCall | ErrorReply
    first: bool
    """Whether no statement that the server would carry out is before it in the text."""


@dataclass(frozen=True, slots=True)
class SettingChange:
    """`SET [LOCAL] nl.name = value`; `value` None resets it, `name` None resets all."""

    name: str | None
    value: str | None
    local: bool = False


@dataclass(frozen=True, slots=True)
class Examination:
    """The content of a text. `statements` counts those that are not empty; `parameters` is the highest `$n`."""

    findings: tuple[Finding, ...]
    changes: tuple[SettingChange, ...]
    statements: int
    parameters: int
