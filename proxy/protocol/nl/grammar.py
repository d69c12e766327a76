"""The grammar of statements that start with the word NL (docs/surface.md).

Owns the three ways to write a question, its options, and the commands. A question in free text is delimited
as psql and pgjdbc delimit it, by SQL's lexical rules, because they cut the text before it gets here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from engine.errors import SyntaxProblemError, UnsupportedError
from engine.types import Topic
from proxy.protocol.lexer import Kind, Statement, Token, string_value
from proxy.protocol.nl.statements import (
    Choose,
    Correct,
    Help,
    More,
    NLStatement,
    Option,
    Plan,
    Question,
    Run,
    Show,
    Tell,
    TellAll,
)

OPTION_NAMES = ("db", "k", "coverage", "timeout", "on_abstain", "output", "mode")
"""Options of one question; each has a session setting of the same name."""

COMMANDS: tuple[tuple[str, str], ...] = (
    ("NL: question", "ask in plain words; the text ends at the first semicolon outside of quotes"),
    ("NL: $$question$$", "the same for any text, with apostrophes and semicolons"),
    ("NL (db sales, k 5): $$question$$", "ask with options: " + ", ".join(OPTION_NAMES)),
    ("SELECT * FROM nl.ask('question')", "ask inside of any SELECT; the argument may be a parameter"),
    ("NL CHOOSE n [OF 'qid']", "run candidate n of the last answer, or of the answer qid, and learn from it"),
    ("NL RUN $$question$$", "ask, and run the answer where it is the only one that stood"),
    ("SELECT * FROM nl.run('qid', n) AS t", "candidate n of an answer inside of any SELECT"),
    ("NL SHOW [n] [OF 'qid']", "show an answer again, or row n of it"),
    ("NL EXPLAIN n [OF 'qid']", "say in words what candidate n does"),
    ("NL PLAN n [OF 'qid']", "show the server's plan for candidate n (EXPLAIN)"),
    ("NL MORE [OF 'qid']", "ask the same again, without what was shown"),
    ("NL NONE [$$why$$] [OF 'qid']", "say that none of the candidates is right"),
    (
        "NL CORRECT $$sql$$ [OF 'qid']",
        "say what would have been right; it is checked, kept, and can be chosen",
    ),
    ("NL WHY [OF 'qid']", "show how the answer came about: stage, event, detail, score"),
    ("NL SHOWPROMPT [OF 'qid']", "show what the language model was sent"),
    ("NL HISTORY [n]", "list your last n questions (20)"),
    ("NL FORGET [ALL | OF 'qid']", "delete an answer, or all of yours"),
    ("NL ANSWER n", "answer a question back (not asked yet: 0A000)"),
    ("NL HELP", "show this list"),
    ("SET nl.k = 5", "set an option for the session: " + ", ".join(f"nl.{name}" for name in OPTION_NAMES)),
)
"""(statement, what it does) as `NL HELP` shows them."""

_FORMS = "NL: question · NL CHOOSE n [OF 'qid'] · NL RUN $$question$$ · NL MORE · NL HELP lists all"
_DOLLAR_HINT = "Write the question between double dollar signs: NL: $$question$$;"
_SWALLOWED_LINE = re.compile(r";[ \t\f\v]*[\r\n]")
_SWALLOWED_TEXT = re.compile(r";\s*\S")
_LOST_QUESTION_MARK = re.compile(r"\w\$\d+(?!\w)")
_INSIGNIFICANT = (Kind.SPACE, Kind.COMMENT)
_QUOTES = (Kind.STRING, Kind.ESCAPE_STRING, Kind.UNICODE_STRING, Kind.BIT_STRING, Kind.QUOTED_NAME)
_CONSTANTS = (Kind.STRING, Kind.ESCAPE_STRING, Kind.UNICODE_STRING, Kind.DOLLAR_STRING)
_MAX_INT4 = 2**31 - 1


class Source:
    """A text and how its constants are read."""

    __slots__ = ("standard_strings", "text")

    def __init__(self, text: str, *, standard_strings: bool = True) -> None:
        self.text = text
        self.standard_strings = standard_strings

    def raw(self, token: Token) -> str:
        """The token as written."""
        return self.text[token.start : token.end]

    def is_word(self, token: Token, *words: str) -> bool:
        """Whether the token is one of these words, unquoted, in any case."""
        return token.kind is Kind.WORD and self.raw(token).lower() in words

    def name(self, token: Token) -> str | None:
        """The identifier that the token is, folded as PostgreSQL does; None where it is none."""
        if token.kind is Kind.WORD:
            return self.raw(token).lower()
        if token.kind is Kind.QUOTED_NAME and token.closed:
            return self.raw(token)[1:-1].replace('""', '"')
        return None

    def value(self, token: Token) -> str | None:
        """The value of a string constant, a name or a number; None for anything else."""
        if token.kind is Kind.NUMBER:
            return self.raw(token)
        name = self.name(token)
        return (
            name
            if name is not None
            else string_value(self.text, token, standard_strings=self.standard_strings)
        )


def is_nl(source: Source, statement: Statement) -> bool:
    """Whether the statement starts with the word NL; no statement of PostgreSQL's does."""
    first = next((token for token in statement.tokens if token.kind not in _INSIGNIFICANT), None)
    return first is not None and source.is_word(first, "nl")


