"""The grammar of statements that start with the word NL (docs/surface.md).

Owns the statements, the commands, and the places where NL cannot stand. The forms of a question are in `questions`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from engine.values.errors import SyntaxProblemError
from engine.values.messages import (
    AnswerRequest,
    ChooseRequest,
    CorrectRequest,
    MoreRequest,
    NoneRequest,
    PlanRequest,
    ShowRequest,
    Topic,
)
from proxy.protocol.lexer import (
    CONSTANTS,
    INSIGNIFICANT,
    MOST_ROWS,
    LexedStatement,
    LexedToken,
    SqlText,
    TokenKind,
)
from proxy.protocol.nl.questions import OPTION_NAMES, question, refuse_long
from proxy.protocol.nl.statements import (
    NOBODY,
    AnswerTopic,
    FollowUp,
    HistoryTopic,
    NLStatement,
    RunQuestion,
    SqlStatement,
)

COMMANDS: tuple[tuple[str, str], ...] = (
    ("NL: $$question$$", "ask in plain words; the text may hold apostrophes and semicolons"),
    ("NL: question", "the same, for a text that ends at its first semicolon outside of quotes"),
    ("NL (db sales, k 5): $$question$$", "ask with options: " + ", ".join(OPTION_NAMES)),
    ("NL NEW $$question$$", 'ask, without what was asked before; else "only the west" goes on from that'),
    ("SELECT * FROM nl.ask('question')", "ask inside of any SELECT; the argument may be a parameter"),
    (
        "NL CHOOSE n [OF 'qid'] [ANYWAY]",
        "run candidate n of the last answer, or of the answer qid, and learn from it; anyway: whatever it costs",
    ),
    ("NL RUN $$question$$", "ask, and run the answer where it is the only one that stood"),
    ("SELECT * FROM nl.run('qid', n) AS t", "candidate n of an answer inside of any SELECT"),
    ("NL SHOW [n] [OF 'qid']", "show an answer again, or row n of it"),
    ("NL EXPLAIN n [OF 'qid']", "say in words what candidate n does"),
    ("NL PLAN n [OF 'qid']", "show the server's plan for candidate n (EXPLAIN)"),
    ("NL MORE [OF 'qid']", "ask the same again, without what was shown"),
    ("NL ANSWER n [OF 'qid']", "answer a question back: option n is meant"),
    ("NL ANSWER $$text$$ [OF 'qid']", "answer a question back in your own words"),
    (
        "NL NONE [SEND] [$$why$$] [OF 'qid']",
        "say that nothing shown is right, and be shown something else; with SEND a steward sees who asked",
    ),
    (
        "NL CORRECT $$sql$$ [OF 'qid']",
        "say what would have been right; it is checked, kept, and can be chosen",
    ),
    ("NL WHY [OF 'qid']", "show how the answer came about: stage, event, detail, score"),
    ("NL SHOWPROMPT [OF 'qid']", "show what the language model was sent"),
    ("NL HISTORY [n]", "list your last n questions (20)"),
    ("NL FORGET [ALL | OF 'qid']", "delete an answer, or all of yours"),
    ("NL HELP", "show this list, and questions that can be asked here"),
    ("SET nl.k = 5", "set an option for the session: " + ", ".join(f"nl.{name}" for name in OPTION_NAMES)),
)
"""(statement, what it does) as `NL HELP` shows them."""

_FORMS = "NL: $$question$$ · NL CHOOSE n [OF 'qid'] · NL RUN $$question$$ · NL ANSWER n · NL MORE · NL HELP lists all"


_OPENINGS = (":", "(")


def is_nl(source: SqlText, statement: LexedStatement) -> bool:
    """Whether the statement starts with the word NL; no statement of PostgreSQL's does."""
    first = next((token for token in statement.tokens if token.kind not in INSIGNIFICANT), None)
    return first is not None and source.is_word(first, "nl")


def asks(source: SqlText, statement: LexedStatement) -> bool:
    """Whether the statement begins as a question does, understood or not."""
    words = statement.significant[1:2]
    opens = any(source.raw(word) in _OPENINGS or source.is_word(word, "run", "new") for word in words)
    return opens and is_nl(source, statement)


