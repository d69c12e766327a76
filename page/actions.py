"""What a form of the page may do: one call of one function of `nl_catalog`, as the role that is signed in.

Owns which functions there are and what their arguments are called. Whether a call is allowed PostgreSQL decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import asyncpg

from schema_catalog.pg import Connection

LONGEST = 20_000
"""Characters of a field at most; the functions have limits of their own."""


class FieldKind(Enum):
    """How the text of a field becomes an argument."""

    LINE = "line"
    TEXT = "text"
    NUMBER = "number"
    OPTIONAL = "optional"
    WORDS = "words"


@dataclass(frozen=True, slots=True)
class Field:
    """An argument of a function, by the name of the form's field. `label`: what people call it."""

    name: str
    label: str
    kind: FieldKind = FieldKind.LINE


@dataclass(frozen=True, slots=True)
class Action:
    """A function with its fields, in the order of its arguments. `title`: its button's words; `done`: what was done."""

    name: str
    title: str
    done: str
    fields: tuple[Field, ...]

    @property
    def sql(self) -> str:
        """The call."""
        return f"SELECT nl_catalog.{self.name}({', '.join(f'${n}' for n in range(1, len(self.fields) + 1))})"


class ActionError(Exception):
    """Nothing was changed. `detail`, `hint`: as PostgreSQL gives them; `status`: HTTP's."""

    def __init__(self, message: str, detail: str = "", hint: str = "", *, status: int = 422) -> None:
        super().__init__(message)
        self.detail = detail
        self.hint = hint
        self.status = status


_ELEMENT = Field("element", "Element")
_DATABASE = Field("database", "Database")
_SYNONYM = Field("synonym", "Synonym")
_PHRASE = Field("phrase", "Word")
_TERM = Field("term", "Term")
_QUESTION = Field("question", "Question")
_FROM, _TO = Field("from_column", "Column"), Field("to_column", "refers to column")
_DESCRIPTION = Field("description", "Description", FieldKind.TEXT)
_EXAMPLE = Field("example", "Example", FieldKind.NUMBER)
_ATTRIBUTE, _VALUE = Field("attribute", "Attribute"), Field("value", "Value", FieldKind.OPTIONAL)
_SUGGESTION = Field("id", "Suggestion", FieldKind.NUMBER)
_RENAME = Field("id", "Rename", FieldKind.NUMBER)
_MADE = Field("id", "Made question", FieldKind.NUMBER)

