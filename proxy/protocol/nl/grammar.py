"""The grammar of statements that start with the word NL (docs/surface.md).

Owns the three ways to write a question, its options, and the commands. A question in free text is delimited
as psql and pgjdbc delimit it, by SQL's lexical rules, because they cut the text before it gets here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from engine.errors import SyntaxProblemError
from proxy.protocol.lexer import Kind, Statement, Token, string_value
from proxy.protocol.nl.statements import Choose, Help, NLStatement, Option, Question, Show

OPTION_NAMES = ("db", "k", "coverage", "timeout", "on_abstain")
"""Options of one question; each has a session setting of the same name."""

COMMANDS: tuple[tuple[str, str], ...] = (
    ("NL: question", "ask in plain words; the text ends at the first semicolon outside of quotes"),
    ("NL: $$question$$", "the same for any text, with apostrophes and semicolons"),
    ("NL (db sales, k 5): $$question$$", "ask with options: " + ", ".join(OPTION_NAMES)),
    ("SELECT * FROM nl.ask('question')", "ask inside of any SELECT; the argument may be a parameter"),
    ("NL CHOOSE n [OF 'qid']", "run candidate n of the last answer, or of the answer qid, and learn from it"),
    ("NL SHOW [n] [OF 'qid']", "show an answer again, or row n of it"),
    ("NL HELP", "show this list"),
    ("SET nl.k = 5", "set an option for the session: nl.db, nl.k, nl.coverage, nl.timeout, nl.on_abstain"),
)
"""(statement, what it does) as `NL HELP` shows them."""

_FORMS = "NL: question · NL CHOOSE n [OF 'qid'] · NL SHOW [n] [OF 'qid'] · NL HELP"
_DOLLAR_HINT = "Write the question between double dollar signs: NL: $$question$$;"
_SWALLOWED_LINE = re.compile(r";[ \t\f\v]*[\r\n]")
_SWALLOWED_TEXT = re.compile(r";\s*\S")
_LOST_QUESTION_MARK = re.compile(r"\w\$\d+(?!\w)")
_INSIGNIFICANT = (Kind.SPACE, Kind.COMMENT)
_QUOTES = (Kind.STRING, Kind.ESCAPE_STRING, Kind.UNICODE_STRING, Kind.BIT_STRING, Kind.QUOTED_NAME)
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
    if opening == ":":
        return _question(source, statement, words[1], (), max_chars)
    if opening == "(":
        options, colon = _options(source, words)
        return _question(source, statement, colon, options, max_chars)
    return _command(source, words)


# -- questions


def _question(
    source: Source, statement: Statement, colon: Token, options: tuple[Option, ...], max_chars: int
) -> Question:
    body = [token for token in statement.tokens if token.start >= colon.end]
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


def _options(source: Source, words: Sequence[Token]) -> tuple[tuple[Option, ...], Token]:
    """The options in parentheses and the colon behind them."""
    close = next((i for i, token in enumerate(words) if source.raw(token) == ")"), None)
    if close is None or close + 1 >= len(words) or source.raw(words[close + 1]) != ":":
        raise SyntaxProblemError(
            "the options of NL must be closed and followed by a colon",
            hint="Example: NL (db sales, k 5): $$question$$;",
        )
    groups: list[list[Token]] = [[]]
    for token in words[2:close]:
        if source.raw(token) == ",":
            groups.append([])
        elif source.raw(token) not in ("=", ">"):
            groups[-1].append(token)
    return tuple(_option(source, group) for group in groups), words[close + 1]


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
    verb, rest = source.raw(words[1]).lower(), words[2:]
    if verb == "help" and not rest:
        return Help()
    if verb == "choose":
        n, qid = _number_and_qid(source, rest, "NL CHOOSE n [OF 'qid']")
        if n is None:
            raise SyntaxProblemError("NL CHOOSE needs a row number", hint="Write NL CHOOSE n [OF 'qid'].")
        return Choose(n, qid)
    if verb == "show":
        return Show(*_number_and_qid(source, rest, "NL SHOW [n] [OF 'qid']"))
    raise SyntaxProblemError(
        f'unrecognized NL command "{source.raw(words[1])[:40]}"',
        hint=f"A question needs a colon. Possible are: {_FORMS}.",
    )


def _number_and_qid(source: Source, rest: Sequence[Token], form: str) -> tuple[int | None, str | None]:
    number, qid = None, None
    rest = list(rest)
    if rest and rest[0].kind is Kind.NUMBER and source.raw(rest[0]).isdecimal():
        number = int(source.raw(rest.pop(0)))
    match rest:
        case [of, constant] if source.is_word(of, "of"):
            qid = source.value(constant)
            rest = [] if qid else rest
    if rest or number == 0 or (number or 0) > _MAX_INT4:
        raise SyntaxProblemError("syntax error in NL command", hint=f"Write {form}.")
    return number, qid


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
