"""Connection strings in both notations, and without their secrets."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.conninfo import conninfo_to_dict

from schema_catalog.dsn import (
    DSNError,
    as_uri,
    dbname_of,
    only_named,
    password_of,
    redacted,
    user_of,
    with_dbname,
    with_user,
    without_login,
)


def understood(uri: str) -> dict[str, str]:
    """How libpq reads `uri`."""
    return {key: str(value) for key, value in conninfo_to_dict(uri).items()}


@pytest.mark.parametrize(
    ("written", "parts", "dbname"),
    [
        (
            r"host=db.example port=5433 user=ann password='it\'s / a@b' dbname='my db'",
            {
                "host": "db.example",
                "port": "5433",
                "user": "ann",
                "password": "it's / a@b",
                "dbname": "my db",
            },
            "my db",
        ),
        (
            "host=/run/pg port=5433 user=u dbname=d",
            {"host": "/run/pg", "port": "5433", "user": "u", "dbname": "d"},
            "d",
        ),
        # Without a database the server chooses.
        ("service=erp", {"service": "erp"}, None),
        ("host=h user=u", {"host": "h", "user": "u"}, None),
        ("postgresql://h", {"host": "h"}, None),
    ],
)
def test_strings_become_uris_that_the_driver_reads_alike(
    written: str, parts: dict[str, str], dbname: str | None
) -> None:
    assert (understood(as_uri(written)), dbname_of(as_uri(written))) == (parts, dbname)
    assert dbname_of(with_dbname("postgresql://u:p@h:5/a?dbname=b&sslmode=require", "c/d")) == "c/d"


@pytest.mark.parametrize(
    "bad",
    [
        *("sales", "host=a b", "mysql://u@h/d", "password='open", "=x", "postgresql://[h/d"),
        *(f"postgresql://u:s3{mark}cret@h/d" for mark in "/@:?#[%"),
        "postgresql://u:s3%zzcret@h/d",
    ],
)
def test_what_is_no_connection_string_is_refused_without_repeating_it(bad: str) -> None:
    with pytest.raises(DSNError) as caught:
        as_uri(bad)
    assert bad not in str(caught.value)
    assert "cret" not in redacted(bad)


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
        ("postgresql://h/d?passfile=%2Fetc%2Fpgpass", "postgresql://h/d?passfile=/etc/pgpass"),
    ],
)
def test_passwords_are_not_shown(uri: str, shown: str) -> None:
    assert redacted(as_uri(uri)) == shown


@pytest.mark.parametrize(
    ("uri", "user", "password"),
    [
        ("postgresql://ann:secret@h:5/d", "ann", True),
        ("postgresql://ann@h1,h2:6/d", "ann", False),
        ("postgresql:///d?user=ann&password=secret&host=%2Frun", "ann", True),
        ("postgresql://a%40b%2Fc:@h/d", "a@b/c", False),
        ("postgresql://:secret@h/d", None, True),
        ("postgresql://h/d?passfile=%2Fpgpass", None, False),
    ],
)
def test_logins_are_found_taken_out_and_replaced(uri: str, user: str | None, *, password: bool) -> None:
    assert (user_of(uri), bool(password_of(uri))) == (user, password)
    bare = without_login(uri)
    assert (user_of(bare), password_of(bare)) == (None, "")
    rest = {key: value for key, value in understood(uri).items() if key not in {"user", "password"}}
    assert understood(without_login(uri, proofs=True)) == rest
    assert understood(bare) == {key: value for key, value in rest.items() if key != "passfile"}
    other = with_user(uri, 'Bob "B@/:%ü')
    assert user_of(other) == understood(other)["user"] == 'Bob "B@/:%ü'
    assert bool(password_of(other)) == password


_LENT = {"PGPASSWORD": "the store's", "PGPASSFILE": "/kept", "PGSSLCERT": "/kept.crt"}


@pytest.mark.parametrize(
    ("uri", "environment", "password"),
    [
        ("postgresql://u@/d", {}, ""),
        ("postgresql://u@/d?host=/run", _LENT, ""),
        ("postgresql://u@h/d?sslmode=disable", _LENT, ""),
        ("postgresql://u:p@h/d?sslcert=/a", _LENT, None),
        ("postgresql://u@h/d?password=p&sslcert=/a", _LENT, None),
        ("postgresql://u@h/d?passfile=/a", {"PGPASSFILE": "/kept"}, None),
        ("postgresql:///d?service=s", {"PGPASSFILE": "/kept"}, None),
        ("postgresql://u@h/d?passfile=/a", {"PGPASSWORD": "kept"}, DSNError),
        ("postgresql:///d?service=s", {"PGPASSWORD": "kept"}, DSNError),
        ("postgresql://u:p@h/d", {"PGSSLCERT": "/kept.crt"}, DSNError),
        ("postgresql://u:p@h/d?sslmode=verify-full", {"PGSSLCERT": "/kept.crt"}, DSNError),
    ],
)
def test_of_the_environment_nothing_is_lent_but_what_is_named(
    uri: str, environment: dict[str, str], password: str | type[DSNError] | None
) -> None:
    if password is DSNError:
        with pytest.raises(DSNError):
            only_named(uri, environment, None)
    else:
        assert only_named(uri, environment, None) == password


def test_a_certificate_in_the_home_is_not_lent(tmp_path: Path) -> None:
    assert only_named("postgresql://u:p@h/d", {}, tmp_path) is None
    (tmp_path / ".postgresql").mkdir()
    (tmp_path / ".postgresql/postgresql.crt").touch()
    with pytest.raises(DSNError):
        only_named("postgresql://u:p@h/d", {}, tmp_path)
