"""Texts that are no question: an order to change data or schema, a greeting, SQL, letters without sense.

Decided by the text's form alone, before any database is looked at. English; other languages are translated first,
greetings apart.
"""

from __future__ import annotations

import re
from enum import StrEnum

import pglast
from pglast import ast

from engine.question.tokens import SPOKEN


class Request(StrEnum):
    """What a text is that is no question."""

    ORDER = "order"
    GREETING = "greeting"
    STATEMENT = "statement"
    NO_WORDS = "no words"


_REMOVING = frozenset({"cancel", "delete", "drop", "erase", "purge", "remove"})
_DELETING = frozenset({"delete", "erase", "insert", "overwrite", "purge", "truncate", "wipe"})
"""Verbs that open an order with almost every object."""

_CHANGING = frozenset(
    """
    add alter archive assign cancel change clear create deactivate decrease drop edit enrol enroll fire grant
    hire increase lower mark merge modify move promote raise reduce register remove rename replace reset
    restore revoke set swap transfer undo update
    """.split()  # noqa: SIM905  a list of quoted words is no easier to read
)
"""Verbs that open an order where their object does: "update the price", and not "update times"."""

_TARGETED = frozenset(
    "assign change decrease increase lower mark merge move raise reduce set swap transfer".split()  # noqa: SIM905  as above
)
"""Those of them that need a target or an amount: "raise the salaries by 10 %"."""

_DETERMINERS = frozenset(
    """
    a all an another any both each every everybody everyone everything her him his it its my new old one our some
    that the their them these this those three two your
    """.split()  # noqa: SIM905  as above
)
"""Words that open an object."""

_RELATING = frozenset(
    "after before called for from in into named of older on that where which who whose with".split()  # noqa: SIM905  as above
)

_TARGET = re.compile(r"\b(?:to|by|as|into|with|called|named)\b|=", re.IGNORECASE)

_POLITE = re.compile(
    r"""(?:(?:hi|hello|hey|please|pls|kindly|now|then|ok|okay|so|just|also|go\ ahead\ and|let['\u2019]?s|let\ us
      |(?:i|we)\ (?:want|need|would\ like)\ (?:you\ )?to|(?:i|we)['\u2019]d\ like\ (?:you\ )?to
      |(?:can|could|will|would)\ (?:you|we|i)|you\ (?:must|should|have\ to|need\ to))\b[\s,!.:]*)*""",
    re.VERBOSE | re.IGNORECASE,
)

_RESULT = re.compile(
    r"""(?:(?:a|an|the|me|my|our|one|new|some)\ +)*(?:[\w-]+\ +){0,2}?
    (?:list|report|ranking|summary|overview|breakdown|chart|graph|histogram|plot|query
      |tables?\ +(?:of|with|that|showing|listing|which))s?\b""",
    re.VERBOSE | re.IGNORECASE,
)
"""Objects that mean the answer of a question: "create a list of all orders"."""

_ASKING = re.compile(
    r"""(?:[.;!?,]|\b(?:and|then))\s*(?:and\s+|then\s+)?
    (?:list|show|display|give|find|count|return|tell|report|compute|calculate|how\s+(?:many|much)|what|which)\b""",
    re.VERBOSE | re.IGNORECASE,
)
"""A later clause that asks: "drop the nulls and show the average"."""

_PASSIVE = re.compile(
    r"""(?:the|all|every|each|these|those|our|my)\b[^?]*\b
    (?:must|should|shall|needs?\ to|ha(?:s|ve)\ to)\ be\ (?:now\ )?
    (?:deleted|removed|dropped|erased|purged|truncated|updated|changed|renamed|added|inserted|set|replaced)\b[^?]*""",
    re.VERBOSE | re.IGNORECASE,
)

_GREETING = re.compile(
    r"""(?:\W*\b(?:hello|hi|hey|good\ (?:morning|afternoon|evening|day|night)|greetings|thanks?(?:\ you)?|thx|ty|bye
      |good\s?bye|cheers|ok|okay|yes|no|nope|cool|great|nice|well\ done|sorry|please|help(?:\ me)?|there|everybody
      |(?:so|very)\ much|a\ lot|how\ are\ you(?:\ doing)?(?:\ today)?|what['\u2019]?s\ up|(?:who|what)\ are\ you
      |what\ can\ you\ do|how\ do(?:es)?\ (?:this|you)\ work
      |hallo|guten\ (?:tag|morgen|abend)|danke(?:\ schön)?|bonjour|salut|merci(?:\ beaucoup)?|hola|(?:muchas\ )?gracias
      |ciao|grazie|olá|obrigad[oa]|привет|спасибо|你好|谢谢|こんにちは|ありがとう)\b)+\W*""",
    re.VERBOSE | re.IGNORECASE,
)

