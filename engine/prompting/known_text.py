"""What is known beside the schema, as text for a prompt: examples, terms, values, and the dialogue.

Preferences and verified examples as text for a prompt, behind the schema, which stays the same.

Questions are data: quoted, on one line, cut short, without marks of the prompt's structure. A statement is shown whole
and on one line or not at all.

Terms of the business as text for a prompt, behind the schema, and for who asks.

A name and a description are data: quoted, on one line, cut short. A definition is SQL that was checked, on one line.

Values of the database as text for a prompt, behind the schema, so that the prefix stays the same.

A line is a predicate in SQL. No value has a line break or a mark of the prompt's structure
(`engine.linking.value_reader`).

What is known beside the schema as text for a prompt: terms, values, what was learned, and the dialogue.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from datetime import date

from engine.core.elements import (
    WHOLE_TABLE,
    ColumnContent,
    Relation,
    ValueLink,
    elements_of,
    elements_read,
    is_masked,
)
from engine.core.state import Route
from engine.decoding.sql_grammar import qualifier
from engine.dialogue.question import conversation_text
from engine.dialogue.types import Dialogue, FollowUp
from engine.learning.types import Example, Learned, Preference
from engine.linking.exclusions import exclusions
from engine.linking.periods import depends_on_today, period_lines
from engine.prompting.prompts import prompt
from engine.sql.resolution import resolve
from schema_catalog.naming import quote_ident, quote_literal
from schema_catalog.types import ColumnKey, Snapshot, Term

QUESTION = 160
"""Characters of an earlier question that a prompt shows."""

STATEMENT = 400
"""Characters of an example's statement at most."""

EARLIER = 400
"""Characters of the question that a follow-up goes on from, at most."""

_LITERAL = re.compile(r"('(?:[^']|'')*'|\"(?:[^\"]|\"\")*\")")
_MARKS = ("--", "/*", "```", "###", "$$")
"""Comments, and marks of the prompt's and the answer's structure."""


def example_text(learned: Learned, shown: Snapshot, hidden: Container[ColumnKey] = frozenset()) -> str:
    """The blocks for the prompt, or an empty text; only of elements of `shown` that are not in `hidden`."""
    text = ""
    if lines := list(dict.fromkeys(_preferences(learned, shown, hidden))):
        text += prompt("learned", lines="\n".join(lines)) + "\n\n"
    if lines := list(_examples(learned, shown, hidden)):
        text += prompt("examples", lines="\n".join(lines)) + "\n\n"
    return text


def _preferences(learned: Learned, shown: Snapshot, hidden: Container[ColumnKey]) -> Iterator[str]:
    for each in learned.preferences:
        if each.named and not any(is_masked(element, hidden) for element in (each.preferred, each.rejected)):
            line = preference_line(each, shown)
            if line is not None:
                yield line


def preference_line(preference: Preference, shown: Snapshot) -> str | None:
    """`"name": singer.artist_name rather than singer.performer_name`; None where `shown` lacks one of the two."""
    preferred, rejected = (element_name(each, shown) for each in (preference.preferred, preference.rejected))
    if preferred is None or rejected is None:
        return None
    return f"{quoted(preference.phrase)}: {preferred} rather than {rejected}"


def _examples(learned: Learned, shown: Snapshot, hidden: Container[ColumnKey]) -> Iterator[str]:
    for each in learned.examples:
        sql = one_line(each.sql)
        if sql is not None and _names_only(each, shown, hidden):
            yield f"{quoted(each.question)}\n{sql}"


def _names_only(example: Example, shown: Snapshot, hidden: Container[ColumnKey]) -> bool:
    resolution = resolve(example.sql, shown)
    read = elements_read(resolution.columns, resolution.tables)
    return not resolution.problems and not any(is_masked(element, hidden) for element in read)


def quoted(text: str, most: int = QUESTION) -> str:
    """Foreign text in double quotes, on one line, cut to `most` characters, without marks of structure."""
    plain = "".join(" " if unicodedata.category(each)[0] in "CZ" else each for each in text)
    plain = " ".join(plain.replace('"', "'").replace("`", "'").replace("#", "").split())
    return f'"{plain if len(plain) <= most else plain[: most - 1] + "…"}"'


def one_line(sql: str, most: int = STATEMENT) -> str | None:
    """A statement on one line; None where it is too long, or has a line break in a literal or a mark of structure."""
    parts = _LITERAL.split(sql)
    written = "".join(
        part if place % 2 else re.sub(r"\s+", " ", part) for place, part in enumerate(parts)
    ).strip()
    if len(written) > most or any(mark in written for mark in _MARKS):
        return None
    return (
        None if any(unicodedata.category(each) in {"Cc", "Cf", "Zl", "Zp"} for each in written) else written
    )


def before_text(follow_up: FollowUp) -> dict[str, str]:
    """The parts of a prompt that say what `follow_up` goes on from."""
    sql = one_line(follow_up.sql) or "-- too long to be shown"
    return {"before": quoted(follow_up.question, EARLIER), "sql": sql}


TURNS = 4_000
"""Characters of what was asked before, where a model says itself whether a question goes on from it."""


