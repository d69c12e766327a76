"""Verified queries with typed parameters: "orders of {customer: text} in {year: int}".

Owns their form, the statement with values in their places, and which values a question gives them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pglast
from pglast import ast

from engine.link.unknown import alike
from engine.question.question import Question
from engine.question.tokens import ASKING, CAPITALISED, QUOTED, question_words
from engine.statement.printing.trees import nodes
from engine.values.elements import ValueLink
from engine.values.ports import Encoder
from schema_catalog.naming import quote_literal

_FORMS: Mapping[str, str] = {
    "int": r"\d+",
    "numeric": r"\d+(?:\.\d+)?",
    "date": r"\d{4}-\d\d-\d\d",
    "text": r".+?",
}
"""Type → how a question writes its values."""

_PLACE = re.compile(rf"\{{ *([a-z_]\w*) *: *({'|'.join(_FORMS)}) *\}}")

LIKE = 0.75
"""Least cosine of a question, with the parameters' names in place of its values, and the verified one."""

WORD_LIKE = 0.6
"""Least cosine of two words that stand for each other."""

_SURE = 0.9
"""Least similarity of a stored value and the span that names it."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """`type`: of `int`, `numeric`, `date` and `text`."""

    name: str
    type: str


class ParameterError(Exception):
    """A statement does not use its question's parameters as values; the message says how."""


def parameters(verified: str) -> tuple[Parameter, ...]:
    """Those of a verified question, in its order; none for one that is asked word for word."""
    return tuple(Parameter(*found.groups()) for found in _PLACE.finditer(verified))


def filled(sql: str, named: Sequence[Parameter], values: Mapping[str, str] | None = None) -> str:
    """`sql` with constants in the parameters' places, NULL of their types without `values`; raises `ParameterError`."""
    numbered = sql
    for number, each in enumerate(named, 1):
        numbered = re.sub(rf"\{{ *{each.name} *\}}", f"${number}", numbered)
    try:
        places: list[Any] = [
            node for node in nodes(pglast.parse_sql(numbered)) if isinstance(node, ast.ParamRef)
        ]
    except pglast.parser.ParseError as problem:
        raise ParameterError(f"with its parameters it is no SQL: {problem.args[0]}") from problem
    found = Counter(place.number for place in places)
    if missing := [each.name for number, each in enumerate(named, 1) if number not in found]:
        raise ParameterError(f"the parameter {missing[0]} stands nowhere in it as a value")
    text = numbered.encode()
    for place in sorted(places, key=lambda each: -each.location):
        if not 0 < place.number <= len(named):
            raise ParameterError(f"${place.number} is no parameter of its question")
        end = place.location + len(f"${place.number}")
        text = text[: place.location] + _constant(named[place.number - 1], values).encode() + text[end:]
    return text.decode()


def _constant(parameter: Parameter, values: Mapping[str, str] | None) -> str:
    value = "NULL" if values is None else quote_literal(values[parameter.name])
    return f"CAST({value} AS {parameter.type})" if values is None or parameter.type != "text" else value


def given(
    question: Question, verified: str, links: Sequence[ValueLink], encoder: Encoder
) -> tuple[dict[str, str], float] | None:
    """The values by parameter that `question` gives a verified one, and how like it is; None where it is another.

    `links`: of the question, by which a text becomes the stored one. No value and no word of it is passed over.
    """
    named = parameters(verified)
    text = " ".join(question.text.split()).rstrip(" .?!;")
    exact = _pattern(verified).fullmatch(text)
    if exact is not None and all(
        exact[each.name] in _texts(text, links) for each in named if each.type == "text"
    ):
        return _stored(exact.groupdict(), named, links), 1.0
    found = _by_type(text, named, links)
    if found is None:
        return None
    values, rest = found
    plain = _PLACE.sub(lambda place: place[1], verified)
    if not _same_words(rest, plain, {each.name for each in named}, encoder):
        return None
    one, other = encoder.encode([rest, plain])
    cosine = float(np.dot(one, other))
    return (_stored(values, named, links), cosine) if cosine >= LIKE else None


def _pattern(verified: str) -> re.Pattern[str]:
    text, done, pattern = " ".join(verified.split()).rstrip(" .?!;"), 0, ""
    for place in _PLACE.finditer(text):
        pattern += f"{re.escape(text[done : place.start()])}(?P<{place[1]}>{_FORMS[place[2]]})"
        done = place.end()
    return re.compile(pattern + re.escape(text[done:]), re.IGNORECASE)


def _by_type(
    text: str, named: Sequence[Parameter], links: Sequence[ValueLink]
) -> tuple[dict[str, str], str] | None:
    """Each parameter's value, the only one of its type (of dates: in order), and the text with their names instead."""
    kinds = Counter(each.type for each in named)
    if any(count > 1 for kind, count in kinds.items() if kind != "date") or {"int", "numeric"} <= set(kinds):
        return None
    values, rest = {}, text
    for kind in ("text", "date", "numeric", "int"):
        wanted = [each.name for each in named if each.type == kind]
        if kind == "text":
            said = _texts(rest, links)
        elif kind == "date" or wanted or (kind == "int" and "numeric" not in kinds):
            said = re.findall(rf"(?<![\w.-]){_FORMS[kind]}(?![\w-]|\.\d)", rest)
        else:
            continue
        if len(said) != len(wanted):
            return None
        for name, value in zip(wanted, said, strict=True):
            values[name] = value
            rest = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", name, rest, count=1)
    return values, rest


def _texts(text: str, links: Sequence[ValueLink]) -> list[str]:
    """The names, quoted texts and stored values that `text` holds, as written; the longest of those that overlap."""
    linked = [
        re.escape(link.span) for link in links if link.span and link.similarity >= _SURE and not link.coded
    ]
    patterns = [QUOTED, CAPITALISED, *(re.compile(rf"(?<!\w){each}(?!\w)", re.IGNORECASE) for each in linked)]
    found = {each.span() for pattern in patterns for each in pattern.finditer(text)}
    longest = [
        (start, end)
        for start, end in sorted(found)
        if not any(one <= start and end <= other and (one, other) != (start, end) for one, other in found)
    ]
    return [text[start:end] for start, end in longest]


def _same_words(rest: str, plain: str, names: Container[str], encoder: Encoder) -> bool:
    """Whether every content word of either has one in the other that is like it, and both ask for the same of it."""
    if len({ASKING.intersection(re.findall(r"\w+", text.lower())) for text in (rest, plain)}) > 1:
        return False
    one, other = ([word for word in question_words(text) if word not in names] for text in (rest, plain))
    if not one or not other:
        return one == other
    same = np.array([[alike(this, that) for that in other] for this in one])
    if not same.any() or (same.any(axis=0).all() and same.any(axis=1).all()):
        return bool(same.any())
    vectors = encoder.encode([*one, *other])
    near = same | (vectors[: len(one)] @ vectors[len(one) :].T >= WORD_LIKE)
    return bool(near.any(axis=0).all() and near.any(axis=1).all())


def _stored(
    values: Mapping[str, Any], named: Sequence[Parameter], links: Sequence[ValueLink]
) -> dict[str, str]:
    """Texts as they are stored, where a value is linked to them, and without quotes."""
    known = {
        link.span.casefold(): link.values[0] for link in links if link.similarity >= _SURE and link.values
    }
    texts = {each.name for each in named if each.type == "text"}
    bare = {
        name: value.strip("'\"\u201c\u201d") if name in texts else value for name, value in values.items()
    }
    return {
        name: known.get(value.casefold(), value) if name in texts else value for name, value in bare.items()
    }
