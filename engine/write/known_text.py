"""What is known beside the schema, as text for a prompt: examples, terms, values, what was learned, and the dialogue.

It stands behind the schema, which stays the same. Questions, names and descriptions are data: quoted, on one line, cut
short, without marks of the prompt's structure. A statement or a definition stands there whole and on one line, or not
at all; a value as a predicate in SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence

from engine.link.exclusions import exclusions
from engine.llm.prompts import prompt
from engine.question.periods import months_after
from engine.question.plain import excerpt
from engine.question.question import Question
from engine.statement.resolution import resolve
from engine.statement.written import QUESTION, condition, defined, element_name, one_line, quoted, unmarked
from engine.values.dialogue import Dialogue, FollowUp, Turn
from engine.values.elements import (
    WHOLE_TABLE,
    ColumnContent,
    ValueLink,
    elements_of,
    elements_read,
    is_masked,
)
from engine.values.learned import Example, Learned, Preference
from engine.values.state import Route, State
from schema_catalog.types import ColumnKey, Snapshot, Term

EARLIER = 400
"""Characters of the question that a follow-up goes on from, at most."""


Quote = Callable[[str, int], str]
"""Foreign text, cut to so many characters, as it stands in a prompt."""


def example_text(
    learned: Learned, shown: Snapshot, hidden: Container[ColumnKey] = frozenset(), quote: Quote | None = None
) -> str:
    """The blocks for the prompt, or an empty text; only of elements of `shown` that are not in `hidden`."""
    text, quote = "", quote or quoted
    if lines := list(dict.fromkeys(_preferences(learned, shown, hidden, quote))):
        text += prompt("learned", lines="\n".join(lines)) + "\n\n"
    if lines := list(_examples(learned, shown, hidden, quote)):
        text += prompt("examples", lines="\n".join(lines)) + "\n\n"
    return text


def _preferences(
    learned: Learned, shown: Snapshot, hidden: Container[ColumnKey], quote: Quote
) -> Iterator[str]:
    for each in learned.preferences:
        if not any(is_masked(element, hidden) for element in (each.preferred, each.rejected)):
            line = preference_line(each, shown, quote)
            if line is not None:
                yield line


def preference_line(preference: Preference, shown: Snapshot, quote: Quote | None = None) -> str | None:
    """`"name": singer.artist_name rather than singer.performer_name`; None where `shown` lacks one of the two."""
    preferred, rejected = (element_name(each, shown) for each in (preference.preferred, preference.rejected))
    if preferred is None or rejected is None:
        return None
    return f"{(quote or quoted)(preference.phrase, QUESTION)}: {preferred} rather than {rejected}"


def _examples(learned: Learned, shown: Snapshot, hidden: Container[ColumnKey], quote: Quote) -> Iterator[str]:
    for each in learned.examples:
        sql = one_line(each.sql)
        if sql is not None and _names_only(each, shown, hidden):
            yield f"{quote(each.question, QUESTION)}\n{sql}"


def _names_only(example: Example, shown: Snapshot, hidden: Container[ColumnKey]) -> bool:
    resolution = resolve(example.sql, shown)
    read = elements_read(resolution.columns, resolution.tables)
    return not resolution.problems and not any(is_masked(element, hidden) for element in read)


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


def term_text(
    terms: Iterable[Term],
    shown: Snapshot,
    hidden: Container[ColumnKey] = frozenset(),
    quote: Quote | None = None,
) -> str:
    """The block for the prompt, or an empty text; only terms over elements of `shown` that are not in `hidden`."""
    columns, quote = ((*table.key, column.name) for table, column in shown.columns()), quote or quoted
    there = elements_read(columns, (table.key for table in shown.tables))
    lines = [
        f"{quote(each.name, QUESTION)}: {defined(each)}"
        + (f"  ({quote(each.description, QUESTION)})" if each.description else "")
        for each in terms
        if elements_of(each) <= there and not any(is_masked(element, hidden) for element in elements_of(each))
    ]
    return prompt("terms", lines="\n".join(lines[:TERMS])) + "\n\n" if lines else ""


def rules_text(shown: Snapshot) -> str:
    """What holds in the database unless a question says otherwise, a line each, behind its schema; or nothing."""
    lines = [unmarked(line, RULE) for line in shown.rules.splitlines() if line.strip()]
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


def today_text(question: Question) -> str:
    """The day and the question's periods as a block for the prompt; an empty text where no day changes the answer."""
    if not question.depends_on_today:
        return ""
    # A plain year needs no words.
    said = (each for each in question.periods if each.relative or each.end < months_after(each.start, 12))
    lines = dict.fromkeys(f"{each.text}: {each.words}" for each in said)
    return prompt("today", lines="\n".join((f"{question.today:%A}, {question.today} (UTC)", *lines))) + "\n\n"


def known_text(
    route: Route,
    dialogue: Dialogue,
    shown: Snapshot,
    hidden: Container[ColumnKey] = frozenset(),
    quote: Quote | None = None,
) -> str:
    """The blocks for the prompt, or an empty text; only of elements of `shown` that are not in `hidden`."""
    text = exclusion_text(shown, hidden)
    text += term_text(route.terms, shown, hidden, quote)
    text += value_text(route.values, shown, hidden)
    text += content_text(route.contents, shown, hidden)
    text += example_text(route.learned, shown, hidden, quote)
    if lines := conversation_text(dialogue):
        text += prompt("conversation", lines=lines) + "\n\n"
    return text


SHOWN_STATEMENTS = 5
"""Rejected statements that a model is shown, the newest."""


_LONGEST = 300
"""Characters of a text of the asker's that a model is shown."""


def conversation_text(dialogue: Dialogue) -> str:
    """What was asked, answered and rejected, as lines for a prompt; the asker's texts between quotes, as data."""
    lines = [f"Asked: {turn.question.words} Answered: {_answer(turn)}" for turn in dialogue.turns]
    lines += [f"Rejected: {excerpt(sql, _LONGEST)}" for sql in dialogue.rejected[-SHOWN_STATEMENTS:]]
    lines += [f"The asker says: {_quoted(remark)}" for remark in dialogue.remarks]
    return "\n".join(lines)


def asked_texts(state: State) -> tuple[str, ...]:
    """What the asker has typed of what a prompt may hold."""
    follow_up, dialogue = state.dialogue.follow_up, state.dialogue
    before = () if follow_up is None else (*(each.question for each in follow_up.turns), follow_up.then)
    answers = (turn.text for turn in dialogue.turns if turn.text)
    return (state.ask.question, state.question.text, *before, *dialogue.remarks, *answers)


def _answer(turn: Turn) -> str:
    option = turn.option
    if option is not None:
        return option.words
    return (
        "none of " + "; ".join(each.words for each in turn.question.options)
        if turn.text is None
        else _quoted(turn.text)
    )


def _quoted(text: str) -> str:
    return '"' + excerpt(text, _LONGEST).replace('"', "'") + '"'
