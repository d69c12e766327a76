"""What of a question nothing stands for: in a statement, and in a schema.

The names and quoted texts of a question of which a statement says nothing.

The words of a question that nothing in a schema stands for.

A word is known where it is one of operations, grammar or numbers, a name (which only the data could tell), a part of a
linked value, or like a word of the schema's names and descriptions; else by the encoder's cosine to the elements, of
the word alone and of the phrase it stands in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from engine.link.contents import keys_of
from engine.link.element_text import compared, element_words
from engine.link.mentions import short_names, told_words
from engine.link.source import relevance
from engine.question.names import name_words
from engine.question.normalise import MONTHS
from engine.question.spans import Span, SpanKind, entities, spans
from engine.question.tokens import LABEL_WORDS, OPERATION_WORDS, QUOTED, STOP_WORDS, identifier_words
from engine.values.elements import WHOLE_TABLE, UnknownPhrase, ValueLink
from engine.values.ports import Encoder
from engine.values.state import Route
from schema_catalog.types import Column, ColumnKey, Snapshot, Table, Term, once_per_snapshot

_NAMING = frozenset({SpanKind.NAME, SpanKind.QUOTED})
_GRAMMAR = STOP_WORDS | OPERATION_WORDS


def names_not_used(
    question: str, sql: str, snapshot: Snapshot, links: Iterable[ValueLink]
) -> tuple[str, ...]:
    """The names in `question` of which `sql` holds no word, unless the schema or the span of a link holds one.

    "Paris" of "the weather in Paris" where the statement filters by another place, or by none. Whether a linked name
    is used tells `engine.link.mentions.values_not_used`, and whether a month is `engine.findings.rules.coverage`.
    """
    known = {*identifier_words(sql), *schema_words(snapshot)}
    known.update(word for link in links for word in identifier_words(link.span))
    names = [span for span in spans(question) if span.kind in _NAMING and span.start > 0]
    longest = [span for span in names if not any(span.within(other) for other in names)]
    return tuple(dict.fromkeys(span.text for span in longest if _is_strange(span, known)))


def _is_strange(span: Span, known: Iterable[str]) -> bool:
    plain = _GRAMMAR | MONTHS.keys()
    words = [word for word in identifier_words(span.text) if word not in plain and not word.isdigit()]
    return bool(words) and not any(alike(word, other) for word in words for other in known)


NEAR = 0.35
"""Least cosine of a word, to an element with or without its table's name, at which something stands for it.

