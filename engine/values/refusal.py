"""What an asker is told where there is no statement: why, and what would help. Errors are `engine.values.errors`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from engine.question.question import Question
from engine.question.requests import Request
from engine.values import wording
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
        said = ". ".join((self.words, *self.helps[:1]))
        return said if said.endswith("?") else f"{said}."


def no_question(kind: Request, text: str, rows: str | None) -> Refusal:
    """The refusal of a text that is no question; `rows`: what an order to delete is about."""
    match kind:
        case Request.ORDER:
            return Refusal(
                RefusalReason.ORDER,
                wording.ONLY_READS,
                (wording.USE_SQL,),
                HELP if rows is None or "$" in rows else f"NL: $$show {rows}$$",
            )
        case Request.STATEMENT:
            return Refusal(
                RefusalReason.NOT_A_QUESTION,
                wording.IS_SQL,
                (wording.WITHOUT_NL,),
                text.strip().rstrip(";").rstrip(),
            )
        case Request.GREETING | Request.NO_WORDS:
            return Refusal(
                RefusalReason.NOT_A_QUESTION,
                wording.NO_QUESTION,
                (wording.SAY_WHAT,),
            )


def untranslated(language: str) -> Refusal:
    """The refusal of a question that could not be put into English. `language`: its name."""
    return Refusal(RefusalReason.LANGUAGE, wording.UNTRANSLATED.format(language), (wording.IN_ENGLISH,))


def nothing_near() -> Refusal:
    """The refusal of a question to which no database comes near."""
    helps = (wording.USE_NAMES, wording.REGISTER_IT)
    return Refusal(RefusalReason.NOTHING_MATCHES, wording.NOTHING_NEAR, helps)


def nothing_in(databases: Sequence[str], phrases: Sequence[UnknownPhrase]) -> Refusal:
    """The refusal of a question to which nothing in `databases` comes near; `phrases`: what nothing stands for."""
    if phrases:
        return lacking(phrases, databases, partly=False)
    words = wording.NOTHING_NEAR_IN.format(spoken(databases, "or"))
    return Refusal(RefusalReason.NOTHING_MATCHES, words, nothing_near().helps)


def pointing(refusal: Refusal, database: str, question: Question) -> Refusal:
    """The refusal with another database that seems to fit better, before all else that would help."""
    there = f"NL (db {quote_ident(database)}):"
    said = wording.FITS_BETTER.format(quote_ident(database), there)
    if said in refusal.helps:
        return refusal
    following = refusal.next if "$" in question.text else f"{there} $${question.text}$$"
    return replace(refusal, helps=(said, *refusal.helps), next=following)


def two_databases(parts: Sequence[tuple[Sequence[str], str]]) -> Refusal:
    """The refusal of a question over two databases. `parts`: words of the question with the database that has them."""
    where = [wording.ONLY_IN.format(" ".join(words), database) for words, database in parts]
    words = wording.TWO_DATABASES.format(spoken(where, "and"))
    return Refusal(RefusalReason.TWO_DATABASES, words, (wording.ASK_EACH, wording.FOREIGN_TABLES))


def lacking(
    phrases: Sequence[UnknownPhrase], databases: Sequence[str], *, partly: bool, shown: str = ""
) -> Refusal:
    """The refusal of phrases that nothing stands for, the least known first.

    `partly`: a definition would help. `shown`: what the closest statement shows instead.
    """
    named = spoken([f"\u201c{each.text}\u201d" for each in phrases], "or")
    where = spoken(databases, "or") or "the schema"
    about = wording.NOT_ABOUT.format(where, named) + _looked_at(phrases[0])
    words = wording.NOT_ABOUT_BUT.format(shown, where, named) if shown else about
    helps = [wording.IN_ITS_WORDS if partly else wording.WHAT_IS_HELD]
    found = next(((each.text, each.nearest) for each in phrases if each.nearest is not None), None)
    if found is not None:
        text, nearest = found
        words += wording.CLOSEST.format(_element(nearest))
        helps.append(wording.SYNONYM.format(_synonym(databases, nearest, text)))
    reason = RefusalReason.NEEDS_DEFINITION if partly else RefusalReason.NOT_ANSWERABLE
    return Refusal(reason, words, tuple(helps))


def _looked_at(phrase: UnknownPhrase) -> str:
    """Where a phrase was looked for among the rows, and where it was not."""
    more = "" if phrase.unlooked == 1 else "s"
    left = wording.NOT_SEARCHED.format(phrase.unlooked, more) if phrase.unlooked else ""
    if not phrase.looked:
        return left
    named = [_element(each) for each in phrase.looked]
    if len(named) > SHOWN:
        named[SHOWN - 1 :] = [f"{len(named) - SHOWN + 1} others"]
    return wording.NO_ROW_HOLDS.format(spoken(named, "or")) + left


def undefined(values: Sequence[Literal], database: str) -> Refusal:
    """The refusal of a question whose statements on `database` compare with values that do not occur."""
    column = ".".join(values[0].column)
    helps = (wording.AS_STORED, wording.ALLOW_VALUES.format(f"{database}.{column}"))
    phrases = tuple(each.text for each in values)
    return Refusal(RefusalReason.NEEDS_DEFINITION, absent(values), helps, phrases=phrases)


def absent(values: Sequence[Literal]) -> str:
    """`region 'Sales_2022' does not occur`, for an explanation; the first of several values are named."""
    named = spoken([f"{each.column[2]} '{each.text}'" for each in values[:SHOWN]], "and")
    return wording.ABSENT.format(named, "does" if len(values) == 1 else "do")


def unlikely(tables: Sequence[str], unsaid: Sequence[str] = (), shown: str = "") -> Refusal:
    """The refusal where no statement is likely right.

    `unsaid`: what of the question the closest one passes over; `shown`: what it shows.
    """
    named = spoken([f"\u201c{each}\u201d" for each in unsaid], "and")
    silent = wording.AND_SAYS_NOTHING.format(named) if named else ""
    words = wording.NONE_FITS + (wording.CLOSEST_SHOWS.format(shown) + silent if shown else "")
    helps = (wording.NAME_IT_NEAR.format(spoken(tables, "and")), wording.WHICH_HOLD_IT)
    return Refusal(RefusalReason.NOT_ANSWERABLE, words, helps, phrases=tuple(unsaid))


def model_cannot(why: str) -> Refusal:
    """The refusal by a model that says why there is no reading."""
    return Refusal(RefusalReason.NOT_ANSWERABLE, why, (wording.OTHER_PART,))


def none_stood(tables: Sequence[str], *, more: bool) -> Refusal:
    """The refusal where no statement stood every check. `tables`: those that came near. `more`: others were shown."""
    if more:
        return Refusal(RefusalReason.NO_STATEMENT, wording.NO_MORE, (wording.OTHER_WORDS,))
    near = spoken(tables, "and")
    words = wording.NONE_STOOD + (wording.CLOSEST.format(near) if near else "")
    return Refusal(RefusalReason.NO_STATEMENT, words, (wording.NAME_IT,))


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
