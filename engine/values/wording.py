"""What an asker reads: beside a statement, in notices, where there is no statement, and in errors of a question.

`{}` is what a text speaks of. Remarks stand in the present tense, without a full stop. A refusal and an error say what
happened, why, and what to do, in two sentences at most. `engine.values.refusal` puts refusals together, questions back
are in `engine.ask.wording`, a statement in words in `engine.statement`.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.values.errors import Told


def of(text: str, names: Iterable[str]) -> str | None:
    """`text` with the names, each once; None where there are none."""
    listed = ", ".join(dict.fromkeys(names))
    return text.format(listed) if listed else None


# Sums, counts and groups.
A_CODE, A_KEY, A_REFERENCE = "a code", "part of the key", "a reference"
ADDS_KEYS = "adds up {}, which is {}"
ADDS_SEPARATELY = "adds up {} separately"
ADDS_ONCE = "adds up each row once, however many rows of {} match"
ADDS_REPEATEDLY = "adds up {} once for each row of {}"
AGGREGATES = "aggregates {}"
AGGREGATES_ITS_GROUP = "aggregates {}, by which it also groups"
AVERAGES_KEYS = "averages {}, which is {}"
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
LEAVES_OUT_ALONE = "leaves out {} of {} without a partner in {}"
LEAVES_OUT_SAFELY = "leaves out {}, which changes no row"
LEAVES_OUT_TIED = "leaves out {} of the same rank as the last"
LEAVES_OUT_WITHOUT = "leaves rows without {} out of the list"
NO_KNOWN_VALUE_FITS = "finds nothing: no value that {} has meets its conditions"
NO_VALUE_FITS = "finds nothing: no value of {} meets its conditions"
NONE_OF_THEM = "reads '{}' as: none of them"
ONE_OF_THEM = "finds what has at least one other, not what has none"
ONE_VALUE_FITS = "leaves one value of {}"
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
JOINS_BY_HALF = "joins {} and {} by {} alone, which is a part of their key"
JOINS_BY_KEY = "joins {} by the foreign key"
JOINS_BY_SHARED = "joins {} by what they refer to or share"
JOINS_UNDECLARED = "joins by {}, which no foreign key declares"
PAIRS_ROWS = "pairs rows of {} with rows of {} by columns that are no key of either"
SHOWS = "shows {}"
SPELLS = "writes {} as the schema does"
TAKES = "takes {}"

# Values and periods.
AS_DAY = "{} as a day, {}"
AS_NUMBER = "{} as a number"
AS_NUMBERS = "reads the texts of {} as numbers"
AS_TEXT = "{} as a text"
COVERS = "covers {}, but {} is {}"
COMPARES_ITSELF = "compares {} with itself"
FIRST_MOMENT = "finds only the first moment of {}"
FOR_MEMBER = "looks for an element of {}"
IN_ANY_CASE = "'{}' in any case"
IN_RANGE = "looks within the range {}"
LOOKS_FOR = "looks for {}"
NOTHING_OF = "the data holds nothing {}; the newest is of {}"
ONE_DAY = "reads {} as a single day"
PLACED = "'{}' in {}.{}"
READS = "reads {}"
READS_AS = "{} as {}"
READS_OTHER = "reads {}, not {}"
REFERRED = "looks for '{}' in {}.{}, which {} refers to"
SAYS_NOTHING = "says nothing about {}"
SUBTRACTS_ITSELF = "subtracts {} from itself"
VALUE_AS = "'{}' as '{}'"

# Beside the other statements of an answer.
ASSUMES = "assuming {}"
DOUBTED = "not sure: {}"
DOUBTED_WHOLE = "probably not what you ask"
NOT_SHOWN = "not shown: \u201c{}\u201d, because {}"
NOT_ANSWERED = "not answered: {}"
NOTHING_MORE = "asked once more: nothing else is meant"
NOTHING_MEANS = "nothing here is about '{}'"
COULD_BE = "{}; could be {}"
DOUBTFUL = "doubtful: {}"
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
OF_CORRECTION = "made of {} correction of \u201c{}\u201d"
OUT_OF_TIME = "out of time: {} candidate{} so far"
OWN_WORDS = "{} Something else: say it in your own words."
READ_AS = "Read as: \u201c{}\u201d. {}"
VERIFIED = "verified as the answer to this question"
HIDDEN_FROM_MODEL = "hidden from the model: {}"

# Why there is no statement. A help is a sentence behind it, without its full stop.
ONLY_READS = "NL only reads: nothing was changed"
USE_SQL = "To change data, write SQL without NL: in front"
IS_SQL = "This is SQL already"
WITHOUT_NL = "Send it without NL: in front"
NO_QUESTION = "This is not a question about data"
SAY_WHAT = "Say what you want to see, for example NL: how many rows has each table?"
UNTRANSLATED = "The question seems to be in {}, and its translation lost a part of it"
IN_ENGLISH = "Ask in English"
NOTHING_NEAR = "No database that you may read seems to hold this"
NOTHING_NEAR_IN = "Nothing in {} seems to hold this"
USE_NAMES = "Use names of its tables and columns, or name the database with NL (db …)"
REGISTER_IT = "A DBA can register the database that holds it: pgparley catalog add"
FITS_BETTER = "Database {} seems to fit better: ask it with {} …"
ONLY_IN = "\u201c{}\u201d is only in {}"
TWO_DATABASES = "{}, and a statement reads one database"
ASK_EACH = "Ask about each separately"
FOREIGN_TABLES = (
    "A DBA can make the tables of one foreign tables of the other: CREATE FOREIGN TABLE (postgres_fdw)"
)
NOT_ABOUT = "Nothing in {} is about {}"
NOT_ABOUT_BUT = "The closest statement shows {}: nothing in {} is about {}"
NO_ROW_HOLDS = ", and no row of {} holds it"
NOT_SEARCHED = "; {} text column{} not searched"
CLOSEST = "; closest: {}"
IN_ITS_WORDS = "Say it in words of the tables, or name a column"
WHAT_IS_HELD = "Ask about what the tables hold"
SYNONYM = "If that holds it, a DBA can say so: {}"
ABSENT = "{} {} not occur"
AS_STORED = "Write values as they are stored"
ALLOW_VALUES = "A DBA can let stored values be found: SELECT nl_catalog.allow_values('{}')"
NONE_FITS = "No statement answers this well"
CLOSEST_SHOWS = "; the closest shows {}"
AND_SAYS_NOTHING = " and says nothing about {}"
NAME_IT = "Name the table or column that you mean, or ask for less"
NAME_IT_NEAR = "Name the table or column that you mean (closest: {}), or ask for less"
WHICH_HOLD_IT = (
    "A DBA could say which columns hold it: SELECT nl_catalog.add_synonym('database.table.column', '…')"
)
OTHER_PART = "Ask about what the tables hold, or say in other words which of it you mean"
NO_MORE = "Nothing new passed all checks: the model gave nothing else, or the same rows as before"
NONE_STOOD = "No statement passed all checks"
OTHER_WORDS = "Ask in other words"

# Errors of what was sent.
EMPTY_QUESTION = Told("the question is empty", hint="NL: how many … ?")
LONG_QUESTION = Told(
    "the question is too long", "It has {characters} characters of at most {most}.", "Ask in fewer words."
)
NO_ROW = Told("question {qid} has no row {n}", "It has {rows}.", "NL SHOW OF '{qid}' shows them.")
NO_STATEMENT = Told("row {n} of {qid} is no statement", hint="Ask again in other words, or NL HELP.")
UNKNOWN_QUESTION = Told(
    'no question "{qid}"',
    "It expired, or was never yours.",
    "The qid stands in every row of an answer; NL HISTORY lists yours. Ask again to get a new one.",
)
WAITS = Told(
    "question {qid} waits for an answer",
    "Its rows are options of a question back, not statements.",
    "NL ANSWER n OF '{qid}'",
)
HAS_NO_ANSWER = Told(
    "question {qid} has no answer",
    "{why}",
    "Ask in other words, or say what is right: NL CORRECT $$sql$$ OF '{qid}'.",
)
NOTHING_ASKED_BACK = Told(
    "the question waits for no answer",
    hint="NL SHOW shows its rows; NL CHOOSE n runs one, NL NONE rejects them all.",
)
NO_OPTION = Told("option {n} does not exist", "{options}", "{answers}")
EMPTY_ANSWER = Told("the answer is empty", "{options}", "{answers}")
ANSWER_WITH = "Answer with a number from 1 to {}, or with a text of your own between $$ and $$."
ANSWER_ASKS = Told(
    "the answer is a question of its own",
    "It shares no word with the question that it answers: {asked}",
    "Ask it with NL: before it, or answer with the number of an option.",
)
STALE = Told(
    "the question can no longer be answered",
    "The catalog, or what you may read, has changed since it was asked.",
    "Ask it again with NL: and the same words.",
)
EXPENSIVE = Told(
    "the statement is expensive, and was not run",
    "The planner puts its cost at {cost:,.0f}; up to {most:,.0f} runs without being asked again.",
    "{way}; NL PLAN {n} OF '{qid}' shows the plan.",
)
RUN_ANYWAY = "NL CHOOSE {n} OF '{qid}' ANYWAY runs it"
ASK_FOR_LESS = "Ask for less"
CORRECTION_NOWHERE = Told(
    "it is not clear for which database the correction is",
    hint="SET nl.db to one that you may ask, and correct again.",
)
CORRECTION_REFUSED = Told("the correction is refused", "{why}", "It must be one query that reads.")
CORRECTION_LATE = Told("the correction ran out of time", "{why}", "Raise nl.timeout.")
CORRECTION_FAILS = Told("the correction would not run", "{why}", "Correct the statement, and send it again.")

# Errors of rights and limits.
NONE_REGISTERED = Told(
    "no database is registered", hint="An administrator registers one with: pgparley catalog add"
)
NONE_READABLE = Told(
    "there is no registered database that you may read",
    hint="An administrator can grant SELECT to {user}.",
)
NOT_AMONG = Told('database "{name}" is not among those you may ask', hint="You may ask: {names}.")
DATABASE_GONE = Told('database "{name}" is no longer registered', hint="Ask again: the catalog has changed.")
NO_LOGIN = Told(
    'you cannot be logged in to database "{name}"',
    "It is not the database of your session, and no login there is set for {user}.",
    "Ask the DBA for: pgparley catalog login {quoted} {user}",
)
MASKED = Told(
    "the statement may read what is masked: {why}",
    hint="Ask without it; count(*) counts its rows. Plain SQL goes by your privileges.",
)
MAY_NOT_ASK = Told(
    "you may not ask questions",
    "{limit}",
    "An nl_admin says who may ask: nl_catalog.{function}(). Plain SQL is not affected.",
)
QUOTA_USED = Told(
    "you have asked as many questions as you may in an {period}",
    "{limit}",
    "Ask again at {when}, or ask an nl_admin for more: nl_catalog.set_quota().",
)
BUDGET_USED = Told(
    "your questions have {done} as much as they may in a {period}",
    "{limit}",
    "It begins anew at {when}; or ask an nl_admin for more: nl_catalog.set_budget().",
)
NO_TURN = Told(
    "the question would wait longer than it may take",
    "The engine answers {places} at a time, and {waiting} wait; a further one of yours would begin in about {wait}"
    " seconds.",
    "Ask again later, or raise nl.timeout. Operators: raise [limits] concurrent, or run another engine.",
)
STILL_RUN = Told(
    "{count} earlier statements of yours still run on {name}",
    "The server has not stopped them at their deadline.",
    "Ask again when they have ended; an administrator can end them by pg_terminate_backend.",
)

# Errors of time, and of what does not answer.
OUT_OF_BUDGET = Told("the question ran out of time", hint="Raise nl.timeout or ask for fewer rows with k.")
LATE_ROUTE = Told("the question ran out of time while looking for a database", hint="Raise nl.timeout.")
MODEL_LATE = Told(
    "the language model did not answer in time",
    hint="Raise nl.timeout, or name a faster model in [model].",
)
MODEL_IS_LOCAL_NOT = Told(
    "no model may be asked about this database",
    "It is local, and {to} is not.",
    "Operators: the embedded model may be asked, and a service with local = true in [model].",
)
MODEL_FAILED = Told(
    "the language model is not available",
    "{address} has failed {times} times in a row since {since:%Y-%m-%d %H:%M:%S} UTC, at last with: {last}",
    "{again} Operators: see that the model server runs, then pgparley check model.",
)
CATALOG_AWAY = Told(
    "the schema catalog does not answer", hint="An administrator should check the store's connection."
)
STORE_AWAY = Told("the engine's store does not answer", hint="An administrator should check its connection.")
STORE_TROUBLE = Told(
    "the engine's store does not answer as it should",
    "{kind}.",
    "An administrator should see that the store's server runs, and has room on its disk.",
)
ENGINE_FAILED = Told(
    "the engine failed on this question",
    "{kind}",
    "The engine's log says where; plain SQL is not affected.",
)
