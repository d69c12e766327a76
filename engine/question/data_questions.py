"""Questions about the data itself: what a word means, where something is, which values, tables and columns there are.

Owns their grammar, in English and German. A question is one of these as a whole, and
names what exists (`engine.ask.data_answers`); anything else is a question that the data answers.
from schema_catalog.words import identifier_words
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from schema_catalog.words import identifier_words


class Subject(StrEnum):
    """What is asked of the data. The first four name something of it."""

    MEANING = "the meaning of"
    VALUES = "the values of"
    COLUMNS = "the columns of"
    PLACE = "the tables that have"
    TABLES = "the tables"
    SIZES = "the rows of each table"
    SCOPE = "what can be asked"


@dataclass(frozen=True, slots=True)
class DataQuestion:
    """`named`: what it is about, in the asker's words; empty where it is about everything."""

    subject: Subject
    named: str = ""


_WHAT = r"(?P<named>.+?)"
_KIND = r"(?:(?:the|die|der|das) )?(?:(?:column|field|table|term|word|spalte|feld|tabelle|begriff|wort) )?"
_ANY = r"(?:(?:different|distinct|possible|allowed|valid|verschiedenen|möglichen|erlaubten) )*"
_HERE = r"(?: here| hier| in (?:the|this|my|our|der|dieser) (?:data ?base|data|schema|datenbank))?"
_ROWS = r"(?:rows|records|entries|zeilen|datensätze|einträge)"
_EACH = r"(?:each|every|all|all the|each of the|jede|jeder|allen)"

_GRAMMAR: dict[Subject, tuple[str, ...]] = {
    Subject.MEANING: (
        rf"what (?:does|do) {_KIND}{_WHAT} (?:mean|stand for|signify){_HERE}",
        rf"(?:what is meant by|define|explain the (?:column|field|table|term)) {_KIND}{_WHAT}",
        rf"what(?: is|'s) the (?:meaning|definition) of {_KIND}{_WHAT}",
        rf"(?:how is|wie ist) {_WHAT} (?:defined|definiert)",
        rf"(?:was (?:bedeutet|bedeuten|heißt|meint)|wofür steht) {_KIND}{_WHAT}",
        rf"was ist (?:mit|unter) {_WHAT} (?:gemeint|zu verstehen)",
    ),
    Subject.VALUES: (
        rf"(?:which|what) {_ANY}values (?:does|do|can|may|could) {_KIND}{_WHAT} (?:have|take|hold|contain)(?: on)?",
        rf"(?:which|what) {_ANY}values (?:are|exist)(?: there)? (?:for|of|in) {_KIND}{_WHAT}",
        rf"what are the {_ANY}values (?:of|for|in) {_KIND}{_WHAT}",
        rf"welche {_ANY}werte (?:hat|haben|enthält|gibt es (?:für|in|bei)) {_KIND}{_WHAT}",
        rf"welche {_ANY}werte (?:kann|nimmt) {_KIND}{_WHAT} (?:haben|annehmen|an)",
    ),
    Subject.COLUMNS: (
        rf"(?:which|what) (?:columns|fields) (?:does|do) {_KIND}{_WHAT} (?:table )?have",
        rf"(?:which|what) (?:columns|fields)(?: are)?(?: there)? (?:in|of) {_KIND}{_WHAT}",
        rf"(?:(?:list|show)(?: me)?|what are) (?:all )?(?:the )?(?:columns|fields) of {_KIND}{_WHAT}",
        rf"describe (?:the )?table {_WHAT}",
        rf"welche (?:spalten|felder) (?:hat|enthält|gibt es in) {_KIND}{_WHAT}",
    ),
    Subject.PLACE: (
        rf"(?:which|what) tables? (?:has|have|holds?|contains?|stores?|(?:is|are) about){_HERE} {_WHAT}",
        rf"in (?:which|what) tables? (?:is|are|do i find|can i find) {_WHAT}",
        rf"where (?:is|are|do i find|can i find|do you keep) {_WHAT} (?:stored|kept|saved|data)",
        rf"where (?:do i|can i) find {_WHAT} (?:data|information)",
        rf"welche tabellen? (?:enthält|enthalten|hat|haben) {_WHAT}",
        rf"in welche[rn] tabellen? (?:steht|stehen) {_WHAT}",
        rf"wo (?:finde ich|stehen|sind|ist) {_WHAT} (?:gespeichert|abgelegt)",
    ),
    Subject.TABLES: (
        rf"(?:which|what) tables (?:are there|exist|do (?:you|we) have|are|can i (?:query|ask|see|use)){_HERE}",
        rf"(?:list|show)(?: me)?(?: all)?(?: the| my| our)? tables{_HERE}",
        rf"welche tabellen (?:gibt es|sind){_HERE}",
        r"(?:zeige?|liste)(?: mir)?(?: alle| die)* tabellen(?: auf)?",
    ),
    Subject.SIZES: (
        rf"how many {_ROWS} (?:has|have|does|do|are(?: there)? (?:in|for)) {_EACH} tables?(?: have)?",
        rf"(?:count|show|list)(?: me)?(?: the)?(?: number of)? {_ROWS} (?:in|of|for|per) {_EACH} tables?",
        rf"(?:row counts?|sizes?) (?:of|for|in) {_EACH} tables?",
        rf"how (?:big|large) (?:is|are) {_EACH} tables?",
        rf"wie ?viele {_ROWS} (?:hat|haben|sind in) {_EACH} tabellen?",
    ),
    Subject.SCOPE: (
        rf"what (?:questions )?can (?:i|you|we|one) ask(?: you)?(?: about)?{_HERE}(?: about)?",
        rf"(?:what|which) data (?:is|are|do (?:you|we) have)(?: there| available)?{_HERE}",
        r"what(?: is|'s) in (?:this|the|my|our) (?:data ?base|data)",
        rf"was kann (?:ich|man)(?: alles)?{_HERE} fragen",
        rf"welche (?:daten|fragen) gibt es{_HERE}",
    ),
}
"""Of each subject the whole sentence, without its courtesy and its last mark, in lower case."""

_SENTENCES = tuple((subject, re.compile(each)) for subject, patterns in _GRAMMAR.items() for each in patterns)

_COURTESY = re.compile(
    r"(?:(?:please|hi|hello|hey|bitte|and|can you|could you|tell me|sag mir|i want to know|just)\b[ ,]*)+"
)

_QUOTES = re.compile('["`\u201c-\u201f]')

_FILLING = frozenset(
    """
    a an the any all my our your of in on for column field table data information info record value term word stored
    saved kept die der das den dem im spalte feld tabelle daten
    """.split()  # noqa: SIM905  a list of quoted words is no easier to read
)
"""Words around a name, and none of it."""


def data_question(text: str) -> DataQuestion | None:
    """What `text` asks about the data itself, as far as its form tells; None for any other text."""
    plain = " ".join(_QUOTES.sub("", text.replace("\u2019", "'")).lower().split()).rstrip(" ?.!")
    plain = _COURTESY.sub("", plain, count=1)
    for subject, sentence in _SENTENCES:
        if (found := sentence.fullmatch(plain)) is not None:
            named = found["named"] if "named" in sentence.groupindex else ""
            return DataQuestion(subject, named.strip(" '"))
    return None


def bag_of_words(text: str) -> tuple[str, ...]:
    """The folded words of a name, each once, in the order of the alphabet, without what only stands around one."""
    words = set(identifier_words(text))
    return tuple(sorted(words - _FILLING or words))
