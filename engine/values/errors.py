"""Every error that the engine can answer with, and its SQLSTATE: the one home of that mapping."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from engine.values.messages import ErrorReply


def for_log(error: BaseException) -> str:
    """What a log may say of `error` and its causes: their classes and SQLSTATEs, and the words of an OSError.

    No message: a server's repeats values of rows (`invalid input syntax for type integer: "…"`), ours repeat theirs.
    """
    known = error if isinstance(error, OSError) else getattr(error, "sqlstate", None) or ""
    told = f"{type(error).__name__} {known}".rstrip()
    return told if error.__cause__ is None else f"{told}: {for_log(error.__cause__)}"


@dataclass(frozen=True, slots=True)
class Told:
    """The texts of an error: what happened, why, what to do. `{name}` stands for what is filled in."""

    message: str
    detail: str | None = None
    hint: str | None = None


class NLError(Exception):
    """An error that reaches the user, with SQLSTATE, DETAIL and HINT.

    Subclasses fix `sqlstate`. `message` starts in lower case and ends without a full stop, as PostgreSQL's
    do; `detail` and `hint` are whole sentences.
    """

    sqlstate = "XX000"

    def __init__(self, message: str, *, detail: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail
        self.hint = hint

    @classmethod
    def told(cls, texts: Told, **filled: object) -> Self:
        """The error in the words of `texts` (`engine.values.wording`)."""
        detail, hint = ((each or "").format(**filled) or None for each in (texts.detail, texts.hint))
        return cls(texts.message.format(**filled), detail=detail, hint=hint)

    def reply(self) -> ErrorReply:
        """The error as it travels to the gateway."""
        return ErrorReply(self.sqlstate, self.message, self.detail, self.hint)


class SyntaxProblemError(NLError):
    """The NL statement cannot be understood."""

    sqlstate = "42601"


class StatementTooLongError(NLError):
    """A message that is too long to be read for NL."""

    sqlstate = "54000"


class UnsupportedError(NLError):
    """An NL statement where it cannot work."""

    sqlstate = "0A000"


class StalePlanError(NLError):
    """A prepared statement no longer means what it did; drivers that know the case prepare it again."""

    sqlstate = "0A000"


class NotPermittedError(NLError):
    """The asking role may not do this."""

    sqlstate = "42501"


class CancelledError(NLError):
    """Cancelled by the user or timed out."""

    sqlstate = "57014"


class QuotaError(NLError):
    """Too much was asked for: a configured limit was reached."""

    sqlstate = "53400"


class BusyError(NLError):
    """No place for the question within its time: another engine may have one."""

    sqlstate = "53000"


class ModelUnavailableError(NLError):
    """The engine or its language model does not answer."""

    sqlstate = "58000"


class ModelAwayError(ModelUnavailableError):
    """The model's service cannot be reached, fails, or has too much to do: another may be asked."""


class ContextLengthError(ModelUnavailableError):
    """The prompt is longer than the model takes."""


class EngineLostError(ModelUnavailableError):
    """The engine does not answer. `sent`: whether it may have the request, and have done what it asks for."""

    def __init__(self, message: str, *, detail: str, hint: str, sent: bool) -> None:
        super().__init__(message, detail=detail, hint=hint)
        self.sent = sent


class DatabaseUnavailableError(NLError):
    """A registered database does not answer."""

    sqlstate = "58000"


class UnrecordedError(NLError):
    """The audit log could not be written, and nothing may leave without its line there."""

    sqlstate = "58030"


class NeedsAnswerError(NLError):
    """The question waits for an answer to a question back: there is no statement yet."""

    sqlstate = "NL001"


class AbstainedError(NLError):
    """There is no answer: one of its rows was chosen, or the asker wants an error then."""

    sqlstate = "NL002"


class NoRouteError(NLError):
    """No cataloged database can answer."""

    sqlstate = "NL003"


class UnknownQuestionError(NLError):
    """The qid does not exist, expired, or belongs to somebody else (the three look the same)."""

    sqlstate = "NL004"


class StaleDialogueError(NLError):
    """The databases that a question is about have changed, or what of them its asker may read, since it was asked."""

    sqlstate = "NL004"


class UnsafeSQLError(NLError):
    """The guard refused a statement."""

    sqlstate = "NL005"


class CostlyError(NLError):
    """What was chosen costs more than is run without being told: the gateway sends it without ending a transaction."""

    sqlstate = "NL006"


class InternalError(NLError):
    """A fault of ours."""

    sqlstate = "XX000"


class InvalidSettingError(NLError):
    """A setting or option has a value out of its range."""

    sqlstate = "22023"

    @classmethod
    def of(cls, name: str, value: str, hint: str) -> InvalidSettingError:
        """The error of the setting `nl.<name>`. `hint`: which values it takes, a sentence."""
        return cls(f'invalid value for parameter "nl.{name}": "{value}"', hint=hint)


class ReportedError(NLError):
    """An error that came from elsewhere as a value, with exactly its fields."""

    def __init__(self, reply: ErrorReply) -> None:
        super().__init__(reply.message, detail=reply.detail, hint=reply.hint)
        self.sqlstate = reply.sqlstate


class ReportedBusyError(ReportedError):
    """A `BusyError` of an engine, as its client sees it."""


class PackagedError(Exception):
    """The model cannot be used; the message says why and what to do."""