def parse(source: SqlText, statement: LexedStatement, *, max_chars: int) -> NLStatement:
    """The value of an NL statement.

    Raises:
        SyntaxProblemError: It is no command and no question.
    """
    words = statement.significant
    if len(words) == 1:
        raise SyntaxProblemError("NL needs a question or a command", hint=f"Possible are: {_FORMS}.")
    if source.raw(words[1]) in _OPENINGS:
        return question(source, statement, words[1:], max_chars)
    if source.is_word(words[1], "run"):
        return RunQuestion(question(source, statement, words[2:], max_chars, "RUN"))
    if source.is_word(words[1], "new"):
        return replace(question(source, statement, words[2:], max_chars, "NEW"), new=True)
    return _command(source, words, max_chars)


# -- commands


def _command(source: SqlText, words: Sequence[LexedToken], max_chars: int) -> NLStatement:
    parse_rest = _COMMANDS.get(source.raw(words[1]).lower())
    if parse_rest is None:
        raise SyntaxProblemError(
            f'unrecognized NL command "{source.raw(words[1])[:40]}"',
            hint=f"A question needs a colon. Possible are: {_FORMS}.",
        )
    return parse_rest(_Rest(source, words[2:], max_chars))


class _Rest:
    """The words behind a command's verb; each method consumes from their front."""

    def __init__(self, source: SqlText, words: Sequence[LexedToken], max_chars: int) -> None:
        self._source = source
        self._words = list(words)
        self._max_chars = max_chars

    def number(self) -> int | None:
        """A row number; raises SyntaxProblemError where a number comes next that is none."""
        if not self._words or self._words[0].kind is not TokenKind.NUMBER:
            return None
        word = self._words.pop(0)
        n = self._source.row_number(word)
        if n is None:
            raise SyntaxProblemError(
                f"{self._source.raw(word)[:40]} is no whole number from 1 to {MOST_ROWS}",
                hint="Rows count from 1, and NL SHOW shows them.",
            )
        return n

    def text(self) -> str | None:
        """A string constant."""
        if not self._words or self._words[0].kind not in CONSTANTS:
            return None
        value = self._source.value(self._words[0])
        if value is not None:
            del self._words[0]
        return value

    def own_words(self, subject: str) -> str:
        """A string constant in plain words, stripped; empty where there is none.

        Raises SyntaxProblemError, which names it `subject`, where it is longer than a question may be.
        """
        text = (self.text() or "").strip()
        refuse_long(subject, text, self._max_chars)
        return text

    def word(self, word: str) -> bool:
        """Whether `word` comes next."""
        found = bool(self._words) and self._source.is_word(self._words[0], word)
        if found:
            del self._words[0]
        return found

    def qid(self) -> str | None:
        """`OF 'qid'`."""
        match self._words[:2]:
            case [of, constant] if self._source.is_word(of, "of"):
                value = self._source.value(constant)
                del self._words[: 2 if value else 0]
                return value or None
        return None

    def end(self, form: str) -> None:
        """Raises SyntaxProblemError where words are left; `form`: the syntax for its hint."""
        if self._words:
            raise SyntaxProblemError("syntax error in NL command", hint=f"Write {form}.")


def _help(rest: _Rest) -> NLStatement:
    rest.end("NL HELP")
    return HistoryTopic(Topic.HELP)


def _show(rest: _Rest) -> NLStatement:
    n, qid = rest.number(), rest.qid()
    rest.end("NL SHOW [n] [OF 'qid']")
    return FollowUp(ShowRequest(NOBODY, "", n), qid)


def _numbered(rest: _Rest, verb: str, word: str = "") -> tuple[int, str | None, bool]:
    """Row number, qid, and whether the `word` that may stand at the end does."""
    form = f"NL {verb} n [OF 'qid']{word and f' [{word}]'}"
    n, qid, said = rest.number(), rest.qid(), bool(word) and rest.word(word.lower())
    rest.end(form)
    if n is None:
        raise SyntaxProblemError(f"NL {verb} needs a row number", hint=f"Write {form}.")
    return n, qid, said


