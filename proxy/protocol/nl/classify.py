"""Finds NL statements and calls in a text: a cheap test for the word NL first, then an exact examination."""

from __future__ import annotations

import re

from engine.values.errors import NLError, UnsupportedError
from engine.values.messages import ErrorReply
from proxy.protocol.lexer import INSIGNIFICANT, LexedStatement, SqlText, TokenKind, split, tokens
from proxy.protocol.nl import calls, grammar, settings
from proxy.protocol.nl.statements import (
    MOST_FINDINGS,
    Examination,
    Finding,
    NLCall,
    RefusedQuestion,
    SettingChange,
)
from proxy.protocol.scan import NL_WORD

_RESETS = re.compile(rb"(?i)\b(?:reset|discard)\s+all\b")


def holds_nl_word(text: bytes, *, watch_resets: bool) -> bool:
    """Whether the word NL occurs, or a statement that resets all settings where that matters."""
    return NL_WORD.search(text) is not None or (watch_resets and _RESETS.search(text) is not None)


def examine(text: str, *, standard_strings: bool, max_chars: int) -> Examination:
    """All NL statements, calls and settings in `text`, in order; up to the first beyond `MOST_FINDINGS`."""
    source = SqlText(text, standard_strings=standard_strings)
    findings: list[Finding] = []
    changes: list[SettingChange] = []
    count, highest = 0, 0
    for statement in split(text, standard_strings=standard_strings):
        if not statement.significant:
            continue
        found = _findings(source, statement, first=count == 0, max_chars=max_chars)
        count += 1
        findings += found
        if len(findings) > MOST_FINDINGS:
            break
        if all(isinstance(finding.content, NLCall) for finding in found):
            highest = max([highest, *_parameters(source, statement)])
            changed = settings.change(source, statement)
            changes += [] if changed is None else [changed]
    return Examination(tuple(findings), tuple(changes), count, highest)


def begins_with_nl(text: str) -> bool:
    """Whether the first statement of `text` that is not empty starts with the word NL."""
    for token in tokens(text):
        if token.kind not in INSIGNIFICANT and text[token.start] != ";":
            return SqlText(text).is_word(token, "nl")
    return False


def _findings(source: SqlText, statement: LexedStatement, *, first: bool, max_chars: int) -> list[Finding]:
    words = statement.significant
    start, end = words[0].start, statement.end
    try:
        if grammar.is_nl(source, statement):
            return [Finding(start, end, grammar.parse(source, statement, max_chars=max_chars), first)]
        if grammar.embeds_nl(source, statement):
            raise UnsupportedError(
                "NL cannot stand inside of another statement",
                hint="Use SELECT * FROM nl.ask('question') there.",
            )
        return [Finding(*call, first) for call in calls.find(source, statement)]
    except NLError as error:
        asked = grammar.asks(source, statement)
        refusal = RefusedQuestion if asked else ErrorReply
        return [Finding(start, end, refusal(error.sqlstate, error.message, error.detail, error.hint), first)]


def _parameters(source: SqlText, statement: LexedStatement) -> list[int]:
    found = (token for token in statement.significant if token.kind is TokenKind.PARAMETER)
    return [source.parameter(token) or 0 for token in found]
