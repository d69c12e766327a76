"""What a model's reply says, however it is wrapped: statements, and readings in JSON.

Owns the one parser of replies. Models of every family put fences, prose, thoughts and comments around what they are
asked for, and cut JSON short; `docs/models.md` says which do what. Whether a statement is allowed, or runs, is not
decided here. Whatever it is given it takes time by the reply's length alone, which needs bounds: neither PostgreSQL's
scanner nor the one that mends JSON has them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate

import json_repair
from pglast.parser import ParseError, scan

from engine.question.plain import plain

FENCE = "```"

_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCED = re.compile(r"```[ \t]*(\w*)[ \t]*\n?(.*?)(?:```|\Z)", re.DOTALL)
_STATEMENT = re.compile(r"^[ \t(]*(?:SELECT|WITH|VALUES|TABLE)\b", re.IGNORECASE | re.MULTILINE)
_PROSE = re.compile(r"\n[ \t]*\n(?=[ \t]*[A-Z*#-][^\n]*[a-z]{2,}[^\n]*[.:!?*]?\s*(?:\n|\Z))")
_LONGEST = 20_000
"""Characters of a statement, and of JSON that is mended: more is nothing that was asked for."""

_DEEPEST = 12
"""Levels of JSON that is mended."""

_MOST = 20
"""Statements, and readings, of a reply that are looked at."""

_RUN = re.compile(r"[-+*/<>=~!@#%^&|`?]{200,}")
"""What the scanner may read once for each sign in it; no operator is as long."""

_SIGNS = 50
"""Of those that make it do so, in a run."""

_JSON = json.JSONDecoder(strict=False)

_COMMENTS = frozenset({"SQL_COMMENT", "C_COMMENT"})
_SEMICOLON = "ASCII_59"


@dataclass(frozen=True, slots=True)
class Reading:
    """One thing that a question may mean: in the asker's words, as SQL, and what that takes for granted.

    `database`: where there were several to choose from; empty where the reply names none.
    """

    sql: str
    meaning: str = ""
    assumes: str = ""
    database: str = ""


@dataclass(frozen=True, slots=True)
class Readings:
    """A reply: readings, likeliest first, and what cannot be answered. `question`: a follow-up in full words."""

    readings: tuple[Reading, ...] = ()
    cannot: str = ""
    question: str = ""


def spoken(text: str) -> str:
    """The reply without the thoughts that a reasoning model writes into it."""
    return _THOUGHT.sub("", text).strip()


def statements(text: str) -> tuple[str, ...]:
    """The SQL statements of a reply, each on one line, without comments and semicolons, in their order.

    Those in fences are taken; without any what begins as a statement does, up to the prose behind it.
    """
    said = spoken(text)
    before, fence, _ = said.partition(FENCE)
    if fence and _STATEMENT.match(before.lstrip()):
        # The answer went on with an opened fence, and closes it.
        return tuple(dict.fromkeys(_split(before)))
    fenced = [body for language, body in _FENCED.findall(said) if language.lower() not in ("json", "text")]
    parts = ([each for each in fenced if each.strip()] or list(_unfenced(said)))[:_MOST]
    return tuple(dict.fromkeys(each for part in parts for each in _split(part)))[:_MOST]


def statement(text: str) -> str:
    """The first of a reply's statements, empty where there is none; all of them where one is no query.

    These are the guard's to refuse: a query in front makes a change no better.
    """
    found = statements(text)
    return found[0] if found and all(map(_STATEMENT.match, found)) else "; ".join(found)


def _unfenced(said: str) -> Iterator[str]:
    found = _STATEMENT.search(said)
    if found is not None:
        yield _PROSE.split(said[found.start() :], maxsplit=1)[0]


def _split(text: str) -> list[str]:
    """The statements between the semicolons, each on one line; one that PostgreSQL cannot scan stays as it is."""
    text = text.strip()
    if len(text) > _LONGEST:
        # The guard's to refuse, as what is left of the signs.
        return [text[: _LONGEST + 1]]
    signs = [run for run in _RUN.findall(text) if max(run.count("/*"), run.count("+")) > _SIGNS]
    if signs:
        return [signs[0][:_SIGNS]]
    try:
        tokens = scan(text)
    except ParseError:
        return [one for one in [text.rstrip(";").strip()] if one]
    made, end = [""], 0
    for token in tokens:
        if token.name in _COMMENTS:
            continue
        if token.name == _SEMICOLON:
            made.append("")
        else:
            apart = " " if made[-1] and token.start > end else ""
            made[-1] += apart + text[token.start : token.end + 1]
        end = token.end + 1
    return [each for each in made if each][:_MOST]


def readings(text: str) -> Readings | None:
    """What a reply in JSON says, in a fence or among prose, whole or cut short; None where there is no JSON in it.

    Where a model answers with SQL alone, that is a reading without a meaning.
    """
    found = _json(spoken(text))
    if found is None:
        plain = statements(text)
        return Readings(tuple(map(Reading, plain))) if plain else None
    said = {"readings": found} if isinstance(found, list) else found
    listed = said.get("readings", [said] if "sql" in said else [])
    each = map(_reading, listed[:_MOST] if isinstance(listed, list) else ())
    made = tuple(filter(None, each))
    return Readings(made, _line(_text(said, "cannot")), _line(_text(said, "question")))


def _json(said: str) -> dict[str, object] | list[object] | None:
    fenced = [body for _, body in _FENCED.findall(said) if body.lstrip().startswith(("{", "["))]
    text = fenced[0] if fenced else said
    places = [place for place in map(text.find, "{[") if place >= 0]
    if not places or (_STATEMENT.search(text[: min(places)]) and not fenced):
        return None
    text = text[min(places) :]
    try:
        found, _ = _JSON.raw_decode(text)
    except (ValueError, RecursionError):
        text = text[:_LONGEST]
        # What is no JSON at all is mended to an empty text.
        found = json_repair.loads(text) if _levels(text) <= _DEEPEST else None
    return found if isinstance(found, (dict, list)) and found else None


def _levels(text: str) -> int:
    steps = (1 if sign in "{[" else -1 for sign in text if sign in "{[]}")
    return max(accumulate(steps), default=0)


def _reading(said: object) -> Reading | None:
    if isinstance(said, str):
        said = {"sql": said}
    if not isinstance(said, dict):
        return None
    # What is no query is the guard's to refuse, with a reason.
    sql = statement(_text(said, "sql")) or _line(_text(said, "sql"))
    if not sql:
        return None
    return Reading(sql, *(_line(_text(said, key)) for key in ("meaning", "assumes", "database")))


def _text(said: Mapping[str, object], key: str) -> str:
    value = said.get(key)
    if isinstance(value, list):
        value = "; ".join(map(str, value))
    # What JSON writes as an escape was not seen by who read the reply.
    return plain(value) if isinstance(value, str) else ""


def _line(text: str) -> str:
    """On one line; a model's "none" for nothing is nothing."""
    line = " ".join(text.split())
    return "" if line.casefold().rstrip(".") in ("none", "null", "n/a", "nothing") else line
