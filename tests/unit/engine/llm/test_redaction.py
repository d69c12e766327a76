"""What a hosted model is not told: what is found and hidden, and that it comes back in string constants alone."""

from __future__ import annotations

import pytest

from engine.llm.redaction import Redaction, put_back, words
from engine.values.model_settings import Redacted
from engine.values.ports import Prompt
from schema_catalog.types import Column, Snapshot, Table, TableKind

ALL = Redaction(frozenset(Redacted), b"key")
PERSON = Table(
    "public",
    "person",
    TableKind.TABLE,
    (Column("email", "text"), Column("phone", "bigint"), Column("name", "text")),
)
SNAPSHOT = Snapshot("crm", ("public",), (PERSON,))


def found(text: str, redaction: Redaction = ALL, *asked: str) -> dict[str, str]:
    """What is hidden of a prompt, with the kind."""
    told, _, marks = redaction.hidden(Prompt("", text, asked=asked))
    assert all(hidden not in told.user for _, hidden in marks)
    assert told.asked == ()
    return {hidden: mark[1:].partition(" ")[0] for mark, hidden in marks}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("ann@example.org", "email"),
        ("ann.o'neil+x@mail.example.co.uk", "email"),
        ("+43 664 123 45 67", "phone"),
        ("0043664 1234567", "phone"),
        ("0664/123 45 67", "phone"),
        ("(415) 555-0132", "phone"),
        ("415-555-0132", "phone"),
        ("DE89 3704 0044 0532 0130 00", "iban"),
        ("de89370400440532013000", "iban"),
        ("GB82WEST12345698765432", "iban"),
        ("4111 1111 1111 1111", "card"),
        ("378282246310005", "card"),
    ],
)
def test_each_kind_is_found(text: str, kind: str) -> None:
    assert found(f"Which orders has {text} made since March?") == {text: kind}


@pytest.mark.parametrize(
    "text",
    [
        "GB82 WEST 1234 5698 7654 33",
        "4111 1111 1111 1112",
        "2024-01-31 10:00",
        "31.01.2024 - 29.02.2024",
        "0.123456789",
        "numeric(10,2)",
        "between 100000 and 250000",
        "order 1234567",
        "id 12345678901",
        "ann@home",
        "550e8400-e29b-41d4-a716-446655440000",
    ],
)
def test_what_only_looks_so_stays(text: str) -> None:
    assert found(f"Show {text} please") == {}


def test_a_setting_chooses_kinds() -> None:
    mail = Redaction(frozenset({Redacted.EMAIL}), b"key")
    assert found("ann@example.org at +43 664 1234567", mail) == {"ann@example.org": "email"}
    assert found("ann@example.org", Redaction(frozenset(), b"key")) == {}


def test_quoted_texts_are_those_that_the_asker_quoted() -> None:
    asked = "Which orders has \"Ann Sample\" or \u201eBo Example\u201c or 'Cy Other'?"
    text = f"state text ['open', 'paid']\nname = 'Ann Sample'\n{asked}"
    assert found(text, ALL, asked) == dict.fromkeys(("Ann Sample", "Bo Example", "Cy Other"), "quoted")


def test_the_same_telephone_number_written_otherwise_is_hidden_too() -> None:
    text = "phone = 6641234567\nWho has +43 664 123 45 67?"
    assert set(found(text)) == {"+43 664 123 45 67", "6641234567"}


def test_everywhere_in_the_prompt_it_is_the_mark() -> None:
    text = "### Examples\nof o'neil@x.org\nSELECT 1 FROM t WHERE e = 'o''neil@x.org'\n\n### Question\nof o'neil@x.org"
    told, grammar, marks = ALL.hidden(Prompt("", text), "STRING: 'o''neil@x.org'")
    assert "neil" not in told.user + (grammar or "")
    assert {hidden for _, hidden in marks} <= {"o'neil@x.org", "neil@x.org"}