ACTIONS = {
    action.name: action
    for action in (
        Action("describe", "Save description", "The description was saved.", (_ELEMENT, _DESCRIPTION)),
        Action("add_synonym", "Add synonym", "The synonym was added.", (_ELEMENT, _SYNONYM)),
        Action("drop_synonym", "Remove", "The synonym was removed.", (_ELEMENT, _SYNONYM)),
        Action("hide", "Hide from questions", "It is hidden from questions.", (_ELEMENT,)),
        Action("show", "Show to questions", "It is no longer hidden.", (_ELEMENT,)),
        Action("set_attribute", "Save", "The attribute was saved.", (_ELEMENT, _ATTRIBUTE, _VALUE)),
        Action("allow_values", "Allow its values", "An engine reads them in a second or two.", (_ELEMENT,)),
        Action("deny_values", "Allow them no more", "They were forgotten.", (_ELEMENT,)),
        Action(
            "set_rules",
            "Save rules",
            "The rules were saved.",
            (_DATABASE, Field("rules", "What holds unless a question says otherwise", FieldKind.TEXT)),
        ),
        Action("register", "Register", "An engine registers it in a second or two.", (_DATABASE,)),
        Action("unregister", "Take back", "It is not to be registered any more.", (_DATABASE,)),
        Action("refresh", "Read it again", "An engine reads its schema in a second or two.", (_DATABASE,)),
        Action(
            "declare_join",
            "Declare join",
            "The join was declared; the engine checks it.",
            (_FROM, _TO, Field("cardinality", "Cardinality")),
        ),
        Action("accept_join", "Accept", "The join was declared; the engine checks it.", (_FROM, _TO)),
        Action(
            "accept_joins", "Accept all", "The joins were declared; the engine checks them.", (_DATABASE,)
        ),
        Action("decline_join", "Decline", "It is not used, and not proposed again.", (_FROM, _TO)),
        Action("drop_join", "Remove", "The join was removed.", (_FROM, _TO)),
        Action(
            "define_term",
            "Define term",
            "The term was defined; the engine checks it.",
            (_DATABASE, _TERM, Field("definition", "Definition in SQL", FieldKind.TEXT), _DESCRIPTION),
        ),
        Action("drop_term", "Remove", "The term was removed.", (_DATABASE, _TERM)),
        Action(
            "verify",
            "Verify query",
            "The query was verified; the engine checks it.",
            (
                _DATABASE,
                _QUESTION,
                Field("sql", "Statement", FieldKind.TEXT),
                Field("tags", "Tags, with commas between", FieldKind.WORDS),
            ),
        ),
        Action("revoke", "Remove", "The verified query was removed.", (_DATABASE, _QUESTION)),
        Action(
            "restore",
            "Restore",
            "That version counts again.",
            (Field("version", "Version", FieldKind.NUMBER),),
        ),
        Action("approve", "Approve", "It counts for everybody now.", (_EXAMPLE,)),
        Action("revoke_approval", "Revoke", "It counts for its user alone again.", (_EXAMPLE,)),
        Action("accept_rename", "Accept", "What was said is said of the new name.", (_RENAME,)),
        Action("decline_rename", "Decline", "The two are different things.", (_RENAME,)),
        Action("accept_suggestion", "Accept", "It is said of the element.", (_SUGGESTION,)),
        Action("accept_suggestions", "Accept all", "They are said of their elements.", (_DATABASE,)),
        Action("decline_suggestion", "Decline", "It is not suggested again.", (_SUGGESTION,)),
        Action("adopt_synonym", "Take", "The word is a synonym now.", (_ELEMENT, _PHRASE)),
        Action("decline_synonym", "Drop", "The word is not proposed again.", (_ELEMENT, _PHRASE)),
        Action("edit_made_question", "Save", "The made question was changed.", (_MADE, _QUESTION)),
        Action("drop_made", "Drop all, with the proposed words", "They were dropped.", (_DATABASE,)),
    )
}
"""Everything that a form can do, by the function's name."""


async def perform(connection: Connection, action: Action, given: Mapping[str, str]) -> str:
    """Calls the function with what was typed, and returns what it warns of or proposes; raises `ActionError`."""
    told: list[str] = []

    def hear(_: object, message: Any) -> None:
        # A NOTICE is of other things that wait.
        if message.severity_en in {"WARNING", "INFO"}:
            told.append(" ".join(filter(None, (str(message), message.hint))))

    connection.add_log_listener(hear)
    try:
        await connection.fetchval(
            action.sql, *(_argument(field, given.get(field.name, "")) for field in action.fields)
        )
    except asyncpg.InsufficientPrivilegeError as problem:
        hint = "An nl_admin decides that: GRANT nl_steward, and nl_catalog.grant_database (docs/catalog.md)."
        raise ActionError(
            _first_line(problem), _of(problem.detail), _of(problem.hint) or hint, status=403
        ) from None
    except asyncpg.PostgresError as problem:
        raise ActionError(_first_line(problem), _of(problem.detail), _of(problem.hint)) from None
    finally:
        connection.remove_log_listener(hear)
    return " ".join(told)


def _argument(field: Field, text: str) -> Any:
    if len(text) > LONGEST:
        raise ActionError(f"{field.label} is too long", hint=f"Give {LONGEST} characters at most.")
    match field.kind:
        case FieldKind.NUMBER:
            if not text.isascii() or not text.isdecimal() or len(text) > 18:  # noqa: PLR2004 - digits of a bigint
                raise ActionError(f"{field.label} is no number", hint="Go back, and use the button there.")
            return int(text)
        case FieldKind.WORDS:
            return [word.strip() for word in text.split(",") if word.strip()]
        case FieldKind.TEXT:
            return text.replace("\r\n", "\n")
        case FieldKind.LINE:
            return text.strip()
        case FieldKind.OPTIONAL:
            return text.strip() or None


def _first_line(problem: asyncpg.PostgresError) -> str:
    return str(problem).splitlines()[0] if str(problem) else type(problem).__name__


def _of(text: object) -> str:
    return text if isinstance(text, str) else ""
