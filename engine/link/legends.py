"""Which of the codes that comments of columns explain a question says.

What a comment says is `engine.question.comments`'s. Codes that a table of their own
explains are `engine.findings.rules.literals`'s, by the references to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from engine.link.mentions import CERTAIN, standing_alone
from engine.question.comments import Meaning, counts_places, legend, speaks_of_bits
from engine.question.question import Question
from engine.question.tokens import GRAMMAR
from engine.values.elements import WHOLE_NUMBERS, Relation, ValueLink
from schema_catalog.types import Column, ColumnKey, Snapshot, once_per_snapshot
from schema_catalog.words import identifier_words

_PLAIN = (*WHOLE_NUMBERS, "numeric", "text", "character", "bpchar", '"char"')
"""How the types of codes begin."""

BITS = 3
"""Codes of which each is a bit, at least, where the comment does not say that they are."""


def bits(column: Column) -> tuple[Meaning, ...]:
    """What each bit of a column of flags means, by the bit's value; none where its legend is of plain codes."""
    said = column.description or ""
    if not column.type.startswith(WHOLE_NUMBERS) or not (meanings := legend(said)):
        return ()
    if not all(each.code.isdigit() for each in meanings):
        return ()
    codes = [int(each.code) for each in meanings]
    if counts_places(said):
        return tuple(replace(each, code=str(1 << code)) for each, code in zip(meanings, codes, strict=True))
    set_ones = [code for code in codes if code]
    powers = all(code & (code - 1) == 0 for code in set_ones)
    told = speaks_of_bits(said) or speaks_of_bits(" ".join(identifier_words(column.name)))
    if not powers or (len(set_ones) < BITS and not told):
        return ()
    return tuple(each for each, code in zip(meanings, codes, strict=True) if code)


@once_per_snapshot
def legends(snapshot: Snapshot) -> Mapping[ColumnKey, tuple[Meaning, ...]]:
    """The columns with a legend of codes in their descriptions; one of bits tells no value that a column has."""
    found = {
        (*table.key, column.name): legend(column.description)
        for table, column in snapshot.columns()
        if column.description and column.type.startswith(_PLAIN) and not bits(column)
    }
    return {key: meanings for key, meanings in found.items() if meanings}


def code_of(text: str, column: ColumnKey, snapshot: Snapshot) -> str | None:
    """The code of a column that means `text`; None where the text is a code itself, or means none or several."""
    meanings = legends(snapshot).get(column, ())
    if any(each.code == text for each in meanings):
        return None
    words = identifier_words(text)
    codes = [each.code for each in meanings if identifier_words(each.words) == words]
    return codes[0] if len(codes) == 1 and words else None


def coded_links(question: Question, snapshot: Snapshot) -> tuple[ValueLink, ...]:
    """The codes whose meanings stand in `question`, and are no part of a longer meaning or name there.

    Not a meaning that is a name of the schema, or words of grammar and of operations alone.
    """
    known = legends(snapshot)
    if not known:
        return ()
    names = {identifier_words(table.name) for table in snapshot.tables}
    names.update(identifier_words(column.name) for _, column in snapshot.columns())
    meant = {identifier_words(each.words) for meanings in known.values() for each in meanings}
    said = standing_alone(question.words, names | meant) - names
    return tuple(
        ValueLink(each.words.lower(), key, (each.code,), CERTAIN, Relation.EQUALS, coded=True)
        for key, meanings in known.items()
        for each in meanings
        if (words := identifier_words(each.words)) in said and not GRAMMAR.issuperset(words)
    )