def test_an_error_that_is_cut_short_shows_no_beginning() -> None:
    text = "Who is ann.sample@example.org?\ninvalid input, at `'ann.sample@exam`"
    assert "ann.s" not in ALL.hidden(Prompt("", text))[0].user


def test_a_mark_that_the_asker_typed_is_theirs() -> None:
    (mark, _), *_ = ALL.hidden(Prompt("", "of ann@example.org"))[2]
    told, _, marks = ALL.hidden(Prompt("", f"of ann@example.org and {mark}"))
    assert mark in told.user
    assert mark not in dict(marks)
    sql = f"SELECT name FROM person WHERE name = '{mark}'"
    assert put_back(sql, marks, SNAPSHOT) == sql


def test_a_mark_of_another_engine_is_another() -> None:
    one, other = (
        Redaction(frozenset(Redacted), key).hidden(Prompt("", "of ann@x.org"))[2] for key in (b"a", b"b")
    )
    assert one != other


MARKS = (("\u27e8email 1a\u27e9", "o'n_il@x.org"), ("\u27e8phone 2b\u27e9", "+43 664 1234567"))


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("email = '⟨email 1a⟩'", "email = 'o''n_il@x.org'"),
        ("lower(email) = lower('⟨email 1a⟩')", "lower(email) = lower('o''n_il@x.org')"),
        ("email IN ('⟨email 1a⟩', 'b')", "email IN ('o''n_il@x.org', 'b')"),
        ("email LIKE '%⟨email 1a⟩%'", "email LIKE E'%o''n\\\\_il@x.org%'"),
        ("email ~ '^⟨email 1a⟩'", "email ~ E'^o\\\\''n_il@x\\\\.org'"),
        ("name = '⟨phone 2b⟩'", "name = '+43 664 1234567'"),
        ("phone = '⟨phone 2b⟩'", "phone = '436641234567'"),
        ("phone IN ('⟨phone 2b⟩')", "phone IN ('436641234567')"),
        ("phone = '⟨phone 2b⟩'::bigint", "phone = CAST('436641234567' AS pg_catalog.int8)"),
        ("phone::text = '⟨phone 2b⟩'", "CAST(phone AS text) = '436641234567'"),
        ("name = '⟨email zz⟩'", None),
        ("name = 'x'", None),
        ("phone = '⟨email 1a⟩'", "phone = 'o''n_il@x.org'"),
    ],
)
def test_marks_come_back_in_string_constants(written: str, sent: str | None) -> None:
    sql = f"SELECT name FROM person WHERE {written}"
    expected = sql if sent is None else f"SELECT name FROM person WHERE {sent}"
    assert put_back(sql, MARKS, SNAPSHOT) == expected


@pytest.mark.parametrize(
    "sql",
    [
        'SELECT name AS "⟨email 1a⟩" FROM person',
        'SELECT "⟨email 1a⟩".name FROM person AS "⟨email 1a⟩"',
        "SELECT name FROM person -- ⟨email 1a⟩",
        "SELECT name FROM person WHERE email = ⟨email 1a⟩",
        "SELECT $x$⟨email 1a⟩",
    ],
)
def test_and_nowhere_else(sql: str) -> None:
    assert "n_il" not in put_back(sql, MARKS, SNAPSHOT)


def test_a_text_is_data_however_it_is_written() -> None:
    hostile = (("\u27e8quoted 1\u27e9", "x' OR 1 = 1; DROP TABLE person --\\"),)
    sql = put_back("SELECT name FROM person WHERE name = '⟨quoted 1⟩'", hostile, SNAPSHOT)
    assert sql == "SELECT name FROM person WHERE name = E'x'' OR 1 = 1; DROP TABLE person --\\\\'"


def test_words_for_the_asker_have_the_texts_again() -> None:
    assert words("orders of ⟨email 1a⟩", MARKS) == "orders of o'n_il@x.org"