Chosen on Spider's training questions, by folds of databases (`benchmarks/quality/understanding.py`).
"""

PHRASE_MORE = 0.05
"""Least cosine of its phrase, above `NEAR`: a phrase is nearer to some element than each of its words."""

LETTERS = 3
STEM = 5
"""Letters of a word that is judged, and of a beginning that two words share, at least."""

GENERAL = LABEL_WORDS | frozenset(
    """
    able accordingly across actually along alphabetical alphabetically already alphabetic amongst appear
    appearing appears ascending associated available averaged become begin beginning beginnings belong
    belonged belonging belongs bigger biggest called characterized came check chosen combination combined come comes
    common commonly comparison compared consecutive consist contain contained containing contains
    correspond corresponding corresponds current currently data database decreasing define defined detail detailed
    details didn't difference differ differences distribution doesn't don't double earlier earliest end ended ending
    ends entire entries entry equal exact exactly exceed exceeding except exclude excluding exist existence
    existing exists expensive far fast faster fastest few fewer final follow following follows former found fraction
    frequency frequent frequently full further generated gets gives good got gotten grew grow grows growing growth
    half happen happened happens having held high higher highly hold holding holds identical identified identify
    improve improved include included includes including increase increased increasing individual information involved
    involving item items just keep kind kinds known large larger late later latest least led letter lexicographical
    lexicographically listed listing lists long longer longer look looking made main make makes making manner many
    match matches matching meet month months monthly much multiple named near newer newest next null number numbers
    numeric obtain occur occurred occurs offered offers often old older oldest once ones open opposed original output
    overall own pair pairs part particular past per percent percentage period phrase places possible possibly prefix
    present previous print prior proportion provide provided provides provide quarter question range rank ranked rate
    ratio recent recently record recorded records regardless regarding related relation remaining repeated report
    require required respective respectively result results retrieve return reverse rows scored search second seen
    select separate several short shorter show showed showing shown sort specific specifically start started starting
    starts statistics still string substring take taken takes term terms third together took toward towards trend
    triple twice type types unique unless use used uses using value values various way week weekly weeks well whichever
    whole wide widely word words work worked working works year yearly years yesterday today tomorrow yet younger
    youngest zero day daily days date dates time times
    ago case ever inclusive leave live lived lives living locations lower never ordered receive received reside
    seconds serve serves smaller spent stay stays
    against although because despite due during through throughout though thanks unlike until versus via whereas
    now nowadays presently lately soon moment right
    person people man woman men women someone anyone anything something nothing everything male female
    """.split()  # noqa: SIM905  a list of quoted words is no easier to read
)
"""Words of comparing, having and happening, of time, and of people: every schema answers them, or none does."""

_CAPITAL = re.compile(r"(?<!^)(?<![.?!] )(?<!\w)[A-Z][\w'\u2019-]*")


def unknown_phrases(question: str, route: Route, encoder: Encoder) -> tuple[UnknownPhrase, ...]:
    """The words of `question` that nothing in `route`'s schema stands for, the farthest first.

    `route.entities` and `route.values` are the link stage's. Encodes some words: not for the event loop.
    """
    open_words = list(_open_words(question, route))
    if not open_words:
        return ()
    words = list(dict.fromkeys(word for word, _ in open_words))
    elements = element_words(route.snapshot)
    alone = {key: name_words(key[2]) for key in elements if key[2] != WHOLE_TABLE}
    by_word = {each.text: each for each in compared(words, elements, encoder)}
    by_name = {each.text: each for each in compared(words, alone, encoder)}
    phrases = {each.text: each for each in route.entities}
    found = {}
    for word, phrase in open_words:
        nearest, cosine = _nearest(relevance([each[word] for each in (by_word, by_name) if word in each]))
        around = _nearest(phrases[phrase].similarities)[1] if phrase in phrases else cosine
        if cosine < NEAR and around < NEAR + PHRASE_MORE:
            found[word] = UnknownPhrase(word, nearest, round(cosine, 3))
    return tuple(sorted(found.values(), key=lambda each: each.cosine))


def _open_words(question: str, route: Route) -> Iterator[tuple[str, str]]:
    """(word, its phrase) of the words that neither grammar, names, values nor the schema's words account for.

    Nor those that a name is short for: nothing in the data speaks against "salary" where a column is called `sal`.
    """
    bare = QUOTED.sub(" ", question)
    named = {part.lower() for name in _CAPITAL.findall(bare) for part in re.findall(r"[^\W_]+", name)}
    stored = {part for link in route.values for part in identifier_words(link.span)}
    stored |= {
        part for each in route.contents for key in keys_of(each.expressions) for part in identifier_words(key)
    }
    stored |= {
        part for each in short_names(question, route.snapshot) for part in identifier_words(each.words)
    }
    spoken = schema_words(route.snapshot)
    for phrase in entities(question):
        for word in phrase.split():
            folded = identifier_words(word)
            if len(word) < LETTERS or word in GENERAL or word in named or stored.issuperset(folded):
                continue
            if not any(alike(part, known) for part in folded for known in spoken):
                yield word, phrase


@once_per_snapshot
def schema_words(snapshot: Snapshot) -> frozenset[str]:
    """The folded words of the names, synonyms, descriptions and terms of `snapshot`."""
    named: list[Table | Column | Term] = [*snapshot.tables, *snapshot.terms]
    named += (column for _, column in snapshot.columns())
    texts = (*snapshot.said, *(each.name for each in named))
    return told_words(snapshot).union(word for text in texts for word in identifier_words(text))


def alike(word: str, known: str) -> bool:
    """Whether they are equal or begin alike: "registered" and `registration`."""
    long = min(len(word), len(known)) >= STEM - 1
    return word == known or (long and word[:STEM] == known[:STEM])


def _nearest(similarities: Mapping[ColumnKey, float]) -> tuple[ColumnKey | None, float]:
    if not similarities:
        return None, -1.0
    key = max(similarities, key=similarities.__getitem__)
    return key, similarities[key]