_MASHED = re.compile(
    r"(?:(?:asdf|sdfg|dfgh|fghj|ghjk|hjkl|jkl;|fdsa|qwer|qwert|zxcv|yxcv)[a-z;]{0,3}\W*)+|(\w)\1{3,}\W*",
    re.IGNORECASE,
)
"""Rows of neighbouring keys, or of one letter."""


_OPENS_SQL = re.compile(
    r"\s*(?:select|with|insert|update|delete|merge|create|alter|drop|truncate|grant|revoke|explain|values|copy|table|call"
    r"|set|begin|commit|rollback|vacuum|analyze|do)\b",
    re.IGNORECASE,
)
_SQL_MARKS = re.compile(r"[*=<>;(]|\b[a-z_]\w*\.\w|(?-i:\bSELECT\b.*\bFROM\b)", re.DOTALL | re.IGNORECASE)
"""Signs of SQL: without one, "select all names from people" is a question that parses."""

_HARMLESS = (ast.SelectStmt, ast.ExplainStmt, ast.VariableShowStmt, ast.VariableSetStmt, ast.TransactionStmt)


def request_kind(text: str) -> Request | None:
    """What `text` is where it is no question; None for a question. Parses what opens as SQL does."""
    if not SPOKEN.search(text):
        return Request.NO_WORDS
    if _GREETING.fullmatch(text):
        return Request.GREETING
    if (found := _sql_kind(text)) is not None:
        return found
    if _is_order(text):
        return Request.ORDER
    return Request.NO_WORDS if _MASHED.fullmatch(text.strip()) else None


def rows_of_order(text: str) -> str | None:
    """What an order to delete is about: "all orders" of "please delete all orders!"; None for any other order."""
    verb, _, rest = _without_courtesy(text).partition(" ")
    rest = rest.strip().rstrip(".!?;").rstrip()
    removes = verb.lower() in _REMOVING and request_kind(text) is Request.ORDER and _sql_kind(text) is None
    return rest if removes else None


def _is_order(text: str) -> bool:
    """Whether a sentence opens with a verb of changing and its object, or says that data must be changed."""
    body = _without_courtesy(text)
    verb, _, rest = body.partition(" ")
    rest = rest.strip()
    words = [word.lower() for word in SPOKEN.findall(rest)]
    if _PASSIVE.fullmatch(body):
        return True
    if not words or _ASKING.search(rest):
        return False
    verb, opens = verb.lower(), _opens_object(words[0], rest)
    if verb in _DELETING:
        numbered = any(word.isdigit() for word in words)
        return opens or numbered or len(words) == 1 or not _RELATING.isdisjoint(words)
    if verb not in _CHANGING or not opens or _RESULT.match(rest):
        return False
    return verb not in _TARGETED or bool(_TARGET.search(rest))


def _without_courtesy(text: str) -> str:
    """The text behind "please", "can you" and their like."""
    return _POLITE.sub("", text.strip(), count=1)


def _opens_object(word: str, rest: str) -> bool:
    """Whether `rest`, of which `word` is the first, begins as an object does: a determiner, number, name, literal."""
    first = rest.split(maxsplit=1)[0]
    named = first[0] in "'\"\u201c" or "_" in first or word.endswith(("'s", "\u2019s"))
    return named or word in _DETERMINERS or word.isdigit()


def _sql_kind(text: str) -> Request | None:
    """STATEMENT for SQL that reads, ORDER for SQL that changes something; None for anything else."""
    if not _OPENS_SQL.match(text):
        return None
    try:
        statements = [raw.stmt for raw in pglast.parse_sql(text)]
    except pglast.parser.ParseError:
        return None
    if all(isinstance(each, ast.SelectStmt) for each in statements):
        return Request.STATEMENT if _SQL_MARKS.search(text) else None
    harmless = all(isinstance(each, _HARMLESS) for each in statements)
    return Request.STATEMENT if harmless else Request.ORDER