def parse(source: Source, statement: Statement, *, max_chars: int) -> NLStatement:
    """What an NL statement says.

    Raises:
        SyntaxProblemError: It says nothing that we know.
    """
    words = statement.significant
    if len(words) == 1:
        raise SyntaxProblemError("NL needs a question or a command", hint=f"Possible are: {_FORMS}.")
    opening = source.raw(words[1])
    if opening in (":", "("):
        return _opened_question(source, statement, words[1:], max_chars)
    if source.is_word(words[1], "run"):
        return Run(_run_question(source, statement, words[2:], max_chars))
    return _command(source, words)


# -- questions


def _opened_question(
    source: Source, statement: Statement, words: Sequence[Token], max_chars: int
) -> Question:
    """A question from its colon, or from its options' parenthesis, on."""
    options: tuple[Option, ...] = ()
    if source.raw(words[0]) == "(":
        options, words = _options(source, words)
    if not words or source.raw(words[0]) != ":":
        raise _options_problem()
    return _question(source, statement, words[0].end, options, max_chars)


def _run_question(source: Source, statement: Statement, words: Sequence[Token], max_chars: int) -> Question:
    """What follows NL RUN: options, then a colon and a question, or a question in quotes."""
    options: tuple[Option, ...] = ()
    if words and source.raw(words[0]) == "(":
        options, words = _options(source, words)
    if words and source.raw(words[0]) == ":":
        return _question(source, statement, words[0].end, options, max_chars)
    if not words or words[0].kind not in _CONSTANTS:
        raise SyntaxProblemError("NL RUN needs a question", hint="Write NL RUN $$question$$.")
    return _question(source, statement, words[0].start, options, max_chars)


def _question(
    source: Source, statement: Statement, start: int, options: tuple[Option, ...], max_chars: int
) -> Question:
    body = [token for token in statement.tokens if token.start >= start]
    words = [token for token in body if token.kind not in _INSIGNIFICANT]
    text = _quoted_question(source, words)
    if text is None:
        text = _free_question(source, body)
    return Question(checked_question(text, max_chars), options)


def checked_question(text: str, max_chars: int) -> str:
    """A question's text, stripped.

    Raises:
        SyntaxProblemError: It is empty or longer than `max_chars` characters.
    """
    text = text.strip()
    if not text:
        raise SyntaxProblemError(
            "the question is empty", hint="Write a question after the colon: NL: how many …"
        )
    if len(text) > max_chars:
        raise SyntaxProblemError(
            "the question is too long", detail=f"It has {len(text)} characters; the limit is {max_chars}."
        )
    return text


