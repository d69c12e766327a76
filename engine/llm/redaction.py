"""What of a prompt a service of somebody else's is not told: personal data as marks, put back into its statements.

Owns which texts are personal, the marks, and their way back: into string constants of a parsed statement, and into the
words that are meant for the asker. A mark cannot be guessed, and none stands in the text that it is made for.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from pglast import ast, parse_sql

from engine.guard.analyse import UnreadableError, analyse, written_name
from engine.llm.prompts import prompt
from engine.statement.binder import bind_tree
from engine.statement.bound_query import Bound, Cell
from engine.statement.printing.stream import Writer
from engine.statement.printing.trees import nodes
from engine.values.model_settings import Redacted
from engine.values.ports import Marks, Prompt
from schema_catalog.types import Snapshot, Table

_EMAIL = re.compile(r"[\w.+%-]+(?:'[\w.+%-]+)*@[\w-]+(?:\.[\w-]+)*\.[^\W\d_]{2,}")
_IBAN = re.compile(r"(?<!\w)[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,30}(?!\w)", re.IGNORECASE)
_IBAN_LENGTHS = range(15, 35)
_RUN = re.compile(r"(?<![\w.])[+(]?\d(?:[ ()/.-]{0,3}\d){6,20}(?!\w)")
"""Digits as telephone and card numbers are written."""
_DATE = re.compile(r"\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4}")
_CARD = re.compile(r"[2-6]\d{3}(?:[ -]?\d){9,15}")
_AMERICAN = re.compile(r"(?:1[ .-])?(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[ .-])[2-9]\d{2}[ .-]\d{4}")
_QUOTED = re.compile(
    '"([^"\n]{2,})"|\u201c([^\u201d\n]{2,})\u201d|\u201e([^\u201c\u201d\n]{2,})[\u201c\u201d]'
    "|\u00ab([^\u00bb\n]{2,})\u00bb|(?<!\\w)'([^'\n]{2,})'(?!\\w)"
)
_INTERNATIONAL, _NATIONAL, _SAME = range(8, 16), range(9, 14), 7
"""Digits of telephone numbers (ITU-T E.164), and how many last ones tell that two are the same."""

_CUT = 6
"""Characters of a text that is cut short, from which on what is left of it is hidden as well."""


def iban(text: str) -> bool:
    """Whether it is an account number of ISO 13616, by its check digits."""
    said = re.sub(r"[ -]", "", text).upper()
    number = "".join(str(int(each, 36)) for each in said[4:] + said[:4])
    return len(said) in _IBAN_LENGTHS and int(number) % 97 == 1


def card(digits: str) -> bool:
    """Whether they end with the check digit of ISO 7812 (Luhn)."""
    doubled = (int(each) * (1 + place % 2) for place, each in enumerate(reversed(digits)))
    return sum(each - 9 * (each > 9) for each in doubled) % 10 == 0  # noqa: PLR2004 - its cross sum


def phone(text: str) -> bool:
    """Whether it is written as a telephone number: international by its length, others by their beginning and signs."""
    digits = _digits(text)
    if _DATE.search(text):
        return False
    if text.startswith("+") or digits.startswith("00"):
        rest = digits.removeprefix("00") if not text.startswith("+") else digits
        return len(rest) in _INTERNATIONAL and rest[0] != "0"
    if text.startswith(("0", "(0")) and not text.startswith("0."):
        return len(digits) in _NATIONAL
    return bool(_AMERICAN.fullmatch(text))


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


@dataclass(frozen=True, slots=True)
class Redaction:
    """Hides `kinds` of texts. `key`: makes marks that nobody can guess."""

    kinds: frozenset[Redacted]
    key: bytes

    def hidden(self, asked: Prompt, grammar: str | None = None) -> tuple[Prompt, str | None, Marks]:
        """The prompt and the grammar with marks, and what these stand for. Blocks: call it in a thread."""
        whole = "\n".join((asked.system, asked.user, asked.prefix, grammar or ""))
        found = self._found(whole, asked.asked)
        told = replace(asked, asked=())
        if not found:
            return told, grammar, ()
        marks = {text: self._mark(kind, text, whole) for text, kind in found.items()}
        hide = _hiding(marks)
        listed = prompt("marks", marks=", ".join(dict.fromkeys(marks.values())))
        told = replace(told, user=f"{hide(asked.user)}\n\n{listed}", prefix=hide(asked.prefix))
        kept = tuple((mark, text) for text, mark in marks.items())
        return told, None if grammar is None else hide(grammar), kept

    def _found(self, whole: str, asked: Iterable[str]) -> dict[str, Redacted]:
        """The texts of these kinds in a prompt; quoted ones are those that the asker has quoted."""
        found = dict.fromkeys(_EMAIL.findall(whole), Redacted.EMAIL)
        found |= dict.fromkeys(filter(None, map(_iban_in, _IBAN.finditer(whole))), Redacted.IBAN)
        runs = [each[0] for each in _RUN.finditer(whole) if not any(each[0] in other for other in found)]
        found |= dict.fromkeys((r for r in runs if _CARD.fullmatch(r) and card(_digits(r))), Redacted.CARD)
        phones = [each for each in runs if each not in found and phone(each)]
        ends = {_digits(each)[-_SAME:] for each in phones}
        found |= dict.fromkeys(
            (r for r in runs if r not in found and _digits(r)[-_SAME:] in ends), Redacted.PHONE
        )
        quoted = (part for text in asked for each in _QUOTED.findall(text) for part in each if part)
        found |= dict.fromkeys((each for each in quoted if each not in found), Redacted.QUOTED)
        return {text: kind for text, kind in found.items() if kind in self.kinds}

    def _mark(self, kind: Redacted, text: str, whole: str) -> str:
        """The same for the same text, as long as nobody has typed it."""
        for tried in count():
            digest = hashlib.blake2b(f"{tried} {text}".encode(), key=self.key, digest_size=4).hexdigest()
            if digest not in whole:
                return f"\u27e8{kind} {digest}\u27e9"
        raise AssertionError


def _iban_in(found: re.Match[str]) -> str | None:
    """The longest beginning of what was found that is one: words may stand behind it."""
    text = found[0]
    ends = (end for end in range(len(text), 14, -1) if end == len(text) or not text[end].isalnum())
    return next((text[:end] for end in ends if iban(text[:end])), None)


def _hiding(marks: Mapping[str, str]) -> Callable[[str], str]:
    """Puts marks in the place of texts: as they are, as SQL writes them in a literal, and cut short."""
    written = {**marks, **{text.replace("'", "''"): mark for text, mark in marks.items()}}
    longest = sorted(written, key=len, reverse=True)
    # Within a word it is another text.
    whole = re.compile("|".join(rf"(?<!\w){re.escape(each)}(?!\w)" for each in longest))
    cut = {
        f"{each[:end]}{sign}": f"{written[each]}{sign}"
        for each in longest
        for end in range(len(each) - 1, _CUT - 1, -1)
        for sign in "`\u2026"
    }

    def hide(text: str) -> str:
        text = whole.sub(lambda found: written[found[0]], text)
        for part, mark in cut.items():
            text = text.replace(part, mark)
        return text

    return hide


def words(text: str, marks: Marks) -> str:
    """Words that are meant for the asker, with what marks stand for. Never for a statement."""
    for mark, hidden in marks:
        text = text.replace(mark, hidden)
    return text


def put_back(sql: str, marks: Marks, snapshot: Snapshot) -> str:
    """`sql` with what marks stand for in its string constants, and nowhere else. Blocks: call it in a thread.

    As it is where it has none, or cannot be read. Where a number is wanted it is the digits of the text.
    """
    if not any(mark in sql for mark, _ in marks):
        return sql
    try:
        body = analyse(sql).body
        tree: Any = parse_sql(body)[0].stmt
        bound = bind_tree(tree, snapshot)
    except UnreadableError:
        return sql
    used = dict(_comparisons(tree, bound))
    for node in nodes(tree):
        if isinstance(node, ast.A_Const) and isinstance(node.val, ast.String):
            said = _said(node.val.sval or "", marks, used.get(id(node), ""))
            node.val = ast.String(sval=said)
    text: str = Writer()(tree)
    return text


def _said(text: str, marks: Marks, use: str) -> str:
    for mark, hidden in marks:
        if mark in text:
            number = use == _NUMBER and _DIGITS.fullmatch(hidden)
            text = text.replace(mark, _digits(hidden) if number else _ESCAPES.get(use, str)(hidden))
    return text


_NUMBER = "number"
_DIGITS = re.compile(r"[+(]?\d[\d ()/.-]*")
_NUMBERS = frozenset({"smallint", "integer", "bigint", "numeric", "int2", "int4", "int8"})
_LIKE = frozenset({"~~", "!~~", "~~*", "!~~*"})
_REGEX = frozenset({"~", "!~", "~*", "!~*"})
_ESCAPES = {
    "like": lambda text: re.sub(r"([\\%_])", r"\\\1", text),
    "regex": lambda text: re.sub(r"([^\w\s@-])", r"\\\1", text),
}
"""What makes a text a pattern of itself."""


def _comparisons(tree: Any, bound: Bound) -> Iterator[tuple[int, str]]:
    """Constants, by `id`, with what they are used as: a number, or a pattern."""
    for node in nodes(tree):
        if isinstance(node, ast.TypeCast) and isinstance(node.arg, ast.A_Const):
            if _type(node.typeName) in _NUMBERS:
                yield id(node.arg), _NUMBER
        elif isinstance(node, ast.A_Expr):
            ends = node.lexpr, node.rexpr
            name = written_name(node.name or ())[-1:]
            numbers = any(_numeric(end, bound) for end in ends)
            use = _NUMBER if numbers else "like" if _LIKE & {*name} else "regex" if _REGEX & {*name} else ""
            if use:
                yield from ((id(each), use) for each in nodes(ends) if isinstance(each, ast.A_Const))


def _numeric(end: Any, bound: Bound) -> bool:
    """Whether it is a column of numbers, as text or not."""
    column = end.arg if isinstance(end, ast.TypeCast) else end
    match bound.refs.get(id(column)):
        case Cell(source, _, int(place)) if isinstance(source.origin, Table):
            return source.origin.columns[place].type.partition("(")[0] in _NUMBERS
    return False


def _type(name: Any) -> str:
    return written_name(name.names or ())[-1]
