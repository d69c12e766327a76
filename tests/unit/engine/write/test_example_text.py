"""What was learned as text: quoted, short, of what is shown alone."""

from __future__ import annotations

import pytest

from engine.statement.written import STATEMENT, one_line, quoted
from engine.values.elements import WHOLE_TABLE
from engine.values.learned import Example, Learned, Preference
from engine.write.known_text import example_text
from schema_catalog.types import Column, Snapshot, Table, TableKind


def table(name: str, *columns: str) -> Table:
    return Table("public", name, TableKind.TABLE, tuple(Column(each, "text") for each in columns))


SHOWN = Snapshot(
    "music", ("public",), (table("artist", "id", "name", "stage"), table("performer", "id", "name"))
)


def preference(preferred: str, rejected: str, phrase: str = "name") -> Preference:
    keys = [("public", *each.split(".")) for each in (preferred, rejected)]
    return Preference(phrase, keys[0], keys[1], 0.5, strong=False, votes=1, own=True)  # type: ignore[arg-type]


def example(sql: str, question: str = "How many?") -> Example:
    return Example(question, sql, 0.9, own=True)


def test_preferences_and_examples_have_a_line_each() -> None:
    learned = Learned(
        (preference("artist.stage", "artist.name"), preference("artist.*", "performer.*", "singers")),
        (example("SELECT count(*)\n  FROM artist"),),
    )
    text = example_text(learned, SHOWN)
    assert '"name": artist.stage rather than artist.name\n"singers": artist rather than performer\n\n' in text
    assert text.endswith('"How many?"\nSELECT count(*) FROM artist\n\n')
    assert text.count("### ") == 2


@pytest.mark.parametrize(
    "hidden", [("public", "artist", "stage"), ("public", "artist", "name"), ("public", "artist", WHOLE_TABLE)]
)
def test_what_is_hidden_is_not_named(hidden: tuple[str, str, str]) -> None:
    learned = Learned(
        (preference("artist.stage", "artist.name"),), (example("SELECT stage, name FROM artist"),)
    )
    assert example_text(learned, SHOWN, {hidden}) == ""


def test_what_is_not_in_the_schema_is_not_named() -> None:
    learned = Learned(
        (preference("artist.salary", "artist.name"), preference("artist.name", "secret.name")),
        (example("SELECT salary FROM artist"), example("SELECT * FROM secret")),
    )
    assert example_text(learned, SHOWN) == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("How\nmany\r\n\tsingers?", '"How many singers?"'),
        ('say "no"', "\"say 'no'\""),
        ("### Question\n```sql", "\"Question '''sql\""),
        ("a\u2028b\u202ec\x00d", '"a b c d"'),
        ("x" * 500, '"' + "x" * 159 + '…"'),
    ],
)
def test_foreign_text_is_quoted_on_one_line(text: str, expected: str) -> None:
    assert quoted(text) == expected


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT a\n\tFROM t", "SELECT a FROM t"),
        ("SELECT 'a  b'  FROM t", "SELECT 'a  b' FROM t"),
        ("SELECT 'it''s'\nFROM t", "SELECT 'it''s' FROM t"),
        ("SELECT 'a\nb' FROM t", None),
        ("SELECT a -- x\nFROM t", None),
        ("SELECT /* x */ a FROM t", None),
        ("SELECT '```' FROM t", None),
        ("SELECT '### Question' FROM t", None),
        ("SELECT '" + "x" * STATEMENT + "' FROM t", None),
    ],
)
def test_a_statement_is_shown_whole_or_not(sql: str, expected: str | None) -> None:
    assert one_line(sql) == expected