def _quoted_question(source: Source, words: Sequence[Token]) -> str | None:
    """The value where the question is one constant; None where it is free text."""
    if not words:
        return None
    first = words[0]
    if first.kind is Kind.DOLLAR_STRING:
        if not first.closed:
            raise SyntaxProblemError("unterminated dollar-quoted question", hint=_DOLLAR_HINT)
        if len(words) > 1:
            raise SyntaxProblemError(
                "unexpected text after the quoted question",
                detail=f"It starts at: {source.raw(words[1])[:40]}",
            )
    if len(words) > 1 or first.kind is Kind.QUOTED_NAME:
        return None
    return string_value(source.text, first, standard_strings=source.standard_strings)


def _free_question(source: Source, body: Sequence[Token]) -> str:
    parts: list[str] = []
    for index, token in enumerate(body):
        raw = source.raw(token)
        if token.kind is Kind.COMMENT and not _is_dash_in_text(source, body, index):
            raw = " "
        elif token.kind in _QUOTES or token.kind is Kind.DOLLAR_STRING:
            _refuse_swallowed(raw, closed=token.closed)
        parts.append(raw)
    return "".join(parts).strip().rstrip(";")


def _is_dash_in_text(source: Source, body: Sequence[Token], index: int) -> bool:
    """`2010--2015`: two dashes glued to words on both sides are no comment in plain words."""
    raw = source.raw(body[index])
    glued_left = index > 0 and body[index - 1].kind not in _INSIGNIFICANT
    return glued_left and raw.startswith("--") and raw[2:3].strip() != ""


def _refuse_swallowed(raw: str, *, closed: bool) -> None:
    """An odd apostrophe makes a client's lexer send the following statements as part of the question."""
    if _SWALLOWED_LINE.search(raw) or (not closed and _SWALLOWED_TEXT.search(raw)):
        raise SyntaxProblemError(
            "the question holds an unbalanced quote followed by more statements",
            detail="The client read what follows as part of the question.",
            hint=_DOLLAR_HINT,
        )


def lost_question_mark(text: str) -> bool:
    """Whether a driver has turned a `?` of the question into a parameter (`singers$1`)."""
    return _LOST_QUESTION_MARK.search(text) is not None


def _options_problem() -> SyntaxProblemError:
    return SyntaxProblemError(
        "the options of NL must be closed and followed by a colon",
        hint="Example: NL (db sales, k 5): $$question$$;",
    )


def _options(source: Source, words: Sequence[Token]) -> tuple[tuple[Option, ...], Sequence[Token]]:
    """The options in the parentheses that `words` begin with, and the words behind them."""
    close = next((i for i, token in enumerate(words) if source.raw(token) == ")"), None)
    if close is None:
        raise _options_problem()
    groups: list[list[Token]] = [[]]
    for token in words[1:close]:
        if source.raw(token) == ",":
            groups.append([])
        elif source.raw(token) not in ("=", ">"):
            groups[-1].append(token)
    return tuple(_option(source, group) for group in groups), words[close + 1 :]


def _option(source: Source, group: Sequence[Token]) -> Option:
    match group:
        case [word, constant]:
            name, value = source.name(word), source.value(constant)
            if name in OPTION_NAMES and value is not None:
                return name, value
    written = " ".join(source.raw(token) for token in group)
    raise SyntaxProblemError(
        f'unrecognized NL option "{written}"',
        hint="Options are written as name value, separated by commas; names: "
        + ", ".join(OPTION_NAMES)
        + ".",
    )


# -- commands


def _command(source: Source, words: Sequence[Token]) -> NLStatement:
    parse_rest = _COMMANDS.get(source.raw(words[1]).lower())
    if parse_rest is None:
        raise SyntaxProblemError(
            f'unrecognized NL command "{source.raw(words[1])[:40]}"',
            hint=f"A question needs a colon. Possible are: {_FORMS}.",
        )
    return parse_rest(_Rest(source, words[2:]))


