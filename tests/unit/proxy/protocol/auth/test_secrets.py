"""Role secrets: the format of `auth_file`, and md5 as PostgreSQL computes it."""

from __future__ import annotations

import pytest

from proxy.protocol.auth.scram import Verifier
from proxy.protocol.auth.secrets import MD5Hash, Password, md5_hash, md5_response, parse_user_list


def test_a_user_list() -> None:
    found = parse_user_list(
        '; comment\n# another\n\n"ana" "secret"\n "b""ob"  "md5' + "0" * 32 + '" more\n"none" ""\n'
        '"s" "SCRAM-SHA-256$4096:c2FsdA==$' + "A" * 43 + "=:" + "A" * 43 + '="\n'
    )
    assert found["ana"] == Password("secret")
    assert found['b"ob'] == MD5Hash("md5" + "0" * 32)
    assert found["none"] is None
    assert isinstance(found["s"], Verifier)


def test_an_unreadable_user_list_names_the_line_and_no_secret_shows() -> None:
    with pytest.raises(ValueError, match="line") as caught:
        parse_user_list('"ana" "x"\nbob hunter2\n')
    assert "line 2" in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert "hunter2" not in repr(Password("hunter2"))
    assert "0000" not in repr(MD5Hash("md5" + "0" * 32))


def test_md5_as_postgresql_computes_it() -> None:
    assert md5_hash("postgres", "secret") == "md553f48b7c4b76a86ce72276c5755f217d"
    assert md5_response("md5" + "0" * 32, b"abcd").startswith("md5")
    assert md5_response("md5" + "0" * 32, b"abcd") != md5_response("md5" + "0" * 32, b"abce")
