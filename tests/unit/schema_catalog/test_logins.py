"""Whose login an asker gets, as pure text."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.conninfo import conninfo_to_dict

from schema_catalog.logins import LoginError, login_for, make_login
from schema_catalog.types import EVERYONE, Database, Login

ROLES = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), min_size=1)

ERP = Database(
    "hr",
    "postgresql://pgparley:hunter2@db2:5433/erp?sslmode=verify-full&sslrootcert=%2Fca.pem",
    "erp",
    ("public",),
)


def understood(uri: str | None) -> dict[str, str]:
    """How libpq reads `uri`."""
    assert uri is not None
    return {key: str(value) for key, value in conninfo_to_dict(uri).items()}


def with_logins(*logins: Login) -> Database:
    return replace(ERP, logins=logins)


def test_nobody_has_a_login_that_no_one_wrote_down() -> None:
    assert login_for(ERP, "ana") is None
    assert login_for(ERP, "pgparley") is None
    assert login_for(with_logins(make_login(ERP, "bob")), "ana") is None
    assert login_for(with_logins(make_login(ERP, "ana")), "Ana") is None


def test_without_a_string_it_is_the_catalog_s_less_its_user_and_password() -> None:
    server = {
        "host": "db2",
        "port": "5433",
        "dbname": "erp",
        "sslmode": "verify-full",
        "sslrootcert": "/ca.pem",
    }
    assert understood(make_login(ERP, EVERYONE).dsn) == server
    assert understood(make_login(ERP, "ana").dsn) == server | {"user": "ana"}


OTHERS = (
    *("postgresql://ana@db2/erp", "postgresql://:hunter2@db2/erp", "postgresql://db2/erp?user=ana"),
    *("postgresql:///erp?host=db2&password=hunter2", "host=db2 user=ana", "host=db2 password=hunter2"),
)


@pytest.mark.parametrize(
    ("asker", "dsn", "said"),
    [
        *((EVERYONE, each, "under their own name") for each in OTHERS),
        ("", None, "name of a role"),
        ("a\0b", None, "name of a role"),
        *(
            ("ana", each, "--dsn")
            for each in ("hunter2", "mysql://u:hunter2@h/d", "postgresql://u:hunter2@[::1/d")
        ),
    ],
)
def test_what_is_no_login_is_refused(asker: str, dsn: str | None, said: str) -> None:
    """Everyone has neither a user nor a password."""
    with pytest.raises(LoginError, match=said) as caught:
        make_login(ERP, asker, dsn)
    assert "hunter2" not in str(caught.value)


def test_the_name_on_the_other_server_may_be_another_and_no_password_is_shown() -> None:
    login = make_login(ERP, "ana", "host=db2 dbname=erp user=ana_ro passfile=/etc/pgparley/pgpass")
    parts = {"host": "db2", "dbname": "erp", "user": "ana_ro", "passfile": "/etc/pgparley/pgpass"}
    assert understood(login_for(with_logins(login), "ana")) == parts
    login = make_login(ERP, "ana", "postgresql://ana:hunter2@db2/erp")
    assert "hunter2" not in f"{login!r} {with_logins(login)!r}"


def test_a_name_goes_before_everyone_and_a_row_written_by_hand_lends_nobody_s_login() -> None:
    database = with_logins(
        make_login(ERP, EVERYONE), make_login(ERP, "ana", "postgresql://ana_ro:pw@db2/erp")
    )
    assert understood(login_for(database, "ana"))["user"] == "ana_ro"
    assert "password" not in understood(login_for(database, "bob"))
    assert understood(login_for(database, "bob"))["user"] == "bob"
    assert understood(login_for(database, EVERYONE))["user"] == EVERYONE, "a role may be called so"
    """The store can be edited past these rules: then too `*` means the asker's own name, without a password."""
    written = with_logins(Login(EVERYONE, "postgresql://boss:hunter2@db2/erp?user=boss&password=hunter2"))
    assert understood(login_for(written, "bob")) == {"user": "bob", "host": "db2", "dbname": "erp"}
    nameless = with_logins(Login("ana", "postgresql://db2/erp"))
    assert understood(login_for(nameless, "ana"))["user"] == "ana"


@given(role=ROLES, other=ROLES)
def test_any_name_survives(role: str, other: str) -> None:
    everyone = with_logins(make_login(ERP, EVERYONE))
    assert understood(login_for(everyone, role))["user"] == role
    assert understood(login_for(everyone, role))["host"] == "db2"
    by_name = replace(ERP, logins=(Login(role, f"{make_login(ERP, other).dsn}"),))
    if EVERYONE not in (role, other):
        assert understood(login_for(by_name, role))["user"] == other


def test_a_login_made_from_the_catalogs_proves_itself_by_nothing_of_it() -> None:
    proofs = "passfile=/a&sslcert=/b&sslkey=/c&sslpassword=d"
    database = replace(ERP, dsn=f"postgresql://catalog:secret@h/erp?sslmode=verify-full&{proofs}")
    assert make_login(database, "ana").dsn == "postgresql://ana@h/erp?sslmode=verify-full"
    assert make_login(database, EVERYONE).dsn == "postgresql://h/erp?sslmode=verify-full"
    # What the operator writes for everybody stays.
    login = make_login(ERP, EVERYONE, f"postgresql://h/erp?{proofs}")
    assert login_for(replace(ERP, logins=(login,)), "ana") == f"postgresql://ana@h/erp?{proofs}".replace(
        "=/", "=%2F"
    )
