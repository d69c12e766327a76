"""Connection strings in both notations, and without their secrets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.conninfo import conninfo_to_dict

from schema_catalog.dsn import DSNError, as_uri, dbname_of, redacted, with_dbname


def understood(uri: str) -> dict[str, str]:
    """How libpq reads `uri`."""
    return {key: str(value) for key, value in conninfo_to_dict(uri).items()}


def test_keyword_strings_become_uris_that_the_driver_reads_alike() -> None:
    uri = as_uri(r"host=db.example port=5433 user=ann password='it\'s / a@b' dbname='my db'")
    assert understood(uri) == {
        "host": "db.example",
        "port": "5433",
        "user": "ann",
        "password": "it's / a@b",
        "dbname": "my db",
    }


def test_sockets() -> None:
    uri = as_uri("host=/run/pg port=5433 user=u dbname=d")
    assert understood(uri) == {"host": "/run/pg", "port": "5433", "user": "u", "dbname": "d"}


@pytest.mark.parametrize("bad", ["sales", "host=a b", "mysql://u@h/d", "password='open", "=x"])
def test_what_is_no_connection_string_is_refused_without_repeating_it(bad: str) -> None:
    with pytest.raises(DSNError) as caught:
        as_uri(bad)
    assert bad not in str(caught.value)


@given(
    password=st.text(st.characters(blacklist_categories=("Cs", "Cc"))).filter(lambda text: len(text) > 5),
    dbname=st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1),
)
def test_any_password_survives_and_is_never_shown(password: str, dbname: str) -> None:
    def quoted(text: str) -> str:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    uri = as_uri(f"host=h port=1 user=u password={quoted(password)} dbname={quoted(dbname)}")
    assert understood(uri)["password"] == password
    assert dbname_of(uri) == dbname
    shown = redacted(with_dbname(uri, "other"))
    assert shown == "postgresql://u:***@/other?host=h&port=1"


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("postgresql://ann:secret@h:5/d?sslmode=require", "postgresql://ann:***@h:5/d?sslmode=require"),
        ("postgresql:///d?user=ann&password=secret", "postgresql:///d?user=ann&password=***"),
        ("postgresql://ann@h/d", "postgresql://ann@h/d"),
        ("postgresql://h", "postgresql://h"),
    ],
)
def test_passwords_are_not_shown(uri: str, shown: str) -> None:
    assert redacted(as_uri(uri)) == shown


def test_another_database_of_the_same_server() -> None:
    assert dbname_of(with_dbname("postgresql://u:p@h:5/a?dbname=b&sslmode=require", "c/d")) == "c/d"
    assert dbname_of("postgresql://h") is None