def _choose(rest: _Rest) -> NLStatement:
    n, qid, anyway = _numbered(rest, "CHOOSE", "ANYWAY")
    return SqlStatement(ChooseRequest(NOBODY, "", n, anyway=anyway), qid)


def _plan(rest: _Rest) -> NLStatement:
    n, qid, _ = _numbered(rest, "PLAN")
    return SqlStatement(PlanRequest(NOBODY, "", n), qid)


def _explain(rest: _Rest) -> NLStatement:
    n, qid, _ = _numbered(rest, "EXPLAIN")
    return AnswerTopic(Topic.EXPLAIN, qid, n)


def _about(rest: _Rest, topic: Topic, verb: str) -> NLStatement:
    qid = rest.qid()
    rest.end(f"NL {verb} [OF 'qid']")
    return AnswerTopic(topic, qid)


def _more(rest: _Rest) -> NLStatement:
    qid = rest.qid()
    rest.end("NL MORE [OF 'qid']")
    return FollowUp(MoreRequest(NOBODY, ""), qid)


def _history(rest: _Rest) -> NLStatement:
    n = rest.number()
    rest.end("NL HISTORY [n]")
    return HistoryTopic(Topic.HISTORY, n)


def _forget(rest: _Rest) -> NLStatement:
    every = rest.word("all")
    qid = None if every else rest.qid()
    rest.end("NL FORGET [ALL | OF 'qid']")
    return HistoryTopic(Topic.FORGET) if every else AnswerTopic(Topic.FORGET, qid)


def _answer(rest: _Rest) -> NLStatement:
    form = "NL ANSWER n [OF 'qid'], or in your own words NL ANSWER $$text$$ [OF 'qid']"
    n = rest.number()
    text, qid = "" if n is not None else rest.own_words("answer"), rest.qid()
    rest.end(form)
    if n is None and not text:
        raise SyntaxProblemError("NL ANSWER needs the number of an option, or a text", hint=f"Write {form}.")
    return FollowUp(AnswerRequest(NOBODY, "", n, text or None), qid)


def _none(rest: _Rest) -> NLStatement:
    send = rest.word("send")
    why, qid = rest.own_words("reason"), rest.qid()
    rest.end("NL NONE [SEND] [$$why$$] [OF 'qid']")
    return FollowUp(NoneRequest(NOBODY, "", why or None, send=send), qid)


def _correct(rest: _Rest) -> NLStatement:
    form = "NL CORRECT $$sql$$ [OF 'qid']"
    sql, qid = rest.text(), rest.qid()
    rest.end(form)
    if sql is None or not sql.strip():
        raise SyntaxProblemError("NL CORRECT needs a statement", hint=f"Write {form}.")
    return FollowUp(CorrectRequest(NOBODY, "", sql), qid)


_COMMANDS: dict[str, Callable[[_Rest], NLStatement]] = {
    "help": _help,
    "choose": _choose,
    "plan": _plan,
    "show": _show,
    "explain": _explain,
    "more": _more,
    "why": lambda rest: _about(rest, Topic.WHY, "WHY"),
    "showprompt": lambda rest: _about(rest, Topic.PROMPT, "SHOWPROMPT"),
    "history": _history,
    "forget": _forget,
    "none": _none,
    "correct": _correct,
    "answer": _answer,
}
"""Verb → parser of the words behind it."""


# -- where NL cannot stand

_CARRIERS = ("declare", "explain", "prepare", "copy", "create", "insert", "with", "execute")
_BEFORE_EMBEDDED = ("for", "as", "explain", "analyze", "verbose")


def embeds_nl(source: SqlText, statement: LexedStatement) -> bool:
    """Whether an SQL statement has `NL:` where a query belongs (`EXPLAIN NL: …`, `COPY (NL: …) TO …`)."""
    words = statement.significant
    if not words or not source.is_word(words[0], *_CARRIERS):
        return False
    return any(
        source.is_word(token, "nl")
        and (source.is_word(before, *_BEFORE_EMBEDDED) or source.raw(before) in ("(", ")"))
        and source.text[token.end : token.end + 2].rstrip() in (":", ": ")
        for before, token in pairwise(words)
    )
