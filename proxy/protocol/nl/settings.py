"""The settings `nl.*`: read from passing statements, and applied to a question.

The server keeps them as customized options, which it accepts without knowing them. Read are a plain SET, RESET or
DISCARD ALL in the text of a statement, and the startup packet (docs/surface.md lists what that misses).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Enum

from engine.values.errors import InvalidSettingError
from engine.values.messages import Asker, AskRequest, OnDoubt
from proxy.protocol.codec import Startup
from proxy.protocol.lexer import LexedStatement, LexedToken, SqlText
from proxy.protocol.nl.persons import ON_BEHALF
from proxy.protocol.nl.statements import NLQuestion, Option, SettingChange
from proxy.protocol.numbers import decimal, whole

_K_MOST = 999_999_999
_MOST_SECONDS = 1e9


class OutputMode(Enum):
    """`nl.output`: how an answer reaches the client."""

    ROWS = "rows"
    NOTICES = "notices"
    BOTH = "both"


_PREFIX = "nl."
_OPTION_WORD = re.compile(r"(?:\\.|[^\s\\])+")
_TIMEOUT = re.compile(r"\s*+([0-9.]++)\s*+(ms|s|min)?\s*")
_SECONDS = {"ms": 0.001, "s": 1.0, "min": 60.0, None: 1.0}


class SettingValues:
    """Those of one session, as far as it is known."""

    __slots__ = ("_initial", "_local", "_session")

    def __init__(self, values: Sequence[tuple[str, str]]) -> None:
        """`values`: (name, value), as the session starts."""
        self._initial = dict(values)
        self._session = dict(values)
        self._local: dict[str, str] = {}

    @property
    def changed(self) -> bool:
        """Whether one differs from what the session started with."""
        return bool(self._local) or self._session != self._initial

    @property
    def effective(self) -> dict[str, str]:
        """Those that count now."""
        return {**self._session, **self._local}

    @property
    def person(self) -> str:
        """On whose behalf the session asks; empty: its login's own."""
        return self._session.get(ON_BEHALF, "")

    @property
    def initial_person(self) -> str:
        """The same, as it started."""
        return self._initial.get(ON_BEHALF, "")

    def apply(self, changes: Sequence[SettingChange]) -> None:
        """Applies changes."""
        for change in changes:
            values = self._local if change.local else self._session
            if change.name is None:
                self._session = dict(self._initial)
                self._local.clear()
            elif change.value is not None:
                values[change.name] = change.value
            else:
                values.pop(change.name, None)
                if change.name in self._initial:
                    values[change.name] = self._initial[change.name]

    def end_local(self) -> None:
        """A transaction has ended."""
        self._local.clear()


def change(source: SqlText, statement: LexedStatement) -> SettingChange | None:
    """The change of a setting of ours that an SQL statement is, if it is one."""
    words = list(statement.significant)
    if not words or not source.is_word(words[0], "set", "reset", "discard"):
        return None
    verb = source.raw(words.pop(0)).lower()
    if verb != "set" and len(words) == 1 and source.is_word(words[0], "all"):
        return SettingChange(None, None)
    local = bool(words) and source.is_word(words[0], "local")
    if words and verb == "set" and source.is_word(words[0], "local", "session"):
        del words[0]
    match [source.name(word) or source.raw(word) for word in words[:3]]:
        case ["nl", ".", name] if verb != "discard":
            assigned = words[4:] if verb == "set" else []
            return SettingChange(name, _value(source, statement, assigned), local)
    return None


def _value(source: SqlText, statement: LexedStatement, words: Sequence[LexedToken]) -> str | None:
    """The value behind `=` or TO; None for DEFAULT and where there is none."""
    if not words or (len(words) == 1 and source.is_word(words[0], "default")):
        return None
    if len(words) == 1:
        return source.value(words[0])
    return source.text[words[0].start : statement.end].strip()


def from_startup(startup: Startup) -> tuple[tuple[str, str], ...]:
    """The settings that a startup packet gives, as parameters of their own or by `options=-c nl.x=…`."""
    found = [(name[len(_PREFIX) :], value) for name, value in startup.parameters if name.startswith(_PREFIX)]
    options = startup.parameter("options") or ""
    words = [re.sub(r"\\(.)", r"\1", word) for word in _OPTION_WORD.findall(options)]
    for before, word in zip(["", *words], words, strict=False):
        assignment = word if before == "-c" else _assignment(word)
        name, equals, value = assignment.partition("=")
        if equals and name.startswith(_PREFIX):
            found.append((name[len(_PREFIX) :], value))
    return tuple(found)


