"""What an asker reads beside a statement, and in notices: what it does, what rules changed, what speaks against it.

A text a line, in the present tense, without a full stop; `{}` is what it speaks of. Why there is no statement is in
`engine.values.refusal`, questions back are in `engine.ask.wording`, a statement in words in `engine.statement`.
"""

from __future__ import annotations

from collections.abc import Iterable


def of(text: str, names: Iterable[str]) -> str | None:
    """`text` with the names, each once; None where there are none."""
    listed = ", ".join(dict.fromkeys(names))
    return text.format(listed) if listed else None


# Sums, counts and groups.
ADDS_SEPARATELY = "adds up {} separately"
ADDS_ONCE = "adds up each row once, however many rows of {} match"
ADDS_REPEATEDLY = "adds up {} once for each row of {}"
AGGREGATES = "aggregates {}"
AGGREGATES_ITS_GROUP = "aggregates {}, by which it also groups"
COUNTS_EACH_ONCE = "counts each {} once"
COUNTS_NONE = "counts 0 where {} has no row"
COUNTS_SINGLE_ROWS = "counts groups of {} that hold one row each"
DIVIDES_BY_ITSELF = "divides a number by itself"
DIVIDES_EXACTLY = "divides with decimals"
DIVIDES_WHOLE = "divides whole numbers, which drops the decimals"
GROUPS_ALSO_BY = "also groups by {}"
HIDES_GROUPS = "gives numbers of groups without saying which group"
NUMBER_FOR_EACH = "gives a number for each {}"
NUMBER_FOR_ALL = "gives one number in all, not one for each {}"
TESTS_GROUPS = "tests groups by {}"

# Rows.
EACH_ROW_ONCE = "shows each row once"
FIRST_BY_TEXT = "takes the first rows by {}, which holds text"
INCLUDES = "includes {}, if there are any"
INCLUDES_WITHOUT = "includes rows without {}"
LAST_WITHOUT = "puts rows without {} last"
LEAVES_OUT = "leaves out {}"
LEAVES_OUT_SAFELY = "leaves out {}, which changes no row"
LEAVES_OUT_WITHOUT = "leaves rows without {} out of the list"
NONE_OF_THEM = "reads '{}' as: none of them"
ONE_OF_THEM = "finds what has at least one other, not what has none"
REPEATED_ONCE = "shows repeated rows once"
SHOWS_ALL = "shows all rows"
SHOWS_SOME = "shows only the first rows, and all are asked for"
SHOWS_TWICE = "shows {} twice"

# Tables, columns and joins.
COMPARES = "compares {}"
COMPARES_STRANGERS = "compares {} with {}, but it refers to {}"
DEPRECATED = "reads {}, which is deprecated"
FROM_ITS_TABLE = "takes {} from the table that has it"
IN_UNIT = "{} in {}"
IN_ZONE = "{} in the time zone {}"
JOINS = "joins {}"
JOINS_BY_KEY = "joins {} by the foreign key"
JOINS_BY_SHARED = "joins {} by what they refer to or share"
JOINS_UNDECLARED = "joins by {}, which no foreign key declares"
SHOWS = "shows {}"
SPELLS = "writes {} as the schema does"
TAKES = "takes {}"

# Values and periods.
AS_DAY = "{} as a day, {}"
AS_NUMBER = "{} as a number"
AS_NUMBERS = "reads the texts of {} as numbers"
AS_TEXT = "{} as a text"
COVERS = "covers {}, but {} is {}"
FOR_MEMBER = "looks for an element of {}"
IN_ANY_CASE = "'{}' in any case"
IN_RANGE = "looks within the range {}"
LOOKS_FOR = "looks for {}"
ONE_DAY = "reads {} as a single day"
PLACED = "'{}' in {}.{}"
READS = "reads {}"
READS_AS = "{} as {}"
REFERRED = "looks for '{}' in {}.{}, which {} refers to"
SAYS_NOTHING = "says nothing about {}"
VALUE_AS = "'{}' as '{}'"

# Beside the other statements of an answer.
ASSUMES = "assuming {}"
DOUBTED = "not sure: {}"
DOUBTED_WHOLE = "probably not what you ask"
NOT_SHOWN = "not shown: \u201c{}\u201d, because {}"
NOT_ANSWERED = "not answered: {}"
NOTHING_MORE = "asked once more: nothing else is meant"
NOTHING_MEANS = "nothing here is about '{}'"
OTHER_COLUMNS = "uses {} where 1 uses {}"
OTHER_ROWS = "{} rows where 1 finds {}"
SAME_ROWS = "the same rows today as \u201c{}\u201d"
SAME_ROWS_UNSAID = "the same rows today as another reading"

# Why a reading is not shown.
FAILS = "it fails on the data"
MORE_THAN_K = "nl.k shows no more"
REFUSED = "its statement is refused"
SHOWN_BEFORE = "it gives the rows of one shown before"

# Whose answer it is, and how the question was read.
ANSWERED_BEFORE = "{} answer to this question before"
FILLED_IN = "filled in: {}; verified for \u201c{}\u201d"
FROM_EARLIER = "from {:%H:%M} UTC; NL MORE asks again"
OUT_OF_TIME = "out of time: {} candidate{} so far"
OWN_WORDS = "{} Something else: say it in your own words."
READ_AS = "Read as: \u201c{}\u201d. {}"
VERIFIED = "verified as the answer to this question"