class _Rest:
    """The words behind a command's verb; each method takes what it finds off their front."""

    def __init__(self, source: Source, words: Sequence[Token]) -> None:
        self._source = source
        self._words = list(words)

    def number(self) -> int | None:
        """A row number."""
        if not self._words or self._words[0].kind is not Kind.NUMBER:
            return None
        raw = self._source.raw(self._words[0])
        if not raw.isdecimal() or not 1 <= int(raw) <= _MAX_INT4:
            return None
        del self._words[0]
        return int(raw)

    def text(self) -> str | None:
        """A string constant."""
        if not self._words or self._words[0].kind not in _CONSTANTS:
            return None
        value = self._source.value(self._words[0])
        if value is not None:
            del self._words[0]
        return value

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
        """Nothing may be left; `form` says what could have been."""
        if self._words:
            raise SyntaxProblemError("syntax error in NL command", hint=f"Write {form}.")


def _help(rest: _Rest) -> NLStatement:
    rest.end("NL HELP")
    return Help()


def _show(rest: _Rest) -> NLStatement:
    n, qid = rest.number(), rest.qid()
    rest.end("NL SHOW [n] [OF 'qid']")
    return Show(n, qid)


def _numbered(rest: _Rest, verb: str) -> tuple[int, str | None]:
    form = f"NL {verb} n [OF 'qid']"
    n, qid = rest.number(), rest.qid()
    rest.end(form)
    if n is None:
        raise SyntaxProblemError(f"NL {verb} needs a row number", hint=f"Write {form}.")
    return n, qid


def _explain(rest: _Rest) -> NLStatement:
    n, qid = _numbered(rest, "EXPLAIN")
    return Tell(Topic.EXPLAIN, qid, n)


def _about(rest: _Rest, topic: Topic, verb: str) -> NLStatement:
    qid = rest.qid()
    rest.end(f"NL {verb} [OF 'qid']")
    return Tell(topic, qid)


def _more(rest: _Rest) -> NLStatement:
    qid = rest.qid()
    rest.end("NL MORE [OF 'qid']")
    return More(qid)


def _history(rest: _Rest) -> NLStatement:
    n = rest.number()
    rest.end("NL HISTORY [n]")
    return TellAll(Topic.HISTORY, n)


def _forget(rest: _Rest) -> NLStatement:
    every = rest.word("all")
    qid = None if every else rest.qid()
    rest.end("NL FORGET [ALL | OF 'qid']")
    return TellAll(Topic.FORGET) if every else Tell(Topic.FORGET, qid)


def _none(rest: _Rest) -> NLStatement:
    text, qid = rest.text(), rest.qid()
    rest.end("NL NONE [$$why$$] [OF 'qid']")
    return Tell(Topic.NONE, qid, text=text)


def _correct(rest: _Rest) -> NLStatement:
    form = "NL CORRECT $$sql$$ [OF 'qid']"
    sql, qid = rest.text(), rest.qid()
    rest.end(form)
    if not (sql or "").strip():
        raise SyntaxProblemError("NL CORRECT needs a statement", hint=f"Write {form}.")
    return Correct(sql or "", qid)


def _answer(_rest: _Rest) -> NLStatement:
    raise UnsupportedError(
        "NL ANSWER answers a question of ours, and none is asked yet",
        detail="This version abstains where it would have to ask back.",
        hint="Ask again in other words, or choose a candidate with NL CHOOSE n.",
    )


_COMMANDS: dict[str, Callable[[_Rest], NLStatement]] = {
    "help": _help,
    "choose": lambda rest: Choose(*_numbered(rest, "CHOOSE")),
    "plan": lambda rest: Plan(*_numbered(rest, "PLAN")),
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
"""Verb → what parses the words behind it."""


# -- where NL cannot stand

_CARRIERS = ("declare", "explain", "prepare", "copy", "create", "insert", "with", "execute")
_BEFORE_EMBEDDED = ("for", "as", "explain", "analyze", "verbose")


def embeds_nl(source: Source, statement: Statement) -> bool:
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