def turns_text(follow_up: FollowUp, quote: Callable[[str, int], str] | None = None) -> str:
    """Questions, meanings and statements of the turns before, the newest last: as many as there is room for in whole.

    `quote`: see `quoted`. Of the newest the question and the meaning stand there in any case.
    """
    told, room = list[str](), TURNS
    for turn in reversed(follow_up.turns):
        sql = one_line(turn.sql, room)
        said = [("Question", turn.question), ("Meaning", turn.meaning)]
        lines = [f"{name}: {(quote or quoted)(text, TURNS)}" for name, text in said if text]
        lines.append(f"Statement: {sql or '-- it cannot be shown'}")
        text = "\n".join(lines)
        if told and (sql is None or len(text) > room):
            break
        told.append(text)
        room -= len(text)
    return "\n\n".join(reversed(told))


RULE = 600
"""Characters of one line of a database's rules, at most."""

TERMS = 8
"""Terms that a prompt holds at most."""


def term_text(terms: Iterable[Term], shown: Snapshot, hidden: Container[ColumnKey] = frozenset()) -> str:
    """The block for the prompt, or an empty text; only terms over elements of `shown` that are not in `hidden`."""
    columns = ((*table.key, column.name) for table, column in shown.columns())
    there = elements_read(columns, (table.key for table in shown.tables))
    lines = [
        f"{quoted(each.name)}: {defined(each)}"
        + (f"  ({quoted(each.description)})" if each.description else "")
        for each in terms
        if elements_of(each) <= there and not any(is_masked(element, hidden) for element in elements_of(each))
    ]
    return prompt("terms", lines="\n".join(lines[:TERMS])) + "\n\n" if lines else ""


def defined(term: Term) -> str:
    """The definition on one line."""
    return one_line(term.definition) or ""


def rules_text(shown: Snapshot) -> str:
    """What holds in the database unless a question says otherwise, a line each, behind its schema; or nothing."""
    lines = [quoted(line, RULE) for line in shown.rules.splitlines() if line.strip()]
    return "\n\n" + prompt("rules", lines="\n".join(f"- {line}" for line in lines)) if lines else ""


def value_text(
    links: Sequence[ValueLink], shown: Snapshot, hidden: Container[ColumnKey] = frozenset()
) -> str:
    """The block for the prompt, or an empty text; only of columns of `shown` that are not in `hidden`."""
    lines = dict.fromkeys(
        line
        for link in links
        if not is_masked(link.column, hidden) and (line := condition(link, shown)) is not None
    )
    return prompt("values", lines="\n".join(lines)) + "\n\n" if lines else ""


CONTENTS = 8
"""Columns of which a prompt shows what they hold, at most."""


def content_text(
    contents: Sequence[ColumnContent], shown: Snapshot, hidden: Container[ColumnKey] = frozenset()
) -> str:
    """The block for the prompt, or an empty text; only of columns of `shown` that are not in `hidden`."""
    names = (
        (each, element_name(each.column, shown)) for each in contents if not is_masked(each.column, hidden)
    )
    lines = [
        f"{name}: {', '.join(part.replace('{}', name, 1) for part in each.expressions)}"
        for each, name in names
        if name is not None and each.expressions
    ]
    return prompt("contents", lines="\n".join(lines[:CONTENTS])) + "\n\n" if lines else ""


def condition(link: ValueLink, shown: Snapshot) -> str | None:
    """`singer.country = 'France'`, `orders.state = '30' ("paid")`; None where `shown` does not have the column."""
    name = element_name(link.column, shown)
    if name is None:
        return None
    literals = map(quote_literal, link.values)
    meaning = f" ({quoted(link.span)})" if link.coded else ""
    compared = "is either" if link.relation is Relation.ONE_OF else link.relation
    return f"{name} {compared} {' or '.join(literals)}{meaning}"


def element_name(element: ColumnKey, shown: Snapshot) -> str | None:
    """The element in SQL, `singer` or `singer.country`; None where `shown` does not have it."""
    table = next((table for table in shown.tables if table.key == element[:2]), None)
    if table is None:
        return None
    if element[2] == WHOLE_TABLE:
        return qualifier(shown, table)
    if element[2] not in {column.name for column in table.columns}:
        return None
    return f"{qualifier(shown, table)}.{quote_ident(element[2])}"


EXCLUSIONS = 12
"""Lines of rows that do not count, at most."""


def exclusion_text(shown: Snapshot, hidden: Container[ColumnKey] = frozenset()) -> str:
    """The block for the prompt, or an empty text."""
    lines = [
        f"{name}: {each.tests[0]}"
        for each in exclusions(shown)
        if each.told and not is_masked(each.column, hidden)
        if (name := element_name((*each.column[:2], WHOLE_TABLE), shown)) is not None
    ]
    return prompt("exclusions", lines="\n".join(lines[:EXCLUSIONS])) + "\n\n" if lines else ""


def today_text(question: str, today: date) -> str:
    """The day and the question's periods as a block for the prompt; an empty text where no day changes the answer."""
    if not depends_on_today(question, today):
        return ""
    return prompt("today", lines="\n".join(period_lines(question, today))) + "\n\n"


def known_text(
    route: Route, dialogue: Dialogue, shown: Snapshot, hidden: Container[ColumnKey] = frozenset()
) -> str:
    """The blocks for the prompt, or an empty text; only of elements of `shown` that are not in `hidden`."""
    text = exclusion_text(shown, hidden)
    text += term_text(route.terms, shown, hidden)
    text += value_text(route.values, shown, hidden)
    text += content_text(route.contents, shown, hidden)
    text += example_text(route.learned, shown, hidden)
    if lines := conversation_text(dialogue):
        text += prompt("conversation", lines=lines) + "\n\n"
    return text
