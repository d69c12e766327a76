"""Words of questions: which count, and how they fold, as names do (`schema_catalog.words`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from schema_catalog.words import folded

STOP_WORDS = frozenset(
    """
    a about all also an and any are as at be been being both but by can could did do does each either every
    find for from give had has have he her him his how i in into is it its list many me much my neither no
    nor not of on or our per please return shall she should show some such tell than that the their them
    then there these they this those to us was we were what when where which who whom whose why will with
    would you your
    """.split()  # noqa: SIM905  a list of quoted words is no easier to read
)
"""Articles, pronouns, prepositions, auxiliaries, and verbs of asking."""

OPERATION_WORDS = frozenset(
    """
    above after ascending ask average before below best between count descending different display distinct
    done fewest first get greater greatest group grouped having highest if largest last least less lowest
    max maximum mean min minimum more most one other out over same smallest so sort sorted sum top total
    under up whether while within without worst
    """.split()  # noqa: SIM905  a list of quoted words is no easier to read
)
"""Words of comparing, ordering and counting: they name operations."""

LABEL_WORDS = frozenset(
    """
    among compute describe eight five four longest name names nearest nine number only order report seven
    shortest six ten three two zero
    """.split()  # noqa: SIM905  a list of quoted words is no easier to read
)
"""Numerals and general nouns: they may name a column and are no value by themselves."""


GRAMMAR = STOP_WORDS | OPERATION_WORDS
PLAIN = GRAMMAR | LABEL_WORDS

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


QUOTED = re.compile(
    r"'[^']+'(?!\w)|\"[^\"]+\"|\u201c[^\u201d]+\u201d|\u2018[^\u2019]+\u2019(?!\w)|\u201e[^\u201c]+\u201c|«[^»]+»"
)
"""A quoted text of a question, with its quotes."""

_SORTED = re.compile(r"\bin (?:\w+ )*?order\b", re.IGNORECASE)

CAPITALISED = re.compile(r"(?<=\s)[A-Z][\w'\u2019.&-]*(?: [A-Z][\w'\u2019.&-]*)*")
"""Words with capitals, except for the first of a sentence."""

ASKING = frozenset(
    {"and", "both", "each", "every", "how", "many", "much", "no", "nor", "not", "or", "when", "where", "who"}
)
"""Words of grammar that make it another question."""

_NUMBER = re.compile(r"\d+")

WORD = re.compile(r"[^\W_]+")
SPOKEN = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
"""A word, and one with what an apostrophe joins to it."""

_PIECE = re.compile(r"\w+|[^\w\s]")
_CUE = re.compile(r"[a-z]+|\d+|['\"\u2018\u2019\u201c\u201d]")

_CAPITAL = re.compile(r"(?<!^)(?<![.?!] )(?<!\w)[A-Z][\w'\u2019-]*")


def keeps_values(text: str, other: str) -> bool:
    """Whether `text` holds every number and every quoted text of `other`."""
    quoted = {each[1:-1].strip() for each in QUOTED.findall(other)}
    numbers = set(_NUMBER.findall(other))
    return numbers <= set(_NUMBER.findall(text)) and all(each in text for each in quoted)


def without_possessives(text: str) -> Iterable[str]:
    """The folded words of a text, without the mark of a possessive, in order."""
    return folded(re.sub(r"['\u2019]s\b", "", text))


def question_words(text: str) -> tuple[str, ...]:
    """The folded words of a text without stop words, each once, in order."""
    return tuple(dict.fromkeys(word for word in without_possessives(text) if word not in STOP_WORDS))


def topics_in(text: str) -> tuple[str, ...]:
    """Those of a text's words that are not general ones either, and tell no order of rows."""
    return tuple(word for word in question_words(_SORTED.sub(" ", text)) if word not in GENERAL)


def normal_form(text: str) -> str:
    """The text without case, repeated white space and marks at its end."""
    return " ".join(text.casefold().split()).rstrip(" .?!;")


def names_in(text: str) -> frozenset[str]:
    """The words, in lower case, of what is written with a capital that it would have anywhere."""
    named = _CAPITAL.findall(QUOTED.sub(" ", text))
    return frozenset(part.lower() for name in named for part in WORD.findall(name))


def pieces_in(text: str) -> tuple[str, ...]:
    """The words and marks as they are written, in order."""
    return tuple(_PIECE.findall(text))


def cues_in(text: str) -> Iterator[str]:
    """Words and bigrams in lower case; numbers are `0`, quotes `'`."""
    before = ""
    for match in _CUE.finditer(text.lower()):
        word = match.group()
        word = "0" if word.isdigit() else word if word.isalpha() else "'"
        yield word
        if before:
            yield f"{before} {word}"
        before = word
