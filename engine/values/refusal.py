"""What an asker is told where there is no statement: why, and what would help. Errors are `engine.values.errors`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from engine.question.question import Question
from engine.question.requests import Request
from engine.values.elements import Literal, UnknownPhrase
from schema_catalog.naming import quote_ident
from schema_catalog.types import ColumnKey, TableKey

HELP = "NL HELP"

SHOWN = 3
"""Names of one kind in a sentence at most."""


class RefusalReason(StrEnum):
    """Why there is no statement."""

    ORDER = "order"
    """The text tells to change something."""
    NOT_A_QUESTION = "not a question"
    NOTHING_MATCHES = "nothing matches"
    """No database that the asker may read comes near."""
    NOT_ANSWERABLE = "not answerable"
    """The schema lacks what is asked for."""
    NEEDS_DEFINITION = "needs a definition"
    """Nothing stands for a phrase, or a value that is compared with does not occur."""
    NO_STATEMENT = "no statement"
    """None stood every check."""
    TWO_DATABASES = "two databases"
    """No database holds all that is asked about, and two have a part each."""
    LANGUAGE = "language"
    """The question could not be put into English."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why there is no statement, and what would help.

    `words`: a sentence without its full stop. `helps`: sentences for the asker or a DBA, the best first. `next`: a
    statement that can be pasted. `phrases`: of the question, those by which it failed, where no link has said so.
    """

    reason: RefusalReason
    words: str
    helps: tuple[str, ...] = ()
    next: str = HELP
    phrases: tuple[str, ...] = ()

    @property
    def explanation(self) -> str:
        """The words and the best help, as one or two sentences."""
        return ". ".join((self.words, *self.helps[:1])) + "."


def no_question(kind: Request, text: str, rows: str | None) -> Refusal:
    """The refusal of a text that is no question; `rows`: what an order to delete is about."""
    match kind:
        case Request.ORDER:
            return Refusal(
                RefusalReason.ORDER,
                "NL only reads: nothing was changed",
                ("To change data, write SQL without NL: in front",),
                HELP if rows is None or "$" in rows else f"NL: $$show {rows}$$",
            )
        case Request.STATEMENT:
            return Refusal(
                RefusalReason.NOT_A_QUESTION,
                "This is SQL already",
                ("Send it without NL: in front",),
                text.strip().rstrip(";").rstrip(),
            )
        case Request.GREETING | Request.NO_WORDS:
            return Refusal(
                RefusalReason.NOT_A_QUESTION,
                "This is not a question about data",
                ("Say what you want to see, for example NL: how many rows has each table?",),
            )


def untranslated(language: str) -> Refusal:
    """The refusal of a question that could not be put into English. `language`: its name."""
    return Refusal(
        RefusalReason.LANGUAGE,
        f"The question seems to be in {language}, and its translation lost a part of it",
        ("Ask in English",),
    )


def nothing_near() -> Refusal:
    """The refusal of a question to which no database comes near."""
    return Refusal(
        RefusalReason.NOTHING_MATCHES,
        "No database that you may read seems to hold this",
        (
            "Use names of its tables and columns, or name the database with NL (db …)",
            "A DBA can register the database that holds it: pgparley catalog add",
        ),
    )


def nothing_in(databases: Sequence[str], phrases: Sequence[UnknownPhrase]) -> Refusal:
    """The refusal of a question to which nothing in `databases` comes near; `phrases`: what nothing stands for."""
    if phrases:
        return lacking(phrases, databases, partly=False)
    return Refusal(
        RefusalReason.NOTHING_MATCHES,
        f"Nothing in {spoken(databases, 'or')} seems to hold this",
        nothing_near().helps,
    )


def pointing(refusal: Refusal, database: str, question: Question) -> Refusal:
    """The refusal with another database that seems to fit better, before all else that would help."""
    there = f"NL (db {quote_ident(database)}):"
    said = f"Database {quote_ident(database)} seems to fit better: ask it with {there} …"
    if said in refusal.helps:
        return refusal
    following = refusal.next if "$" in question.text else f"{there} $${question.text}$$"
    return replace(refusal, helps=(said, *refusal.helps), next=following)


def two_databases(parts: Sequence[tuple[Sequence[str], str]]) -> Refusal:
    """The refusal of a question over two databases. `parts`: words of the question with the database that has them."""
    where = [f"\u201c{' '.join(words)}\u201d is only in {database}" for words, database in parts]
    return Refusal(
        RefusalReason.TWO_DATABASES,
        f"{spoken(where, 'and')}, and a statement reads one database",
        (
            "Ask about each separately",
            "A DBA can make the tables of one foreign tables of the other: CREATE FOREIGN TABLE (postgres_fdw)",
        ),
    )


def lacking(
    phrases: Sequence[UnknownPhrase], databases: Sequence[str], *, partly: bool, shown: str = ""
) -> Refusal:
    """The refusal of phrases that nothing stands for, the least known first.

    `partly`: a definition would help. `shown`: what the closest statement shows instead.
    """
    named = spoken([f"\u201c{each.text}\u201d" for each in phrases], "or")
    words = f"Nothing in {spoken(databases, 'or') or 'the schema'} is about {named}"
    words += _looked_at(phrases[0])
    helps = ["Say it in words of the tables" if partly else "Ask about what the tables hold"]
    found = next(((each.text, each.nearest) for each in phrases if each.nearest is not None), None)
    if found is not None:
        text, nearest = found
        words += f"; closest: {_element(nearest)}"
        helps.append(f"If that holds it, a DBA can say so: {_synonym(databases, nearest, text)}")
    words += f"; the closest statement shows {shown}" if shown else ""
    reason = RefusalReason.NEEDS_DEFINITION if partly else RefusalReason.NOT_ANSWERABLE
    return Refusal(reason, words, tuple(helps))


def _looked_at(phrase: UnknownPhrase) -> str:
    """Where a phrase was looked for among the rows, and where it was not."""
    columns = f"text column{'' if phrase.unlooked == 1 else 's'}"
    left = f"; {phrase.unlooked} {columns} not searched" if phrase.unlooked else ""
    if not phrase.looked:
        return left
    named = [_element(each) for each in phrase.looked]
    if len(named) > SHOWN:
        named[SHOWN - 1 :] = [f"{len(named) - SHOWN + 1} others"]
    return f", and no row of {spoken(named, 'or')} holds it{left}"


def undefined(values: Sequence[Literal], database: str) -> Refusal:
    """The refusal of a question whose statements on `database` compare with values that do not occur."""
    column = ".".join(values[0].column)
    return Refusal(
        RefusalReason.NEEDS_DEFINITION,
        absent(values),
        (
            "Write values as they are stored",
            f"A DBA can let stored values be found: SELECT nl_catalog.allow_values('{database}.{column}')",
        ),
        phrases=tuple(each.text for each in values),
    )


def absent(values: Sequence[Literal]) -> str:
    """`region 'Sales_2022' does not occur`, for an explanation; the first of several values are named."""
    named = spoken([f"{each.column[2]} '{each.text}'" for each in values[:SHOWN]], "and")
    return f"{named} {'does' if len(values) == 1 else 'do'} not occur"


def unlikely(tables: Sequence[str], unsaid: Sequence[str] = (), shown: str = "") -> Refusal:
    """The refusal where no statement is likely right.

    `unsaid`: what of the question the closest one passes over; `shown`: what it shows.
    """
    named = spoken([f"\u201c{each}\u201d" for each in unsaid], "and")
    silent = f" and says nothing about {named}" if named else ""
    closest = f"; the closest statement shows {shown}{silent}" if shown else ""
    return Refusal(
        RefusalReason.NOT_ANSWERABLE,
        f"Nothing found answers this well{closest}",
        (
            f"Name the table or column that you mean (closest: {spoken(tables, 'and')}), or ask for less",
            "A DBA could say which columns hold it: SELECT nl_catalog.add_synonym('database.table.column', '…')",
        ),
        phrases=tuple(unsaid),
    )


def model_cannot(why: str) -> Refusal:
    """The refusal by a model that says why there is no reading."""
    helps = ("Ask about what the tables hold, or say in other words which of it you mean",)
    return Refusal(RefusalReason.NOT_ANSWERABLE, why, helps)


def none_stood(tables: Sequence[str], *, more: bool) -> Refusal:
    """The refusal where no statement stood every check. `tables`: those that came near. `more`: others were shown."""
    if more:
        return Refusal(
            RefusalReason.NO_STATEMENT,
            "Nothing new passed all checks: the model gave nothing else, or the same rows as before",
            ("Ask in other words",),
        )
    near = spoken(tables, "and")
    return Refusal(
        RefusalReason.NO_STATEMENT,
        "No statement passed all checks" + (f"; closest: {near}" if near else ""),
        ("Name the table or column that you mean, or ask for less",),
    )


def spoken(names: Sequence[str], last: str) -> str:
    """`a, b or c` of the first `SHOWN` names; empty of none."""
    shown = list(names[:SHOWN])
    return f" {last} ".join(part for part in (", ".join(shown[:-1]), *shown[-1:]) if part)


def table_name(database: str, table: TableKey) -> str:
    """The table as an asker may write it, behind its database."""
    return f"{database}: {quote_ident(table[1])}"


def _element(key: ColumnKey) -> str:
    return quote_ident(key[1]) if key[2] == "*" else f"{quote_ident(key[1])}.{quote_ident(key[2])}"


def _synonym(databases: Sequence[str], key: ColumnKey, phrase: str) -> str:
    """The call that makes `phrase` a word for an element of the first of `databases`."""
    parts = (*databases[:1], *(key if key[2] != "*" else key[:2]))
    element, word = (text.replace("'", "''") for text in (".".join(map(quote_ident, parts)), phrase))
    return f"SELECT nl_catalog.add_synonym('{element}', '{word}')"