def _assignment(word: str) -> str:
    """The `name=value` of `-cname=value` and `--name=value`."""
    return next((word.removeprefix(flag) for flag in ("--", "-c") if word.startswith(flag)), "")


def request(
    asker: Asker, question: NLQuestion, session: Mapping[str, str], after: str | None = None
) -> AskRequest:
    """The request that a question makes under the session's settings; its own options come first.

    `after`: the qid of the answer before, which counts where there is a dialogue (`nl.context`).

    Raises:
        InvalidSettingError: A value is out of its range.
    """
    values = {**session, **dict(question.options)}
    context = _word("context", ("on", "off"), session, question.options)
    return AskRequest(
        asker,
        question.text,
        k=_k(values.get("k")),
        db=values.get("db") or None,
        coverage=_coverage(values.get("coverage")),
        timeout=_timeout(values.get("timeout")),
        ask=_word("ask", ("on", "off"), session, question.options) == "on",
        send=sends(session, question.options),
        after=after if context == "on" and not question.new else None,
        on_doubt=_on_doubt(session, question.options) if values.get("on_doubt") else None,
    )


def sends(session: Mapping[str, str], options: Sequence[Option] = ()) -> bool:
    """Whether the asker agrees to be named to stewards.

    Raises:
        InvalidSettingError: `send` is neither `on` nor `off`.
    """
    return _word("send", ("off", "on"), session, options) == "on"


def _on_doubt(session: Mapping[str, str], options: Sequence[Option]) -> OnDoubt:
    return OnDoubt(_word("on_doubt", tuple(each.value for each in OnDoubt), session, options))


def timeout(session: Mapping[str, str], options: Sequence[Option] = ()) -> float | None:
    """Seconds that `nl.timeout` allows, None where it is not set.

    Raises:
        InvalidSettingError: It is no time above zero.
    """
    return _timeout({**session, **dict(options)}.get("timeout"))


def raises_on_abstain(session: Mapping[str, str], options: Sequence[Option] = ()) -> bool:
    """Whether an abstention or a question back shall be an error.

    Raises:
        InvalidSettingError: `on_abstain` is neither `rows` nor `error`.
    """
    return _word("on_abstain", ("rows", "error"), session, options) == "error"


def runs(question: NLQuestion, session: Mapping[str, str]) -> bool:
    """Whether a question is to be treated as `NL RUN` (`nl.mode = run`).

    Raises:
        InvalidSettingError: `mode` is neither `ask` nor `run`.
    """
    return _word("mode", ("ask", "run"), session, question.options) == "run"


def output(session: Mapping[str, str], options: Sequence[Option] = ()) -> OutputMode:
    """How answers reach the client.

    Raises:
        InvalidSettingError: `output` is none of `OutputMode`.
    """
    return OutputMode(_word("output", tuple(each.value for each in OutputMode), session, options))


def _word(name: str, words: Sequence[str], session: Mapping[str, str], options: Sequence[Option]) -> str:
    """A setting that is one of `words`; the first where it is not set."""
    value = ({**session, **dict(options)}.get(name) or words[0]).lower()
    if value not in words:
        raise InvalidSettingError.of(name, value, f"It is {', '.join(words[:-1])} or {words[-1]}.")
    return value


def _k(text: str | None) -> int | None:
    if not text:
        return None
    # The engine has the upper limit: its [limits] k_max.
    k = whole(text, _K_MOST)
    if k is None:
        raise InvalidSettingError.of("k", text, "It is a whole number from 1 to the engine's limit (k_max).")
    return k


def _coverage(text: str | None) -> float | None:
    if not text:
        return None
    value = decimal(text.strip(), 1.0)
    if value is None or value == 1.0:
        raise InvalidSettingError.of("coverage", text, "It is a number between 0 and 1, for example 0.95.")
    return value


def _timeout(text: str | None) -> float | None:
    if not text:
        return None
    match = _TIMEOUT.fullmatch(text)
    number = decimal(match[1], _MOST_SECONDS) if match else None
    if match is None or number is None:
        raise InvalidSettingError.of("timeout", text, "It is a time above zero: 30, 30s, 500ms or 1min.")
    return number * _SECONDS[match[2]]
